//! Differences of counters that may be absent. Never negative: a counter that runs backwards was set back, or belongs to something else now.

/// What was added, seconds.
pub fn seconds(from: Option<f64>, to: Option<f64>) -> Option<f64> {
    from.zip(to).map(|(from, to)| (to - from).max(0.0))
}

/// What was added, a number of events.
pub fn count(from: Option<u64>, to: Option<u64>) -> Option<u64> {
    from.zip(to).map(|(from, to)| to.saturating_sub(from))
}
