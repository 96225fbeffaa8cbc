//! Accesses of 12 bytes, as of `float3`.
#![allow(clippy::unwrap_used)] // a failed call fails the test

use kiln_sim::gfx11::CodeObject;
use kiln_sim::{Counters, Fault, FaultKind, Launch, Memory, Order, run};

const OBJECT: &[u8] = include_bytes!("gfx11/triples.co");

/// Launches `swap` on `n` triples, in an allocation for `allocated` triples, and returns what it stores.
fn swap(n: u32, allocated: usize, order: Order) -> Result<(Vec<f32>, Counters), Fault> {
    let memory = Memory::default();
    let loaded = CodeObject::parse(OBJECT).unwrap().load(&memory).unwrap();
    let [from, to] = [(); 2].map(|()| memory.alloc(12 * allocated));
    let values = (0..3 * allocated).flat_map(|i| (i as f32).to_le_bytes());
    memory.write(from, &values.collect::<Vec<u8>>()).unwrap();
    let mut arguments = [from.to_le_bytes(), to.to_le_bytes()].concat();
    arguments.extend(n.to_le_bytes());
    let launch = Launch {
        grid: [1; 3],
        block: [64, 1, 1],
        shared_bytes: 0,
        arguments,
        order,
    };
    let counters = run(&loaded.kernel("swap").unwrap(), &launch, &memory)?;
    let mut data = vec![0; 12 * allocated];
    memory.read(to, &mut data).unwrap();
    let words = data.chunks_exact(4);
    let floats = words.map(|word| f32::from_le_bytes(word.try_into().unwrap()));
    Ok((floats.collect(), counters))
}

#[test]
fn accesses_of_12_bytes_move_triples_through_every_memory() {
    for order in [Order::Forward, Order::Reversed, Order::Random { seed: 3 }] {
        let n = 50;
        let (out, counters) = swap(n, n as usize, order).unwrap();
        for (i, triple) in out.chunks_exact(3).enumerate() {
            let from = 3.0 * (n as f32 - 1.0 - i as f32);
            assert_eq!(triple, [from, -(from + 1.0), from + 2.0]);
        }
        // Warps of 32 and 18 triples load and store contiguous bytes.
        let sum = |of: fn(&kiln_sim::Traffic) -> u64| counters.traffic.iter().map(of).sum::<u64>();
        assert_eq!(sum(|t| t.global_requests), 4);
        assert_eq!(sum(|t| t.global_sectors), 2 * (12 + 7));
        assert_eq!(sum(|t| t.shared_requests), 4);
    }
}

#[test]
fn a_triple_that_ends_outside_its_allocation_is_a_fault() {
    let fault = swap(50, 49, Order::Forward).unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::OutOfBounds { bytes: 12, .. }),
        "{fault}"
    );
    assert_eq!((fault.place.warp, fault.place.lane), (1, Some(17)));
}
