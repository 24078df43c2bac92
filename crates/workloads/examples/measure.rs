//! Runs every workload some times with its default parameters and prints what it gives, in the units of the tables:
//! `cargo run --example measure -- [WORKLOAD]...`. Files go to /dev/shm.

use model::isa::InstructionSet;
use model::params::Params;
use std::error::Error;
use std::path::Path;
use std::time::Instant;
use vmtax_workloads::{ALL, Place, clock_read_seconds};

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    #[cfg(target_arch = "x86_64")]
    let isa = if std::arch::is_x86_feature_detected!("avx2") { InstructionSet::V3 } else { InstructionSet::Baseline };
    #[cfg(not(target_arch = "x86_64"))]
    let isa = InstructionSet::Baseline;
    println!("{isa}, a clock read takes {:.1} ns", clock_read_seconds() * 1e9);
    for workload in ALL.iter().filter(|w| wanted.is_empty() || wanted.iter().any(|name| name == w.name())) {
        for benchmark in workload.benchmarks() {
            let start = Instant::now();
            let params = Params::defaults(&benchmark.params);
            let mut ready = workload.prepare(&params, &Place { isa, scratch: Path::new("/dev/shm") })?;
            let prepared = start.elapsed().as_secs_f64();
            for _ in 0..3 {
                let start = Instant::now();
                let values = ready.run()?;
                print!("{:<16} ", benchmark.id);
                for metric in &benchmark.metrics {
                    let shown = metric.shown.apply(values[&metric.id]);
                    print!("{} {shown:.1} {}  ", metric.id, metric.shown.symbol);
                }
                println!("(prepared in {prepared:.2} s, ran {:.2} s)", start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(())
}
