//! Rows of the page's tables, as text.

use crate::Words;
use crate::analysis::{Analysis, Arm, BenchmarkReport, Comparison, Flag, OverheadFigures, Strength, Verdict};
use crate::figures::{brackets, percent, percent_unsigned};
use model::units::significant;

/// Attempts and kinds of failures that their tables show.
const ATTEMPTS: usize = 64;
const TROUBLES: usize = 100;
/// Rounds of one trouble that are named.
const ROUNDS: usize = 24;

/// One metric of one benchmark.
pub(super) struct MetricRow {
    pub id: String,
    pub metric_id: String,
    pub benchmark: String,
    pub metric: String,
    pub primary: bool,
    pub unit: String,
    pub host: String,
    pub host_spread: String,
    pub guest: String,
    pub guest_spread: String,
    pub overhead: String,
    pub interval: String,
    pub mean: String,
    pub mean_interval: String,
    pub of_host: String,
    pub loss: String,
    pub rounds: usize,
    pub verdict: Option<Verdict>,
    pub point_only: bool,
}

/// A flag.
pub(super) struct Mark {
    pub name: String,
    pub text: String,
    /// True where the figure does not mean what its row says.
    pub grave: bool,
}

/// One attempt at a round.
pub(super) struct AttemptRow {
    pub round: u32,
    pub attempt: u32,
    pub state: String,
    pub order: String,
    pub why: String,
}

/// Runs that gave no value.
pub(super) struct TroubleRow {
    pub benchmark: String,
    pub machine: String,
    pub kind: String,
    pub runs: usize,
    pub rounds: String,
    pub why: String,
}

/// A file that took part.
pub(super) struct FileRow {
    pub role: String,
    pub what: String,
    pub path: String,
    pub sha256: String,
}

/// A setting, asked for and seen.
pub(super) struct SettingRow {
    pub key: String,
    pub title: String,
    pub asked: String,
    pub observed: String,
    pub in_effect: Option<bool>,
}

pub(super) fn marks<'a>(flags: impl IntoIterator<Item = &'a Flag>, w: &Words) -> Vec<Mark> {
    let mark = |flag: &Flag| Mark { name: flag.name(w), text: flag.text(w), grave: flag.refuses() };
    flags.into_iter().map(mark).collect()
}

pub(super) fn metrics(a: &Analysis, w: &Words) -> Vec<MetricRow> {
    a.benchmarks.iter().flat_map(|b| b.metrics.iter().map(|c| metric(b, c, w))).collect()
}

pub(super) fn metric(benchmark: &BenchmarkReport, comparison: &Comparison, w: &Words) -> MetricRow {
    let shown = &comparison.metric.shown;
    let value = |arm: &Arm| significant(shown.apply(arm.median));
    let spread = |arm: &Arm| arm.robust_cv.map_or(String::new(), |cv| format!("± {}", percent_unsigned(100.0 * cv)));
    let o = comparison.overhead.as_ref();
    let of = |figure: fn(&OverheadFigures) -> Option<String>| o.and_then(figure).unwrap_or_else(|| "–".to_owned());
    MetricRow {
        id: benchmark.id.clone(),
        metric_id: comparison.metric.id.clone(),
        benchmark: w.benchmark(&benchmark.id, &benchmark.title),
        metric: w.metric(benchmark, &comparison.metric),
        primary: comparison.metric.primary,
        unit: shown.symbol.clone(),
        host: value(&comparison.host),
        host_spread: spread(&comparison.host),
        guest: value(&comparison.guest),
        guest_spread: spread(&comparison.guest),
        overhead: of(|o| Some(percent(o.percent))),
        interval: of(|o| o.interval.as_ref().map(brackets)),
        mean: of(|o| o.geometric_mean_percent.map(percent)),
        mean_interval: of(|o| o.geometric_mean_interval.as_ref().map(brackets)),
        of_host: of(|o| o.of_host_percent.map(percent_unsigned)),
        loss: of(|o| o.loss_percent.map(|loss| percent(loss).trim_start_matches('+').to_owned())),
        rounds: comparison.points.len(),
        verdict: comparison.verdict,
        point_only: o.is_some_and(|o| o.strength == Strength::PointOnly),
    }
}

/// The attempts that are shown, and how many are not.
pub(super) fn attempts(a: &Analysis, w: &Words) -> (Vec<AttemptRow>, Option<String>) {
    let rows = a.course.attempts.iter().take(ATTEMPTS).map(|attempt| AttemptRow {
        round: attempt.round,
        attempt: attempt.attempt,
        state: w.get(match (attempt.used, attempt.complete) {
            (true, _) => "attempt-used",
            (false, true) => "attempt-repeated",
            (false, false) => "attempt-not-used",
        }),
        order: attempt.order.join(", "),
        why: attempt.why.clone().unwrap_or_default(),
    });
    (rows.collect(), w.left_out(a.course.attempts.len().saturating_sub(ATTEMPTS)))
}

/// The troubles that are shown, and how many are not.
pub(super) fn troubles(a: &Analysis, w: &Words) -> (Vec<TroubleRow>, Option<String>) {
    let rows = a.course.troubles.iter().take(TROUBLES).map(|t| TroubleRow {
        benchmark: t.benchmark.clone(),
        machine: w.machine(&t.machine),
        kind: w.trouble(t.kind),
        runs: t.runs,
        rounds: rounds(&t.rounds),
        why: t.why.clone(),
    });
    (rows.collect(), w.left_out(a.course.troubles.len().saturating_sub(TROUBLES)))
}

fn rounds(rounds: &[u32]) -> String {
    let mut named: Vec<String> = rounds.iter().take(ROUNDS).map(u32::to_string).collect();
    named.extend((rounds.len() > ROUNDS).then(|| "…".to_owned()));
    named.join(", ")
}

/// Settings asked for and seen in effect.
pub(super) fn settings(a: &Analysis, w: &Words) -> Vec<SettingRow> {
    let row = |s: &crate::analysis::SettingCheck| SettingRow {
        title: w.named("setting", &s.key, ""),
        key: s.key.clone(),
        asked: s.asked.clone(),
        observed: s.observed.clone().unwrap_or_else(|| "–".to_owned()),
        in_effect: s.in_effect,
    };
    a.settings.iter().map(row).collect()
}

/// Everything whose bits took part.
pub(super) fn files(a: &Analysis, w: &Words) -> Vec<FileRow> {
    let manifest = &a.manifest;
    let row = |role: &str, what: &str, path: &str, sha256: &str| FileRow {
        role: role.to_owned(),
        what: what.to_owned(),
        path: path.to_owned(),
        sha256: sha256.to_owned(),
    };
    let mut rows = vec![
        row("vmtax", &manifest.vmtax, "", &manifest.build),
        row(&w.get("files-kernel"), &manifest.kernel.what, &manifest.kernel.path, &manifest.kernel.sha256),
    ];
    rows.extend(manifest.toolbox.iter().map(|t| row(&w.get("files-toolbox"), &t.what, &t.path, &t.sha256)));
    rows.extend(manifest.tools.iter().map(|t| row(&t.name, &t.version, &t.path, &t.sha256)));
    rows
}
