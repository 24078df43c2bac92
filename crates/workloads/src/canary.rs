//! A fixed amount of integer work that needs neither memory nor kernel. Its time should always be the same; where it is
//! not, somebody else uses the processor.

use crate::timing::timed;
use crate::{Place, Prepared, Workload, WorkloadError};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, Params};
use model::units::Unit;
use std::collections::BTreeMap;
use std::hint::black_box;

const NAME: &str = "canary";
const VERSION: u32 = 1;
/// About 50 ms at 4.3 GHz: six dependent operations a step.
const STEPS: u64 = 36_000_000;
const START: u64 = 0x9e37_79b9_7f4a_7c15;
const REPEATS: u32 = 5;

/// The noise probe.
#[derive(Debug)]
pub(crate) struct Canary;

struct Ready;

impl Load for Canary {
    fn benchmarks(&self) -> Vec<Benchmark> {
        vec![Benchmark {
            id: "cpu.canary".to_owned(),
            title: "Canary".to_owned(),
            doc: format!(
                "Time of {STEPS} steps of Marsaglia's xorshift64 generator (Journal of Statistical Software 8(14), 2003), best \
                 of {REPEATS}. The work never changes, so a change of its time is noise of the machine, not of the benchmark."
            ),
            area: Area::Cpu,
            runner: Runner::Workload { name: NAME.to_owned(), version: VERSION },
            params: Vec::new(),
            metrics: vec![Metric::new("time", "Canary time", Unit::Seconds, ("ms", 1e-3), Direction::Lower).primary()],
            kernel_bound: false,
        }]
    }

    fn needs(&self, _: &Params) -> Result<Needs, ParamError> {
        Ok(Needs { cpus: 1, seconds: 0.3, ..Needs::default() })
    }
}

impl Workload for Canary {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare(&self, _: &Params, _: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Ready))
    }
}

impl Prepared for Ready {
    fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError> {
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            let (end, seconds) = timed(|| timed_xorshift(black_box(START), STEPS));
            // The generator is a bijection without fixed points but zero, so a lost step shows.
            if end != END {
                return Err(WorkloadError::Wrong(format!("the canary ended at {end:#x}, not at {END:#x}")));
            }
            best = best.min(seconds);
        }
        Ok(BTreeMap::from([("time".to_owned(), best)]))
    }
}

/// Where [`STEPS`] steps from [`START`] end; the test finds it by another way (squaring the step as a matrix).
const END: u64 = 0xdfca_dc46_3220_ca21;

#[inline(never)]
fn timed_xorshift(mut x: u64, steps: u64) -> u64 {
    for _ in 0..steps {
        x = step(x);
    }
    x
}

#[inline(always)]
fn step(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^ (x << 17)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step is linear over GF(2): column `i` is where bit `i` goes.
    fn apply(matrix: &[u64; 64], x: u64) -> u64 {
        (0..64).filter(|i| x >> i & 1 == 1).fold(0, |sum, i| sum ^ matrix[i])
    }

    #[test]
    fn the_end_is_the_power_of_the_step_matrix() {
        let mut power: [u64; 64] = std::array::from_fn(|i| step(1 << i));
        let mut x = START;
        let mut steps = STEPS;
        while steps > 0 {
            if steps & 1 == 1 {
                x = apply(&power, x);
            }
            power = std::array::from_fn(|i| apply(&power, power[i]));
            steps >>= 1;
        }
        assert_eq!(x, END, "{x:#x}");
    }

    #[test]
    fn the_canary_sings() {
        let values = Ready.run().unwrap();
        assert!(values["time"] > 0.0 && values["time"] < 60.0, "{values:?}");
    }
}
