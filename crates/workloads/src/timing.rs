//! The clock around the timed region, the number of loops that fills a given time, and what keeps the optimiser from
//! seeing that the work is always the same.

use crate::WorkloadError;
use model::params::{ParamError, Params};
use std::time::Instant;

/// A trial that lasts this long says well enough how long one loop takes, seconds.
const TRIAL: f64 = 0.05;

/// Seconds that `work` takes by the monotonic clock.
#[inline(always)]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// The parameter `time`, seconds.
pub(crate) fn target(params: &Params) -> Result<f64, ParamError> {
    let seconds = params.seconds("time")?;
    if seconds.is_finite() && seconds > 0.0 { Ok(seconds) } else { Err(ParamError::Zero { key: "time".to_owned() }) }
}

/// How many loops last about `target` seconds. `trial` does that many loops and says how long they took; it is given
/// twice as many each time until it lasts long enough to be believed.
pub(crate) fn calibrate(
    target: f64,
    mut trial: impl FnMut(u64) -> Result<f64, WorkloadError>,
) -> Result<u64, WorkloadError> {
    let mut loops = 1u64;
    loop {
        let seconds = trial(loops)?;
        if seconds >= TRIAL.min(target) {
            return Ok(((loops as f64 * target / seconds).round() as u64).max(1));
        }
        loops = loops.checked_mul(2).ok_or_else(|| WorkloadError::Wrong("its clock does not move".to_owned()))?;
    }
}

/// `amount` per second, or an error where the clock did not move: a rate is never infinite.
pub(crate) fn rate(amount: f64, seconds: f64) -> Result<f64, WorkloadError> {
    if seconds > 0.0 {
        Ok(amount / seconds)
    } else {
        Err(WorkloadError::Wrong("it took no time by the monotonic clock, so it has no rate".to_owned()))
    }
}

/// `value`, of which the optimiser no longer knows anything. Unlike [`std::hint::black_box`] it stays in its register,
/// so that it costs nothing inside a loop.
#[inline(always)]
pub(crate) fn opaque(value: i64) -> i64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut value = value;
        // SAFETY: there is no instruction, only a register that is said to be written.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::hint::black_box(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loops_fill_the_time() {
        // A machine that does a loop in 3 ms: 32 of them are the first trial of at least 50 ms.
        let mut trials = Vec::new();
        let loops = calibrate(2.0, |n| {
            trials.push(n);
            Ok(n as f64 * 0.003)
        });
        assert_eq!(loops.unwrap(), 667);
        assert_eq!(trials, [1, 2, 4, 8, 16, 32]);
    }

    #[test]
    fn a_loop_that_is_longer_than_the_time_is_done_once() {
        assert_eq!(calibrate(0.01, |n| Ok(n as f64)).unwrap(), 1);
    }

    #[test]
    fn a_clock_that_stands_still_is_an_error() {
        assert!(calibrate(1.0, |_| Ok(0.0)).is_err());
        assert!(rate(1.0, 0.0).is_err());
    }
}
