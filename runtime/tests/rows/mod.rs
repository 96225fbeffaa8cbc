//! The kernel `blend` with baked rows for several devices, as if from a table.
//!
//! A table in a file would contain hashes of the prelude and become stale whenever the prelude changes. So these rows
//! are created here. The launch function below is the same as the one that the macro generates.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::OnceLock;

use kiln::__private::{
    self as p, BakedRow, ConstDimension, ConstSymbols, ConstValue, Evidence, KernelParts,
    LaunchCall, RowDevice,
};
use kiln::spec::codegen::{Symbol, Target, symbol_hash};
use kiln::spec::source::SourceText;
use kiln::spec::{Backend, Config, ParamValue, Problem};
use kiln::{Buffer, Kernel, LaunchError, Stream};

use crate::kernels::blend;

pub const L4: RowDevice = RowDevice {
    backend: Backend::Cuda,
    arch: "sm_89",
    name: "NVIDIA L4",
};
pub const L40: RowDevice = RowDevice {
    backend: Backend::Cuda,
    arch: "sm_89",
    name: "NVIDIA L40",
};
pub const STRIX_HALO: RowDevice = RowDevice {
    backend: Backend::Hip,
    arch: "gfx1151",
    name: "Radeon 8060S",
};
pub const FAKE: RowDevice = RowDevice {
    backend: Backend::Fake,
    arch: "fake_1",
    name: "Kiln Fake",
};

type Tile = (i64, i64, i64, bool);

/// The rows, each with its device, rows, columns, config and evidence.
const ROWS: [(RowDevice, i64, i64, Tile, Evidence); 7] = [
    (L4, 64, 256, (384, 16, 64, true), Evidence::Proven),
    (L4, 100, 70, (384, 8, 32, true), Evidence::Proven),
    (L40, 100, 70, (64, 8, 64, false), Evidence::Proven),
    (L40, 40, 300, (128, 16, 16, false), Evidence::Proven),
    (STRIX_HALO, 100, 70, (64, 16, 32, true), Evidence::Proven),
    (FAKE, 64, 256, (384, 16, 32, true), Evidence::Proven),
    (FAKE, 100, 70, (384, 8, 64, true), Evidence::Predicted),
];

/// `blend` with the rows [`ROWS`].
pub fn kernel() -> &'static Kernel {
    static KERNEL: OnceLock<Kernel> = OnceLock::new();
    KERNEL.get_or_init(|| Kernel::new(parts(&[])))
}

/// The parts of `blend` with rows. `accepted` is the evidence that may be selected in addition to `proven`.
pub fn parts(accepted: &'static [Evidence]) -> KernelParts {
    let rows: Vec<BakedRow> = ROWS.iter().map(row).collect();
    KernelParts {
        inputs: None,
        rows: rows.leak(),
        accepted,
        launch,
        ..*blend::KERNEL.parts()
    }
}

fn row(
    &(device, rows, columns, tile, evidence): &(RowDevice, i64, i64, Tile, Evidence),
) -> BakedRow {
    let spec = blend::KERNEL.spec();
    let (threads, tile_r, tile_c, staged) = tile;
    let values = [
        ConstValue::Int(threads),
        ConstValue::Int(tile_r),
        ConstValue::Int(tile_c),
        ConstValue::Bool(staged),
    ];
    let config = Config::new(spec.params.iter().zip(values).map(|(param, value)| {
        let value = match value {
            ConstValue::Int(x) => ParamValue::Int(x),
            ConstValue::Bool(x) => ParamValue::Bool(x),
            ConstValue::Choice(x) => ParamValue::Choice(x.into()),
        };
        (param.name.clone(), value)
    }));
    let dims = vec![ConstDimension::Size(rows), ConstDimension::Size(columns)];
    let sizes = [rows, columns].map(kiln::spec::ProblemValue::Size);
    let problem = blend::KERNEL.problem_of(sizes);
    BakedRow {
        device,
        problem: dims.leak(),
        config: values.to_vec().leak(),
        is_baseline: false,
        symbols: symbols(&blend::KERNEL, &config, &problem),
        plan: spec.plan(&config, &problem, None).unwrap(),
        evidence,
        image: None,
    }
}

/// The symbols of a kernel's entry with a config and the element types of a problem.
pub fn symbols(kernel: &Kernel, config: &Config, problem: &Problem) -> ConstSymbols {
    let (spec, source) = (
        kernel.spec(),
        SourceText::from_expanded(kernel.source()).hash(),
    );
    let symbol = |target| -> &'static str {
        let hash = symbol_hash(source, spec, &spec.entry, config, problem, target).unwrap();
        Symbol::release(&spec.entry, hash)
            .as_str()
            .to_owned()
            .leak()
    };
    ConstSymbols {
        cpu: symbol(Target::Cpu),
        cuda: symbol(Target::Cuda),
        hip: symbol(Target::Hip),
    }
}

/// The launch function of [`kernel`].
pub fn blend_with_rows(
    stream: &Stream,
    rows: u32,
    columns: u32,
    input: &Buffer<f32>,
    weight: &Buffer<f32>,
    out: &mut Buffer<f32>,
) -> Result<(), LaunchError> {
    std::thread_local! {
        static MEMO: p::Memo<2, 3, 0> = const { p::Memo::new() };
    }
    let slices = [
        p::DeviceSlice::<f32>::raw(input),
        p::DeviceSlice::<f32>::raw(weight),
        p::DeviceSlice::<f32>::raw(out),
    ];
    p::launch(
        kernel(),
        &MEMO,
        stream,
        [p::size(rows), p::size(columns)],
        &slices,
        [
            p::Arg::scalar(&rows),
            p::Arg::scalar(&columns),
            p::Arg::slice(&slices[0]),
            p::Arg::slice(&slices[1]),
            p::Arg::slice(&slices[2]),
            p::Arg::RECEIPT,
        ],
    )
}

fn launch(call: &mut LaunchCall<'_>) -> Result<(), LaunchError> {
    let stream = call.stream();
    let (rows, columns) = (call.scalar::<u32>(0), call.scalar::<u32>(1));
    let (input, weight) = (call.take::<f32>(2), call.take::<f32>(3));
    let mut out = call.take::<f32>(4);
    let launched = blend_with_rows(stream, rows, columns, &input, &weight, &mut out);
    call.put(2, input);
    call.put(3, weight);
    call.put(4, out);
    launched
}
