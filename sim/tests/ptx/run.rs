//! Launches small kernels.

use kiln_sim::ptx::Module;
use kiln_sim::{Counters, Fault, Launch, Memory, Order, run};

/// The text of a kernel with this body. The parameters are `p0` to `p3`, 8 bytes each.
pub fn kernel(variables: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{variables}\n.visible .entry k(.param .u64 p0, .param .u64 p1, \
         .param .u64 p2, .param .u64 p3)\n{{\n.reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<100>;\n.reg .f32 %f<100>;\n\
         .reg .b64 %rd<40>;\nld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// A launch with buffers as arguments. The launch changes the buffers.
pub struct Case {
    pub blocks: u32,
    pub threads: u32,
    pub shared_bytes: u32,
    pub order: Order,
}

impl Case {
    pub fn of(threads: u32) -> Case {
        Case {
            blocks: 1,
            threads,
            shared_bytes: 0,
            order: Order::Forward,
        }
    }

    pub fn launch(&self, text: &str, buffers: &mut [&mut Vec<u32>]) -> Result<Counters, Fault> {
        let memory = Memory::default();
        let module = Module::parse(text).unwrap();
        let loaded = module.load(&memory).unwrap();
        let mut kernel = loaded.kernel("k").unwrap();
        kernel.max_instructions = 1 << 22;
        let addresses: Vec<u64> = buffers
            .iter()
            .map(|buffer| memory.alloc(4 * buffer.len()))
            .collect();
        for (buffer, &address) in buffers.iter().zip(&addresses) {
            let bytes: Vec<u8> = buffer.iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.write(address, &bytes).unwrap();
        }
        let mut arguments: Vec<u8> = addresses
            .iter()
            .flat_map(|address| address.to_le_bytes())
            .collect();
        arguments.resize(32, 0);
        let launch = Launch {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared_bytes: self.shared_bytes,
            arguments,
            order: self.order,
        };
        let counters = run(&kernel, &launch, &memory)?;
        for (buffer, &address) in buffers.iter_mut().zip(&addresses) {
            let mut bytes = vec![0; 4 * buffer.len()];
            memory.read(address, &mut bytes).unwrap();
            for (word, bytes) in buffer.iter_mut().zip(bytes.chunks_exact(4)) {
                *word = u32::from_le_bytes(bytes.try_into().unwrap());
            }
        }
        Ok(counters)
    }

    /// Launches with every order of warps, checks that all of them give the same buffers, and returns these buffers.
    pub fn in_every_order(self, text: &str, buffers: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let random = (0..8).map(|seed| Order::Random { seed });
        let mut first: Option<Vec<Vec<u32>>> = None;
        for order in [Order::Forward, Order::Reversed].into_iter().chain(random) {
            let mut copy = buffers.to_vec();
            let mut all: Vec<&mut Vec<u32>> = copy.iter_mut().collect();
            let case = Case { order, ..self };
            if let Err(fault) = case.launch(text, &mut all) {
                panic!("{order:?}: {fault}");
            }
            assert_eq!(
                &copy,
                first.get_or_insert_with(|| copy.clone()),
                "{order:?}"
            );
        }
        first.unwrap()
    }
}

/// Stores `%r2` of each thread in the first buffer.
pub const STORE: &str =
    "mul.wide.u32 %rd30, %r1, 4;\nadd.s64 %rd31, %rd1, %rd30;\nst.global.u32 [%rd31], %r2;";

/// The values that 32 threads store after `body`.
pub fn warp_result(body: &str) -> Vec<u32> {
    let text = kernel("", &format!("{body}\n{STORE}"));
    Case::of(32).in_every_order(&text, &[vec![0; 32]]).remove(0)
}

#[test]
fn two_vectors_are_added_over_a_ragged_grid() {
    let body = "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.s32 %r5, %r3, %r4, %r1;\nsetp.ge.u32 %p1, %r5, 1000;\n\
                @%p1 bra $done;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n\
                ld.global.f32 %f1, [%rd4];\nld.global.nc.f32 %f2, [%rd5];\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%rd4], %f3;\n$done:";
    let a: Vec<u32> = (0..1000).map(|i| (i as f32).to_bits()).collect();
    let b: Vec<u32> = (0..1000).map(|i| (0.5 * i as f32).to_bits()).collect();
    let case = Case {
        blocks: 8,
        ..Case::of(128)
    };
    let out = case.in_every_order(&kernel("", body), &[a, b]);
    let expected: Vec<u32> = (0..1000).map(|i| (1.5 * i as f32).to_bits()).collect();
    assert_eq!(out[0], expected);
}

#[test]
fn module_variables_have_their_initial_values_and_addresses() {
    let variables = ".global .align 4 .u32 table[4] = {7, 8, 0x9, 10};\n.const .align 8 .u64 pointer = generic(table)+4;";
    let body = "ld.const.u64 %rd3, [pointer];\nld.u32 %r2, [%rd3];\nld.global.u32 %r3, [table+8];\nadd.u32 %r2, %r2, %r3;\n";
    let text = kernel(variables, &format!("{body}{STORE}"));
    assert_eq!(Case::of(1).in_every_order(&text, &[vec![0]])[0], [17]);
}

#[test]
fn a_variable_that_points_to_a_function_does_not_keep_a_module_from_loading() {
    let variables = ".func callee()\n{\nret;\n}\n.global .align 8 .u64 chosen = callee;\n.global .align 4 .u32 other[1] = {5};";
    let text = kernel(variables, &format!("ld.global.u32 %r2, [other];\n{STORE}"));
    assert_eq!(Case::of(1).in_every_order(&text, &[vec![0]])[0], [5]);
}

#[test]
fn functions_are_called_with_parameters_and_results() {
    let function = ".func (.param .b32 out) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [x];\n.reg .pred %p<3>;\n\
                    setp.gt.u32 %p1, %r1, 20;\n@%p1 bra $big;\nshl.b32 %r2, %r1, 1;\nst.param.b32 [out], %r2;\nret;\n$big:\n\
                    st.param.b32 [out], 1;\nret;\n}\n";
    let body = "{\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n.param .b32 retval0;\n\
                call.uni (retval0), twice, (param0);\nld.param.b32 %r2, [retval0];\n}";
    let text = kernel(function, &format!("{body}\n{STORE}"));
    let out = Case::of(32).in_every_order(&text, &[vec![0; 32]]).remove(0);
    let expected: Vec<u32> = (0..32).map(|i| if i > 20 { 1 } else { 2 * i }).collect();
    assert_eq!(out, expected);
}

#[test]
fn local_memory_is_private_to_a_thread_and_has_generic_addresses() {
    let body = ".local .align 8 .b8 depot[16];\nmov.u64 %rd3, depot;\ncvta.local.u64 %rd4, %rd3;\nst.local.u32 [%rd3+4], %r1;\n\
                isspacep.local %p1, %rd4;\nld.u32 %r2, [%rd4+4];\n@!%p1 mov.u32 %r2, 99;\n";
    assert_eq!(warp_result(body), (0..32).collect::<Vec<u32>>());
}
