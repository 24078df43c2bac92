//! What the checks found: status, evidence, what to do.

use crate::Words;
use crate::analysis::{Analysis, BenchmarkReport, CheckReport};
use crate::findings::{Finding, dropped, findings};
use model::Status;

/// Places of one threat that are listed.
const PLACES: usize = 6;

/// The section.
pub(super) struct Validity {
    /// INVALID and WARN.
    pub grave: Vec<Threat>,
    /// UNKNOWN and PASS.
    pub quiet: Vec<Threat>,
    pub passed: usize,
    pub unknown: usize,
    /// How many blocks were dropped.
    pub dropped: Option<String>,
}

/// One threat.
pub(super) struct Threat {
    pub key: &'static str,
    pub title: String,
    pub status: &'static str,
    pub class: &'static str,
    pub advice: Option<String>,
    pub places: Vec<PlaceRow>,
    pub left_out: Option<String>,
}

/// One place where it was looked for.
pub(super) struct PlaceRow {
    pub title: String,
    pub place: String,
    pub status: &'static str,
    pub class: &'static str,
    pub evidence: String,
    pub counts: String,
}

impl Validity {
    pub fn new(a: &Analysis, w: &Words) -> Self {
        let found = findings(a);
        let count = |status| found.iter().filter(|f| f.status == status).count();
        let [lost, all] = dropped(a);
        let of =
            |grave: bool| found.iter().filter(|f| (f.status >= Status::Warn) == grave).map(|f| threat(f, w)).collect();
        Validity {
            passed: count(Status::Pass),
            unknown: count(Status::Unknown),
            grave: of(true),
            quiet: of(false),
            dropped: (lost > 0).then(|| w.say("blocks-dropped", &[("dropped", lost.into()), ("all", all.into())])),
        }
    }

    /// True where there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.grave.is_empty() && self.quiet.is_empty() && self.dropped.is_none()
    }
}

fn threat(finding: &Finding<'_>, w: &Words) -> Threat {
    // Of a grave threat, the lesser places are told too; of one that passed everywhere, one place says enough.
    let told = |status: Status| status >= Status::Warn;
    let few = if told(finding.status) { usize::MAX } else { 1 };
    let grave = finding.places.iter().filter(|place| told(place.check.status) || !told(finding.status)).take(few);
    let places: Vec<PlaceRow> = grave.map(|place| row(place.benchmark, place.check, w)).collect();
    let left_out = w.left_out(places.len().saturating_sub(PLACES));
    Threat {
        key: finding.threat.key(),
        title: w.threat(finding.threat),
        status: finding.status.word(),
        class: class(finding.status),
        advice: w.advice(finding.threat),
        places: places.into_iter().take(PLACES).collect(),
        left_out,
    }
}

/// One check in one place; `benchmark` where that is not said by where the row stands.
pub(super) fn row(benchmark: Option<&BenchmarkReport>, check: &CheckReport, w: &Words) -> PlaceRow {
    let mut place: Vec<String> = benchmark.map(|b| w.benchmark(&b.id, &b.title)).into_iter().collect();
    place.extend(check.machine.as_deref().map(|machine| w.machine(machine)));
    place.extend(check.round.map(|round| w.say("in-round", &[("round", round.into())])));
    let counts = check.counts.iter().rev().map(|(status, n)| format!("{n} {}", status.word()));
    PlaceRow {
        title: w.threat(check.threat),
        place: if place.is_empty() { w.get("whole-study") } else { place.join(" · ") },
        status: check.status.word(),
        class: class(check.status),
        evidence: w.evidence(check),
        counts: counts.collect::<Vec<_>>().join(", "),
    }
}

fn class(status: Status) -> &'static str {
    match status {
        Status::Pass => "good",
        Status::Unknown => "open",
        Status::Warn => "warn",
        Status::Invalid => "bad",
    }
}
