//! Tests the text of expansions: some pieces must occur, and others must not.

use std::fs;
use std::path::Path;

use kiln_spec::DeviceKey;
use kiln_spec::baked::{BakedTable, Evidence, Hashes, Image, Index, Row, Speedup};
use kiln_spec::codegen::{Symbol, Target, symbol_hash};
use kiln_spec::parse::ParsedKernel;
use proc_macro2::TokenStream;

use super::expand;
use crate::load::DeclarationSite;

const SOURCE: &str = r#"
#include "common.cuh"
extern "C" __global__ void scale(unsigned int n, const T* x, T* y) {
    for (unsigned int i = first(); i < n && i < first() + ITEMS; ++i) y[i] = x[i];
}
"#;
const COMMON: &str =
    "__device__ unsigned int first() { return (blockIdx.x * THREADS + threadIdx.x) * ITEMS; }\n";
const ATTRIBUTE: &str = r#"
    source = "scale.cu",
    types(T in [f32, f16]),
    params(THREADS in [64, 128, 384], ITEMS in [1, 2]),
    baseline(THREADS = 64, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1000), (n = 4096)),
    tolerance(relative = 1e-3),
    reference = crate::reference::scale,
"#;
const ITEM: &str = r#"
    unsafe extern "C" {
        /// Copies.
        pub(crate) fn scale(n: u32, #[len(n)] x: &[T], #[len(n)] y: &mut [T]);
    }
"#;

/// A temporary package that contains the kernel above.
struct Package {
    folder: tempfile::TempDir,
    site: DeclarationSite,
}

impl Package {
    fn new() -> Package {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("Cargo.toml", "[package]"),
            ("src/lib.rs", ""),
            ("src/scale.cu", SOURCE),
            ("src/common.cuh", COMMON),
            ("tuned/index.toml", &Index::new().to_text()),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let file = folder.path().join("src/lib.rs");
        let site = DeclarationSite::new(Some(&file), Path::new("/nowhere"), "example".into());
        Package { folder, site }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn expand(&self) -> String {
        self.expand_as(ATTRIBUTE, ITEM)
    }

    fn expand_as(&self, attribute: &str, item: &str) -> String {
        let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
        expand(tokens(attribute), tokens(item), &self.site).to_string()
    }

    fn parsed(&self) -> ParsedKernel {
        kiln_spec::parse::kernel(ATTRIBUTE.parse().unwrap(), ITEM.parse().unwrap()).unwrap()
    }

    /// A row as `tune bake` would write it.
    fn row(&self, device: &str, problem: &str, config: &str) -> Row {
        let spec = self.parsed().spec;
        let device: DeviceKey = device.parse().unwrap();
        let source = self.site.load_source("scale.cu").unwrap().text.hash();
        let parsed_problem = spec.parse_problem(problem).unwrap();
        let parsed_config = spec.parse_config(config).unwrap();
        let target = Target::from(device.backend);
        let hash = symbol_hash(
            source,
            &spec,
            "scale",
            &parsed_config,
            &parsed_problem,
            target,
        );
        Row {
            hashes: Hashes::now(&spec, source, device.backend),
            problem: problem.into(),
            entry: "scale".into(),
            config: config.into(),
            evidence: Evidence::Proven,
            speedup: Some(Speedup {
                low_ppm: 1_200_000,
                speedup_ppm: 1_300_000,
                high_ppm: 1_400_000,
            }),
            baseline: spec.baseline_text(),
            symbol: Symbol::release("scale", hash.unwrap()).to_string(),
            plan: spec.plan(&parsed_config, &parsed_problem, None).unwrap(),
            image: None,
            device,
        }
    }

    fn bake(&self, rows: &[Row]) {
        let mut table = BakedTable::new("scale");
        for row in rows {
            let of_device = rows.iter().filter(|other| other.device == row.device);
            table
                .replace_device(&row.device, of_device.cloned())
                .unwrap();
        }
        let mut index = Index::new();
        index.insert("scale").unwrap();
        self.write("tuned/index.toml", &index.to_text());
        self.write("tuned/scale.toml", &table.to_text());
    }
}

const L4: &str = "cuda/sm_89/NVIDIA L4";

/// The errors and warnings in an expansion, or the first 2000 characters of the expansion if there are none.
fn shown(expansion: &str) -> String {
    let notes = expansion
        .match_indices("kiln: ")
        .chain(expansion.match_indices("compile_error"));
    let notes = notes.map(|(at, _)| expansion[at..].chars().take(400).collect::<String>());
    let notes: Vec<String> = notes.collect();
    if notes.is_empty() {
        expansion.chars().take(2000).collect()
    } else {
        notes.join("\n")
    }
}

#[track_caller]
fn assert_has(expansion: &str, piece: &str) {
    // Tokens are compared without white space, so the comparison does not depend on how they are printed.
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert!(
        plain(expansion).contains(&plain(piece)),
        "no `{piece}` in:\n{}",
        shown(expansion)
    );
}

#[track_caller]
fn assert_lacks(expansion: &str, piece: &str) {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert!(
        !plain(expansion).contains(&plain(piece)),
        "`{piece}` in:\n{}",
        shown(expansion)
    );
}

#[test]
fn the_launch_function_is_safe_typed_and_as_visible_as_written() {
    let expansion = Package::new().expand();
    assert_has(
        &expansion,
        "pub(crate) fn scale<T: scale::T>(
            stream: &::kiln::Stream,
            n: ::core::primitive::u32,
            x: &impl ::kiln::DeviceSlice<T>,
            y: &mut impl ::kiln::DeviceSliceMut<T>
        ) -> ::core::result::Result<(), ::kiln::LaunchError>",
    );
    assert_has(&expansion, "Copies.");
    assert_has(&expansion, "pub(crate) mod scale");
    assert_has(&expansion, "impl T for ::kiln::f16 {}");
    assert_lacks(&expansion, "unsafe");
    assert_lacks(&expansion, "impl T for ::core::primitive::i32");
}

#[test]
fn the_reference_is_called_for_each_type_with_its_types_checked() {
    let expansion = Package::new().expand();
    assert_has(
        &expansion,
        "let reference: fn(
            ::core::primitive::u32,
            &[T],
            &mut [<T as ::kiln::__private::Element>::Wide]
        ) = crate::reference::scale;",
    );
    assert_has(&expansion, "type T = ::kiln::f16;");
    assert_has(
        &expansion,
        "reference: ::core::option::Option::Some(super::__kiln_scale_reference)",
    );
}

#[test]
fn every_file_and_variable_is_tracked() {
    let package = Package::new();
    package.bake(&[package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1")]);
    let expansion = package.expand();
    let root = package.folder.path().canonicalize().unwrap();
    for name in [
        "src/scale.cu",
        "src/common.cuh",
        "tuned/index.toml",
        "tuned/scale.toml",
    ] {
        let path = root.join(name);
        assert_has(
            &expansion,
            &format!("::core::include_bytes!(\"{}\")", path.display()),
        );
    }
    for variable in ["KILN_STRICT", "KILN_TUNED"] {
        assert_has(&expansion, &format!("::core::option_env!(\"{variable}\")"));
    }
}

#[test]
fn the_same_input_gives_the_same_tokens() {
    let package = Package::new();
    package.bake(&[
        package.row(L4, "T=f16,n=1000", "THREADS=384,ITEMS=1"),
        package.row(
            "hip/gfx1151/Radeon 8060S",
            "T=f16,n=1000",
            "THREADS=64,ITEMS=2",
        ),
    ]);
    assert_eq!(package.expand(), package.expand());
}

#[test]
fn a_fresh_row_becomes_a_literal_with_its_own_numbers() {
    let package = Package::new();
    let row = package.row(L4, "T=f16,n=1000", "THREADS=384,ITEMS=2");
    package.bake(std::slice::from_ref(&row));
    let expansion = package.expand();
    assert_has(
        &expansion,
        "device: ::kiln::__private::RowDevice {
            backend: ::kiln::__private::Backend::Cuda,
            arch: \"sm_89\",
            name: \"NVIDIA L4\",
        }",
    );
    assert_has(
        &expansion,
        "problem: &[
            ::kiln::__private::ConstDimension::Type(::kiln::__private::Type::F16),
            ::kiln::__private::ConstDimension::Size(1000i64)
        ]",
    );
    assert_has(
        &expansion,
        "plan: ::kiln::__private::LaunchPlan {
            grid: [2u32, 1u32, 1u32], block: [384u32, 1u32, 1u32], shared_bytes: 0u32
        }",
    );
    assert_has(&expansion, &format!("cuda: \"{}\"", row.symbol));
    assert_lacks(&expansion, "deprecated");
}

#[test]
fn a_first_build_without_an_index_warns_and_is_an_error_where_builds_are_strict() {
    let mut package = Package::new();
    fs::remove_file(package.folder.path().join("tuned/index.toml")).unwrap();
    let expansion = package.expand();
    assert_lacks(&expansion, "compile_error");
    assert_has(
        &expansion,
        "there is no tuned/index.toml: the program launches its baseline, and cargo does not notice when the file appears\\nhelp: run `tune init` in this package",
    );
    assert_has(&expansion, "cargo::rerun-if-changed=tuned");
    assert_has(&expansion, "rows: &[],");
    package.site.strict = Ok(true);
    let expansion = package.expand();
    assert_has(&expansion, "::core::compile_error!");
    // Callers of the function still compile.
    assert_has(&expansion, "pub(crate) fn scale<T: ::kiln::Element>(");
}

#[test]
fn a_table_without_an_index_warns_also_if_the_kernel_may_be_untuned() {
    let mut package = Package::new();
    package.bake(&[package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1")]);
    fs::remove_file(package.folder.path().join("tuned/index.toml")).unwrap();
    let attribute = format!("{ATTRIBUTE} untuned = allow,");
    assert_has(
        &package.expand_as(&attribute, ITEM),
        "tuned/scale.toml is there, but there is no tuned/index.toml",
    );
    package.site.strict = Ok(true);
    assert_has(&package.expand_as(&attribute, ITEM), "compile_error");
}

#[test]
fn an_index_that_is_a_link_to_nowhere_is_an_error() {
    let package = Package::new();
    let index = package.folder.path().join("tuned/index.toml");
    fs::remove_file(&index).unwrap();
    std::os::unix::fs::symlink("nowhere.toml", &index).unwrap();
    assert_has(&package.expand(), "::core::compile_error!");
}

#[test]
fn an_index_that_is_not_a_file_is_an_error() {
    let package = Package::new();
    let index = package.folder.path().join("tuned/index.toml");
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    let expansion = package.expand();
    assert_has(&expansion, "::core::compile_error!");
    assert_has(
        &expansion,
        "tuned/index.toml, cannot be read: it is not a regular file",
    );
}

#[test]
fn a_kernel_that_is_meant_to_be_untuned_does_not_warn_until_its_rows_are_stale() {
    let mut package = Package::new();
    let attribute = format!("{ATTRIBUTE} untuned = allow,");
    assert_lacks(&package.expand_as(&attribute, ITEM), "deprecated");
    package.site.strict = Ok(true);
    assert_lacks(&package.expand_as(&attribute, ITEM), "compile_error");
    package.site.strict = Ok(false);
    package.bake(&[package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1")]);
    package.write("src/common.cuh", &format!("{COMMON}\n__device__ int more;"));
    assert_has(&package.expand_as(&attribute, ITEM), "stale");
    let wrong = format!("{ATTRIBUTE} untuned = deny,");
    assert_has(&package.expand_as(&wrong, ITEM), "write `untuned = allow`");
}

#[test]
fn problems_are_made_of_typed_sizes() {
    let expansion = Package::new().expand();
    assert_has(
        &expansion,
        "pub fn problem<T: self::T>(n: ::core::primitive::u32) -> ::kiln::__private::Problem",
    );
}

#[test]
fn a_kernel_that_is_not_baked_warns_and_is_an_error_where_builds_are_strict() {
    let mut package = Package::new();
    let expansion = package.expand();
    assert_has(
        &expansion,
        "#[deprecated(note = \"kiln: kernel `scale` is not baked: the program launches its baseline\\nhelp: run \
         `tune run -k scale` on the GPU it is for; for this machine's cpu, `tune run -k scale --device cpu --write`\")]",
    );
    assert_has(&expansion, "rows: &[],");
    assert_lacks(&expansion, "compile_error");
    package.site.strict = Ok(true);
    let expansion = package.expand();
    assert_has(&expansion, "compile_error");
    assert_has(&expansion, "kernel `scale` is not baked");
}

#[test]
fn a_table_without_rows_is_not_baked() {
    let mut package = Package::new();
    package.bake(&[]);
    assert_has(
        &package.expand(),
        "kernel `scale` is not baked: tuned/scale.toml has no rows",
    );
    package.site.strict = Ok(true);
    assert_has(&package.expand(), "compile_error");
    let attribute = format!("{ATTRIBUTE} untuned = allow,");
    assert_lacks(&package.expand_as(&attribute, ITEM), "compile_error");
}

#[test]
fn an_unknown_value_of_the_strict_variable_is_an_error() {
    let mut package = Package::new();
    package.site.strict = kiln_spec::baked::is_strict(Some("ture"));
    assert_has(&package.expand(), "KILN_STRICT is `ture`");
}

#[test]
fn a_table_that_the_index_lost_is_named() {
    let package = Package::new();
    package.bake(&[package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1")]);
    package.write("tuned/index.toml", "format = 1\n[kernels]\n");
    let expansion = package.expand();
    assert_has(&expansion, "rows: &[],");
    assert_has(
        &expansion,
        "kernel `scale` is not baked: tuned/scale.toml is there, but index.toml does not list it\\nhelp: run `tune \
         init`, which lists every table of the folder",
    );
}

#[test]
fn a_comment_in_the_source_leaves_a_row_fresh() {
    let package = Package::new();
    package.bake(&[package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1")]);
    package.write("src/common.cuh", &format!("// A comment.\n\n{COMMON}"));
    let expansion = package.expand();
    assert_lacks(&expansion, "stale");
    assert_lacks(&expansion, "rows: &[],");
}

#[test]
fn a_warning_is_silenced_by_an_allow_at_the_declaration() {
    let package = Package::new();
    let item = ITEM.replace("unsafe extern", "#[allow(deprecated)] unsafe extern");
    let expansion = package.expand_as(ATTRIBUTE, &item);
    assert_has(
        &expansion,
        "#[warn(warnings)] #[allow(deprecated)] const _: () = { { #[allow(non_upper_case_globals)]",
    );
}

#[test]
fn a_stale_row_is_left_out_with_a_warning_that_names_what_changed() {
    let mut package = Package::new();
    let rows = [
        package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1"),
        package.row(L4, "T=f32,n=4096", "THREADS=128,ITEMS=1"),
    ];
    package.bake(&rows);
    package.write("src/common.cuh", &COMMON.replace("THREADS +", "THREADS -"));
    let expansion = package.expand();
    assert_has(&expansion, "rows: &[],");
    assert_has(&expansion, "2 baked rows of `scale` are stale and not used");
    assert_has(&expansion, ": the hash of the source was ");
    assert_has(
        &expansion,
        "help: run `tune run -k scale` on a machine that has this GPU",
    );
    package.site.strict = Ok(true);
    assert_has(&package.expand(), "compile_error");
}

#[test]
fn only_the_rows_that_are_stale_are_left_out() {
    let package = Package::new();
    let mut stale = package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1");
    stale.hashes.prelude = kiln_spec::Hash::of("another", b"prelude");
    let fresh = package.row(L4, "T=f32,n=4096", "THREADS=128,ITEMS=2");
    package.bake(&[stale.clone(), fresh.clone()]);
    let expansion = package.expand();
    assert_has(&expansion, &fresh.symbol);
    assert_lacks(&expansion, &stale.symbol);
    assert_has(&expansion, "1 baked row of `scale` is stale");
    assert_has(&expansion, ": the hash of the prelude was ");
}

#[test]
fn a_row_that_lies_is_an_error() {
    let package = Package::new();
    let honest = package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1");
    let mut lies: Vec<(&str, Row)> = Vec::new();
    let mut symbol = honest.clone();
    symbol.symbol = package
        .row(L4, "T=f32,n=1000", "THREADS=128,ITEMS=1")
        .symbol;
    lies.push(("its symbol is", symbol));
    let mut plan = honest.clone();
    plan.plan.block = [128, 1, 1];
    lies.push(("`plan` is", plan));
    let mut config = honest.clone();
    config.config = "THREADS=96,ITEMS=1".into();
    lies.push(("is not a value of `THREADS`", config));
    let mut problem = honest.clone();
    problem.problem = "n=1000".into();
    lies.push(("no value for T", problem));
    for (message, lie) in lies {
        package.bake(&[lie]);
        let expansion = package.expand();
        assert_has(&expansion, "compile_error");
        assert_has(&expansion, message);
    }
}

#[test]
fn a_damaged_table_is_an_error_that_names_file_and_line() {
    let package = Package::new();
    package.bake(&[package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1")]);
    package.write(
        "tuned/scale.toml",
        "format = 1\nkernel = \"scale\"\nrows = 3\n",
    );
    let expansion = package.expand();
    assert_has(&expansion, "tuned/scale.toml: line 3");
    package.write(
        "tuned/index.toml",
        "format = 1\n[kernels]\nscale = \"../../etc/passwd\"\n",
    );
    assert_has(&package.expand(), "tuned/index.toml: line 3");
    package.write(
        "tuned/index.toml",
        "format = 1\n[kernels]\nscale = \"gone.toml\"\n",
    );
    assert_has(
        &package.expand(),
        "the index lists tuned/gone.toml, which cannot be read",
    );
}

#[test]
fn an_image_is_embedded_only_if_it_is_the_one_that_was_baked() {
    let package = Package::new();
    let mut row = package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1");
    let image = Image::of("scale", &row.device, "sm_89", b"cubin");
    let (file, hash) = (format!("tuned/{}", image.file), image.hash);
    row.image = Some(image);
    package.bake(&[row.clone()]);
    package.write(&file, "cubin");
    let expansion = package.expand();
    let literal = format!("target: \"sm_89\", hash: \"{hash}\", bytes: ::core::include_bytes!(");
    assert_has(&expansion, &literal);
    // The expansion names the file twice: in the row and for cargo, which rebuilds if the file changes.
    assert_eq!(expansion.matches(&file).count(), 2, "{expansion}");
    package.write(&file, "another");
    assert_has(&package.expand(), &format!("the image {file} has hash"));
    fs::remove_file(package.folder.path().join(&file)).unwrap();
    assert_has(
        &package.expand(),
        &format!("the image {file} cannot be read"),
    );
    package.write(&file, "cubin");
    row.image.as_mut().unwrap().target = "sm_86".into();
    package.bake(&[row]);
    let says =
        format!("the image {file} is for sm_86, which is not the target of images for `{L4}`");
    assert_has(&package.expand(), &says);
}

#[test]
fn a_source_outside_the_package_is_refused_even_through_a_link() {
    let package = Package::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("scale.cu"), SOURCE).unwrap();
    let link = package.folder.path().join("src/linked.cu");
    std::os::unix::fs::symlink(outside.path().join("scale.cu"), link).unwrap();
    let attribute = ATTRIBUTE.replace("\"scale.cu\"", "\"linked.cu\"");
    assert_has(
        &package.expand_as(&attribute, ITEM),
        "it is a link to a file outside the package",
    );
    let attribute = ATTRIBUTE.replace("\"scale.cu\"", "\"../../scale.cu\"");
    assert_has(&package.expand_as(&attribute, ITEM), "compile_error");
}

#[test]
fn conditions_at_the_declaration_hold_for_every_item() {
    let package = Package::new();
    let item = ITEM.replace("unsafe extern", "#[cfg(feature = \"gpu\")] unsafe extern");
    let expansion = package.expand_as(ATTRIBUTE, &item);
    let conditions = expansion.matches("cfg (feature = \"gpu\")").count();
    // The condition is on seven items: the function, the module, the reference, the launch adapter, the smoke test, the
    // tracking and the warning.
    assert_eq!(conditions, 7, "{expansion}");
}

#[test]
fn a_mistake_leaves_a_function_for_callers() {
    let package = Package::new();
    let attribute = ATTRIBUTE.replace("block(THREADS)", "block(THREAD)");
    let expansion = package.expand_as(&attribute, ITEM);
    assert_has(&expansion, "compile_error");
    assert_has(&expansion, "pub(crate) fn scale<T: ::kiln::Element>(");
    assert_lacks(&expansion, "KERNEL");
}

#[test]
fn rows_that_are_not_proven_are_there_but_accepted_only_where_they_are_named() {
    let package = Package::new();
    let mut row = package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1");
    row.evidence = Evidence::Replayed;
    row.speedup = None;
    package.bake(&[row]);
    let expansion = package.expand();
    assert_has(
        &expansion,
        "evidence: ::kiln::__private::Evidence::Replayed",
    );
    assert_has(&expansion, "accepted: &[],");
    let attribute = format!("{ATTRIBUTE} evidence(replayed),");
    let expansion = package.expand_as(&attribute, ITEM);
    assert_has(
        &expansion,
        "accepted: &[::kiln::__private::Evidence::Replayed],",
    );
    let attribute = format!("{ATTRIBUTE} evidence(guessed),");
    assert_has(
        &package.expand_as(&attribute, ITEM),
        "unknown kind of evidence `guessed`",
    );
}

#[test]
fn every_fresh_row_is_baked_and_the_smoke_test_is_a_test() {
    let package = Package::new();
    let rows = [
        package.row(L4, "T=f32,n=1000", "THREADS=384,ITEMS=1"),
        package.row(L4, "T=f32,n=4096", "THREADS=128,ITEMS=2"),
        package.row(
            "hip/gfx1151/Radeon 8060S",
            "T=f16,n=1000",
            "THREADS=64,ITEMS=2",
        ),
    ];
    package.bake(&rows);
    let expansion = package.expand();
    for row in &rows {
        assert_has(&expansion, &row.symbol);
    }
    assert_has(
        &expansion,
        "#[cfg(test)] mod kiln_smoke_scale { #[test] fn every_baked_row_launches_as_intended()",
    );
}

#[test]
fn the_advice_for_a_kernel_in_an_example_names_no_command_that_does_not_find_it() {
    let mut package = Package::new();
    let folder = package.folder.path();
    fs::rename(folder.join("src"), folder.join("examples")).unwrap();
    let file = folder.join("examples/lib.rs");
    package.site = DeclarationSite::new(Some(&file), Path::new("/nowhere"), "example".into());
    let expansion = package.expand();
    assert_has(&expansion, "kernel `scale` is not baked");
    assert_has(
        &expansion,
        "`tune` does not look for kernels in `examples/`",
    );
    assert_lacks(&expansion, "tune run");
}
