//! What the validity checks said, gathered by threat.

use model::{Check, Fact, Status, Threat};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One threat, over all runs (or blocks) where it was looked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckReport {
    /// What was looked at.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::threat"))]
    pub threat: Threat,
    /// The worst that was found.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::status"))]
    pub status: Status,
    /// How often each status was found.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::counts"))]
    pub counts: BTreeMap<Status, usize>,
    /// The evidence of the worst, by name.
    #[cfg_attr(test, schemars(schema_with = "crate::schema_types::evidence"))]
    pub evidence: BTreeMap<String, Fact>,
    /// The machine on which that was seen; none where it is about the block or the study.
    pub machine: Option<String>,
    /// The round in which that was seen; none where it is about the study.
    pub round: Option<u32>,
}

/// A check and where it was made.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub check: &'a Check,
    pub machine: Option<&'a str>,
    pub round: Option<u32>,
}

/// One report for each threat and machine, the worst first. Of equally bad ones the first gives its evidence.
pub(super) fn gather<'a>(all: impl IntoIterator<Item = Seen<'a>>) -> Vec<CheckReport> {
    let mut found: BTreeMap<(Threat, Option<&str>), Vec<Seen<'a>>> = BTreeMap::new();
    for seen in all {
        found.entry((seen.check.threat, seen.machine)).or_default().push(seen);
    }
    let mut reports: Vec<CheckReport> = found.into_values().filter_map(|alike| report(&alike)).collect();
    reports.sort_by_key(|report| Reverse(report.status));
    reports
}

/// Checks of the study as a whole.
pub(super) fn of_study(checks: &[Check]) -> Vec<CheckReport> {
    gather(checks.iter().map(|check| Seen { check, machine: None, round: None }))
}

/// None where there is nothing.
fn report(alike: &[Seen<'_>]) -> Option<CheckReport> {
    let mut counts = BTreeMap::new();
    for seen in alike {
        *counts.entry(seen.check.status).or_insert(0) += 1;
    }
    let worst = alike.iter().rev().max_by_key(|seen| seen.check.status)?;
    Some(CheckReport {
        threat: worst.check.threat,
        status: worst.check.status,
        counts,
        evidence: worst.check.evidence.clone(),
        machine: worst.machine.map(str::to_owned),
        round: worst.round,
    })
}
