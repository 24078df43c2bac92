//! Everything about one benchmark.

use super::rounds::{self, Chart};
use super::tables::{self, Mark, MetricRow};
use super::validity::{self, PlaceRow};
use crate::Words;
use crate::analysis::{Analysis, BenchmarkReport};
use crate::figures::{brackets, percent, percent_unsigned, plus_minus, shell};
use model::quantity::show_size;
use model::units::significant;

/// Looks that the table of a benchmark shows, the last ones.
const LOOKS: usize = 24;

/// One benchmark.
pub(super) struct Detail {
    pub id: String,
    pub title: String,
    pub doc: String,
    pub used: String,
    pub flags: Vec<Mark>,
    pub remarks: Vec<(String, String)>,
    pub checks: Vec<PlaceRow>,
    pub charts: Vec<Chart>,
    pub precisions: Vec<String>,
    pub looks: Vec<LookRow>,
    pub looks_left_out: Option<String>,
    pub metrics: Vec<MetricRow>,
    pub facts: Vec<(String, String)>,
    pub commands: Vec<(String, String)>,
}

/// One look at one metric.
pub(super) struct LookRow {
    pub round: u32,
    pub metric: String,
    pub blocks: usize,
    pub overhead: String,
    pub half_width: String,
    pub target: String,
    pub decision: String,
    pub forecast: String,
}

pub(super) fn details(a: &Analysis, w: &Words) -> Vec<Detail> {
    let share = rounds::Share::of(a);
    a.benchmarks.iter().map(|b| detail(a, b, w, share)).collect()
}

fn detail(a: &Analysis, b: &BenchmarkReport, w: &Words, share: rounds::Share) -> Detail {
    let doc = a.manifest.benchmarks.iter().find(|d| d.id == b.id).map_or("", |d| d.doc.as_str());
    let slots = rounds::slots(a, b, w);
    Detail {
        id: b.id.clone(),
        title: w.benchmark(&b.id, &b.title),
        doc: w.named("bench", &format!("{}-doc", b.id), doc),
        used: w.say("blocks-used", &[("used", b.blocks.into()), ("all", (b.blocks + b.blocks_dropped).into())]),
        flags: tables::marks(&b.flags, w),
        remarks: b.remarks.iter().map(|(text, runs)| (text.clone(), w.count("count-runs", *runs))).collect(),
        checks: b
            .checks
            .iter()
            .filter(|c| c.status >= model::Status::Warn)
            .map(|c| validity::row(None, c, w))
            .collect(),
        charts: b.primary().filter_map(|c| rounds::chart(b, c, &slots, share, w)).collect(),
        precisions: precisions(b, w),
        looks: looks(b, w),
        looks_left_out: w.left_out(b.looks.len().saturating_sub(LOOKS)),
        metrics: b.metrics.iter().map(|c| tables::metric(b, c, w)).collect(),
        facts: facts(a, b, w),
        commands: b.commands.iter().map(|(machine, argv)| (w.machine(machine), shell(argv))).collect(),
    }
}

fn precisions(b: &BenchmarkReport, w: &Words) -> Vec<String> {
    let said = b.primary().filter_map(|c| {
        let precision = c.precision?;
        let key = match (precision.reached, precision.forecast) {
            (true, _) => "detail-precise",
            (false, Some(_)) => "detail-forecast",
            (false, None) => "detail-imprecise",
        };
        Some(w.say(
            key,
            &[
                ("metric", w.metric(b, &c.metric).into()),
                ("half", plus_minus(precision.half_width_percent).into()),
                ("target", plus_minus(precision.target_percent).into()),
                ("rounds", c.points.len().into()),
                ("forecast", precision.forecast.unwrap_or_default().into()),
            ],
        ))
    });
    said.collect()
}

fn looks(b: &BenchmarkReport, w: &Words) -> Vec<LookRow> {
    let last = b.looks.iter().skip(b.looks.len().saturating_sub(LOOKS));
    let rows = last.map(|look| LookRow {
        round: look.round,
        metric: b
            .metrics
            .iter()
            .find(|c| c.metric.id == look.metric)
            .map_or_else(|| look.metric.clone(), |c| w.metric(b, &c.metric)),
        blocks: look.blocks,
        overhead: percent(stats::percent(look.typical_log)),
        half_width: plus_minus(stats::percent(look.half_width_log)),
        target: plus_minus(stats::percent(look.target_log)),
        decision: w.decision(look.decision),
        forecast: look.forecast.map_or("–".to_owned(), |n| n.to_string()),
    });
    rows.collect()
}

/// What is known beside the metrics.
fn facts(a: &Analysis, b: &BenchmarkReport, w: &Words) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(cell) = a.manifest.plan.cell(&b.id).filter(|cell| !cell.params.0.is_empty()) {
        let params: Vec<String> = cell.params.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        facts.push((w.get("detail-parameters"), params.join(" ")));
    }
    if let Some(score) = &b.cpu_score
        && let Some(metric) = b.metrics.iter().find(|c| c.metric.id == score.metric)
    {
        let shown = &metric.metric.shown;
        let mut text = w.say(
            "detail-score-text",
            &[
                ("host", significant(shown.apply(score.host.median)).into()),
                ("guest", significant(shown.apply(score.guest.median)).into()),
                ("unit", shown.symbol.trim_end_matches("/s").into()),
            ],
        );
        if let Some(o) = score.overhead {
            let interval = o.interval.as_ref().map_or(String::new(), brackets);
            text.push_str(&w.get("semicolon"));
            text.push_str(&w.say(
                "detail-score-overhead",
                &[("overhead", percent(o.percent).into()), ("interval", interval.into())],
            ));
        }
        facts.push((w.get("detail-score"), text));
    }
    if let Some(cost) = &b.host_cost {
        let text = w.say(
            "detail-qemu",
            &[
                ("resident", show_size(cost.guest.resident_bytes).into()),
                ("switches", significant(cost.guest.context_switches).into()),
                ("work", w.work(&cost.work).into()),
            ],
        );
        facts.push(("QEMU".to_owned(), text));
    }
    if !b.steal.is_empty() {
        let shares = b.steal.iter().map(|(machine, s)| {
            w.say(
                "detail-steal-machine",
                &[
                    ("machine", w.machine(machine).into()),
                    ("mean", percent_unsigned(100.0 * s.mean).into()),
                    ("worst", percent_unsigned(100.0 * s.worst).into()),
                ],
            )
        });
        facts.push((w.get("detail-steal"), shares.collect::<Vec<_>>().join(&w.get("comma"))));
    }
    facts
}
