//! Rows of the page's tables, as text.

use crate::analysis::{Analysis, Arm, BenchmarkReport, Comparison, Flag, OverheadFigures, Strength, Verdict};
use crate::figures::{brackets, percent, percent_unsigned, shell};
use model::quantity::show_size;
use model::units::significant;

/// Rounds of one benchmark that its table shows.
const ROUNDS: usize = 100;
/// Attempts and kinds of failures that their tables show.
const LINES: usize = 200;

/// One metric of one benchmark.
pub(super) struct MetricRow {
    pub id: String,
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

/// Everything about one benchmark.
pub(super) struct Detail {
    pub id: String,
    pub title: String,
    pub doc: String,
    pub blocks: usize,
    pub blocks_dropped: usize,
    pub flags: Vec<Mark>,
    pub remarks: Vec<(String, usize)>,
    pub charts: Vec<Chart>,
    pub metrics: Vec<MetricRow>,
    pub facts: Vec<(&'static str, String)>,
    pub commands: Vec<(String, String)>,
}

/// A flag.
pub(super) struct Mark {
    pub name: &'static str,
    pub text: String,
    /// True where the figure does not mean what its row says.
    pub grave: bool,
}

/// One primary metric, round by round.
pub(super) struct Chart {
    pub title: String,
    pub unit: String,
    pub svg: String,
    pub rounds: Vec<RoundRow>,
    pub left_out: usize,
}

/// One round of one metric.
pub(super) struct RoundRow {
    pub round: u32,
    pub attempt: u32,
    pub host: String,
    pub guest: String,
    pub overhead: String,
}

/// One attempt at a round.
pub(super) struct AttemptRow {
    pub round: u32,
    pub attempt: u32,
    pub state: &'static str,
    pub order: String,
    pub why: String,
}

/// Runs that gave no value.
pub(super) struct TroubleRow {
    pub benchmark: String,
    pub machine: String,
    pub kind: &'static str,
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

pub(super) fn marks<'a>(flags: impl IntoIterator<Item = &'a Flag>) -> Vec<Mark> {
    let mark = |flag: &Flag| Mark { name: flag.name(), text: flag.text(), grave: flag.refuses() };
    flags.into_iter().map(mark).collect()
}

pub(super) fn metrics(a: &Analysis) -> Vec<MetricRow> {
    a.benchmarks.iter().flat_map(|b| b.metrics.iter().map(|c| metric(b, c))).collect()
}

fn metric(benchmark: &BenchmarkReport, comparison: &Comparison) -> MetricRow {
    let shown = &comparison.metric.shown;
    let value = |arm: &Arm| significant(shown.apply(arm.median));
    let spread = |arm: &Arm| arm.robust_cv.map_or(String::new(), |cv| format!("± {}", percent_unsigned(100.0 * cv)));
    let o = comparison.overhead.as_ref();
    let of = |figure: fn(&OverheadFigures) -> Option<String>| o.and_then(figure).unwrap_or_else(|| "–".to_owned());
    MetricRow {
        id: benchmark.id.clone(),
        benchmark: benchmark.title.clone(),
        metric: comparison.metric.title.clone(),
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

pub(super) fn details(a: &Analysis) -> Vec<Detail> {
    a.benchmarks.iter().map(|b| detail(a, b)).collect()
}

fn detail(a: &Analysis, b: &BenchmarkReport) -> Detail {
    let doc = a.manifest.benchmarks.iter().find(|d| d.id == b.id).map_or(String::new(), |d| d.doc.clone());
    Detail {
        id: b.id.clone(),
        title: b.title.clone(),
        doc,
        blocks: b.blocks,
        blocks_dropped: b.blocks_dropped,
        flags: marks(&b.flags),
        remarks: b.remarks.iter().map(|(text, runs)| (text.clone(), *runs)).collect(),
        charts: b.primary().filter_map(|c| chart(b, c)).collect(),
        metrics: b.metrics.iter().map(|c| metric(b, c)).collect(),
        facts: facts(a, b),
        commands: b.commands.iter().map(|(machine, argv)| (machine.clone(), shell(argv))).collect(),
    }
}

fn chart(benchmark: &BenchmarkReport, comparison: &Comparison) -> Option<Chart> {
    let shown = &comparison.metric.shown;
    let rounds = comparison.points.iter().take(ROUNDS).map(|p| RoundRow {
        round: p.round,
        attempt: p.attempt,
        host: significant(shown.apply(p.host)),
        guest: significant(shown.apply(p.guest)),
        overhead: p.log_cost_ratio.map_or("–".to_owned(), |d| percent(stats::percent(d))),
    });
    Some(Chart {
        title: comparison.metric.title.clone(),
        unit: shown.symbol.clone(),
        svg: super::rounds::chart(&benchmark.title, comparison)?,
        rounds: rounds.collect(),
        left_out: comparison.points.len().saturating_sub(ROUNDS),
    })
}

/// What is known beside the metrics.
fn facts(a: &Analysis, b: &BenchmarkReport) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(cell) = a.manifest.plan.cell(&b.id).filter(|cell| !cell.params.0.is_empty()) {
        let params: Vec<String> = cell.params.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        facts.push(("Parameters", params.join(" ")));
    }
    if let Some(score) = &b.cpu_score
        && let Some(metric) = b.metrics.iter().find(|c| c.metric.id == score.metric)
    {
        let shown = &metric.metric.shown;
        let overhead = score.overhead.map_or(String::new(), |o| {
            format!("; overhead {} {}", percent(o.percent), o.interval.as_ref().map_or(String::new(), brackets))
        });
        let symbol = shown.symbol.trim_end_matches("/s");
        facts.push((
            "Score per CPU-second",
            format!(
                "host {}, guest {} {symbol} by the CPU time that each machine counts itself{overhead}",
                significant(shown.apply(score.host.median)),
                significant(shown.apply(score.guest.median)),
            ),
        ));
    }
    if let Some(cost) = &b.host_cost {
        facts.push((
            "QEMU",
            format!(
                "at most {} resident, {} context switches for {}",
                show_size(cost.guest.resident_bytes),
                significant(cost.guest.context_switches),
                cost.work.title
            ),
        ));
    }
    if !b.steal.is_empty() {
        let shares = b.steal.iter().map(|(machine, s)| {
            format!(
                "{machine} {} ({} in the worst run)",
                percent_unsigned(100.0 * s.mean),
                percent_unsigned(100.0 * s.worst)
            )
        });
        facts.push(("CPU time stolen", shares.collect::<Vec<_>>().join(", ")));
    }
    facts
}

/// The attempts that are shown, and how many are not.
pub(super) fn attempts(a: &Analysis) -> (Vec<AttemptRow>, usize) {
    let rows = a.course.attempts.iter().take(LINES).map(|attempt| AttemptRow {
        round: attempt.round,
        attempt: attempt.attempt,
        state: match (attempt.used, attempt.complete) {
            (true, _) => "used",
            (false, true) => "repeated since",
            (false, false) => "not used",
        },
        order: attempt.order.join(", "),
        why: attempt.why.clone().unwrap_or_default(),
    });
    (rows.collect(), a.course.attempts.len().saturating_sub(LINES))
}

/// The troubles that are shown, and how many are not.
pub(super) fn troubles(a: &Analysis) -> (Vec<TroubleRow>, usize) {
    let rows = a.course.troubles.iter().take(LINES).map(|t| TroubleRow {
        benchmark: t.benchmark.clone(),
        machine: t.machine.clone(),
        kind: t.kind.word(),
        runs: t.runs,
        rounds: t.rounds.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        why: t.why.clone(),
    });
    (rows.collect(), a.course.troubles.len().saturating_sub(LINES))
}

/// Everything whose bits took part.
pub(super) fn files(a: &Analysis) -> Vec<FileRow> {
    let manifest = &a.manifest;
    let row = |role: &str, what: &str, path: &str, sha256: &str| FileRow {
        role: role.to_owned(),
        what: what.to_owned(),
        path: path.to_owned(),
        sha256: sha256.to_owned(),
    };
    let mut rows = vec![
        row("vmtax", &manifest.vmtax, "", &manifest.build),
        row("Guest kernel", &manifest.kernel.what, &manifest.kernel.path, &manifest.kernel.sha256),
    ];
    rows.extend(manifest.toolbox.iter().map(|t| row("Toolbox", &t.what, &t.path, &t.sha256)));
    rows.extend(manifest.tools.iter().map(|t| row(&t.name, &t.version, &t.path, &t.sha256)));
    rows
}
