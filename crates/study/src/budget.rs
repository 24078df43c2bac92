//! The time budget. The user's word for the whole study, earlier sessions included:
//!
//! * The first round begins as long as any of it is left: a study without a round says nothing.
//! * A later round begins only where it is expected to fit with a tenth to spare, so that work is rarely begun in vain.
//! * A round under way that takes longer than expected is cut at the budget once three others are complete (fewer give no
//!   interval at all), before that at one and a quarter of the budget.

/// A round begins where this many times its expected length fits into the budget.
pub const SPARE: f64 = 1.1;
/// With fewer complete rounds than this a round under way may overrun the budget.
pub const ROUNDS_BEFORE_CUT: u32 = 3;
/// By this factor of the budget.
pub const OVERTIME: f64 = 1.25;

/// True where a round that is expected to take `round` seconds may begin.
pub(crate) fn may_begin(budget: f64, elapsed: f64, complete: u32, round: f64) -> bool {
    if complete == 0 { elapsed < budget } else { elapsed + SPARE * round <= budget }
}

/// True where a round under way must be cut.
pub(crate) fn must_cut(budget: f64, elapsed: f64, complete: u32) -> bool {
    elapsed > if complete < ROUNDS_BEFORE_CUT { OVERTIME * budget } else { budget }
}
