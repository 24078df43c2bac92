//! A fixed amount of integer work that needs neither memory nor kernel. Its time should always be the same; where it is
//! not, somebody else uses the processor.

use crate::{Place, Prepared, Workload, WorkloadError};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, ParamSpec, Params};
use model::units::Unit;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

const NAME: &str = "canary";
/// Still the first: without padding nothing is done between the two readings of the clock that was not done before there was one.
const VERSION: u32 = 1;
/// About 50 ms at 4.3 GHz: six dependent operations a step.
const STEPS: u64 = 36_000_000;
const START: u64 = 0x9e37_79b9_7f4a_7c15;
const REPEATS: u32 = 5;

/// The noise probe.
#[derive(Debug)]
pub(crate) struct Canary;

struct Ready {
    /// How much longer each repeat is made, as a fraction.
    padding: f64,
}

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
            params: vec![ParamSpec::count(
                "padding",
                0,
                "For self-tests: percent of each repeat's time that is spun after it, inside the timed figure.",
            )],
            metrics: vec![Metric::new("time", "Canary time", Unit::Seconds, ("ms", 1e-3), Direction::Lower).primary()],
            kernel_bound: false,
        }]
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        Ok(Needs { cpus: 1, seconds: 0.3 * (1.0 + padding(params)?), ..Needs::default() })
    }
}

impl Workload for Canary {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare(&self, params: &Params, _: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(Ready { padding: padding(params)? }))
    }
}

/// The parameter `padding` as a fraction.
fn padding(params: &Params) -> Result<f64, ParamError> {
    Ok(params.integer("padding")? as f64 / 100.0)
}

impl Prepared for Ready {
    fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError> {
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            let (end, seconds) = padded(self.padding, || timed_xorshift(black_box(START), STEPS));
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

/// Seconds that `work` takes, and then `padding` times as long again: the known overhead that a self-test must find.
fn padded<T>(padding: f64, work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    let worked = start.elapsed().as_secs_f64();
    let due = worked * (1.0 + padding);
    let mut seconds = worked;
    while seconds < due {
        std::hint::spin_loop();
        seconds = start.elapsed().as_secs_f64();
    }
    (result, seconds)
}

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
        let values = Ready { padding: 0.0 }.run().unwrap();
        assert!(values["time"] > 0.0 && values["time"] < 60.0, "{values:?}");
    }

    #[test]
    fn padding_lengthens_the_figure_by_its_share_and_no_padding_by_nothing() {
        for padding in [0.0, 0.5] {
            let mut slept = 0.0;
            let (result, seconds) = padded(padding, || {
                let start = Instant::now();
                std::thread::sleep(std::time::Duration::from_millis(100));
                slept = start.elapsed().as_secs_f64();
                7
            });
            let due = slept * (1.0 + padding);
            // What is beyond it is two looks at the clock, or others on a busy machine.
            assert!(result == 7 && due <= seconds && seconds < due + 0.04, "{padding}: {seconds}, slept {slept}");
        }
    }

    #[test]
    fn the_padding_is_a_percentage_and_the_default_is_none() {
        let mut params = Params::defaults(&Canary.benchmarks()[0].params);
        assert_eq!(padding(&params), Ok(0.0));
        params.set("padding", model::ParamValue::Integer(50));
        assert_eq!(padding(&params), Ok(0.5));
    }
}
