//! What the validity checks said, gathered by threat.

use model::{Fact, Status, Threat};
use serde::Serialize;
use std::collections::BTreeMap;

/// One threat, over all runs (or blocks) where it was looked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// What was looked at.
    pub threat: Threat,
    /// The worst that was found.
    pub status: Status,
    /// How often each status was found.
    pub counts: BTreeMap<Status, usize>,
    /// The evidence of the worst, by name.
    pub evidence: BTreeMap<String, Fact>,
    /// The machine on which that was seen; none where it is about the block or the study.
    pub machine: Option<String>,
    /// The round in which that was seen; none where it is about the study.
    pub round: Option<u32>,
}
