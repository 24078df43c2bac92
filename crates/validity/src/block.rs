//! Checks that need both arms of a block.

use model::{Benchmark, Check, Limits, RunRecord};

/// The checks of a block: of its `base` arm (the host) against its `other` arm.
pub fn checks(_limits: &Limits, _benchmark: &Benchmark, _base: &RunRecord, _other: &RunRecord) -> Vec<Check> {
    Vec::new()
}
