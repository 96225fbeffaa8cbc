//! Simulates a fleet whose nodes fail and whose network partitions. The simulation uses the crate's own segments, union
//! and decisions.
//!
//! `cargo run --release -p kiln-fleet --example fleet_simulation` prints, for several numbers of nodes, how long a plan
//! takes and how much work is lost or done twice.
#![allow(clippy::unwrap_used)]

#[path = "../tests/samples/mod.rs"]
mod samples;
#[path = "../tests/simulation/mod.rs"]
mod simulation;

use simulation::{Setting, simulate};

fn main() {
    println!(
        "68 problems on 5 kinds of devices, 200 trials each, 2 devices a row; a node fails every 2 h, 10 % partitions."
    );
    println!("nodes  minutes  efficiency  redone  twice  elements  acknowledged lost  proven");
    for nodes in [5, 10, 20, 40, 80, 160, 340, 1000] {
        let result = simulate(Setting {
            nodes,
            ..Setting::default()
        });
        println!(
            "{nodes:5} {:8} {:9} % {:5} % {:4} % {:9} {:18} {:4} of {}",
            result.makespan_s / 60,
            result.efficiency_ppm / 10_000,
            result.redone_ppm as f64 / 10_000.0,
            result.twice_ppm / 10_000,
            result.elements,
            result.acknowledged_lost,
            result.proven,
            result.tasks,
        );
    }
}
