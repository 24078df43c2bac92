//! What the reports of all kinds say of a study beside its figures: what its checks found, gathered by threat, the worst first;
//! what became of its precision.

use crate::analysis::{Analysis, BenchmarkReport, CheckReport, Comparison, PrecisionFigures};
use model::{Status, Threat};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One threat.
pub(crate) struct Finding<'a> {
    pub threat: Threat,
    /// The worst of its places.
    pub status: Status,
    /// Where it was looked for, the worst first.
    pub places: Vec<Place<'a>>,
}

/// Where a threat was looked for.
pub(crate) struct Place<'a> {
    /// The benchmark; none for the study as a whole.
    pub benchmark: Option<&'a BenchmarkReport>,
    pub check: &'a CheckReport,
}

impl Finding<'_> {
    /// The places that have this finding's status.
    pub fn worst(&self) -> impl Iterator<Item = &Place<'_>> {
        self.places.iter().filter(|place| place.check.status == self.status)
    }
}

/// Every threat that was looked for.
pub(crate) fn findings(a: &Analysis) -> Vec<Finding<'_>> {
    let of_study = a.checks.iter().map(|check| Place { benchmark: None, check });
    let of_benchmarks =
        a.benchmarks.iter().flat_map(|b| b.checks.iter().map(move |check| Place { benchmark: Some(b), check }));
    let mut by_threat: BTreeMap<Threat, Vec<Place<'_>>> = BTreeMap::new();
    for place in of_study.chain(of_benchmarks) {
        by_threat.entry(place.check.threat).or_default().push(place);
    }
    let mut findings: Vec<Finding<'_>> = by_threat
        .into_iter()
        .map(|(threat, mut places)| {
            places.sort_by_key(|place| Reverse(place.check.status));
            let status = places.first().map_or(Status::Unknown, |place| place.check.status);
            Finding { threat, status, places }
        })
        .collect();
    findings.sort_by_key(|finding| Reverse(finding.status));
    findings
}

/// Blocks that were dropped, and all blocks.
pub(crate) fn dropped(a: &Analysis) -> [usize; 2] {
    let dropped = a.benchmarks.iter().map(|b| b.blocks_dropped).sum();
    [dropped, dropped + a.benchmarks.iter().map(|b| b.blocks).sum::<usize>()]
}

/// The primary metrics that have a precision, with their benchmarks; not those whose figures are INVALID anyway.
pub(crate) fn precisions(a: &Analysis) -> Vec<(&BenchmarkReport, &Comparison, PrecisionFigures)> {
    let of = |b| BenchmarkReport::primary(b).filter_map(move |c| Some((b, c, c.precision?)));
    a.benchmarks.iter().filter(|b| !b.invalid).flat_map(of).collect()
}
