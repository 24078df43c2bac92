//! Long studies and long series are no reason to wait: nothing here grows with the square of their length.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use vmtax_stats::{change_points, level_drop, mann_kendall, mann_whitney_p, overhead, shift};

/// Many times what it takes; all 1,250,000,000 Walsh averages of 50,000 values would take much longer.
const ENOUGH: Duration = Duration::from_secs(3);

fn timed<T>(what: &str, work: impl FnOnce() -> Option<T>) {
    let start = Instant::now();
    assert!(work().is_some(), "{what}");
    let took = start.elapsed();
    println!("{what}: {took:.1?}");
    assert!(took < ENOUGH, "{what}: {took:?}");
}

#[test]
fn fifty_thousand_values_take_less_than_three_seconds() {
    let values = |by: u64| (0..50_000_u64).map(|i| (i * i * 7919 % 100_003 + by) as f64).collect::<Vec<_>>();
    let (a, b) = (values(0), values(500));
    timed("overhead of 4,000 rounds", || overhead(&a[..4000]));
    timed("overhead of 50,000 rounds", || overhead(&a));
    timed("overhead of 100 benchmarks in 500 rounds", || a.chunks_exact(500).map(overhead).collect::<Option<Vec<_>>>());
    timed("shift between 50,000 and 50,000", || shift(&a, &b, 0.05));
    timed("rank sum of 50,000 and 50,000", || mann_whitney_p(&a, &b));
    timed("trend of 50,000", || mann_kendall(&a));
    timed("drop in 50,000", || Some(level_drop(&a, 1.0)));
    timed("changes in 50,000", || change_points(&a, 0.0, 1));
}
