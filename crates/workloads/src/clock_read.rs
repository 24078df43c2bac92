//! What one reading of the monotonic clock costs.

use std::hint::black_box;

const READS: u32 = 100;
const BATCHES: usize = 9;

/// Seconds that one clock_gettime(CLOCK_MONOTONIC) takes: the median of nine batches of a hundred, so that it ends within
/// 20 ms even where every reading leaves the guest (20 µs each).
///
/// A machine whose clock source is not readable from user space (hpet, acpi_pm) is slow at anything that reads the clock
/// often; this figure tells.
pub fn clock_read_seconds() -> f64 {
    let mut costs: [f64; BATCHES] = std::array::from_fn(|_| {
        let start = read();
        for _ in 0..READS {
            black_box(read());
        }
        // From the middle of the first reading to the middle of the last: one more than the loop has.
        (read() - start) / f64::from(READS + 1)
    });
    costs.sort_by(f64::total_cmp);
    costs[BATCHES / 2]
}

/// Through the vDSO or by a raw system call: the C library has no part in it.
#[cfg(target_os = "linux")]
#[inline(always)]
fn read() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn read() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_read_costs_more_than_nothing_and_less_than_a_millisecond() {
        let cost = clock_read_seconds();
        assert!(cost > 0.0 && cost < 1e-3, "{cost}");
    }
}
