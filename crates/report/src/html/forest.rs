//! The forest plot: one lane for each overhead, all on one axis of log cost ratios, so that "twice as slow" and "twice as
//! fast" are equally far from zero and a huge overhead of an emulated guest still fits. Horizontal places are percentages of
//! the lane's width, so that a lane fits any page without its text or dots being scaled.

use super::escape::escaped;
use super::scale::{Scale, overhead_ticks};
use super::tables::{self, Mark};
use crate::Words;
use crate::analysis::{Analysis, Flag, OverheadFigures, Strength, Verdict};
use crate::figures::{brackets, percent, signed};
use std::fmt::Write;

/// The plot.
pub(super) struct Forest {
    pub axis: String,
    pub rows: Vec<Row>,
}

/// One row.
pub(super) struct Row {
    pub label: String,
    /// The benchmark whose details tell more; none for summaries.
    pub id: Option<String>,
    pub lane: String,
    pub overhead: String,
    pub interval: String,
    pub verdict: Option<Verdict>,
    pub flags: Vec<Mark>,
}

struct Entry<'a> {
    label: String,
    id: Option<&'a str>,
    margin: f64,
    overhead: &'a OverheadFigures,
    verdict: Option<Verdict>,
    flags: &'a [Flag],
}

/// None where nothing was compared.
pub(super) fn forest(analysis: &Analysis, w: &Words) -> Option<Forest> {
    let entries = entries(analysis, w);
    // What holds for every row is said once, above.
    let all_indicative = entries.iter().all(|e| e.overhead.strength != Strength::Study);
    let scale = axis(&entries)?;
    let marks = overhead_ticks(scale.low, scale.high);
    let place = Scale::new(scale.low, scale.high, 0.0, 100.0);
    let mut axis = r#"<svg class="lane" width="100%" height="20" aria-hidden="true">"#.to_owned();
    for mark in &marks {
        let x = place.at((mark / 100.0).ln_1p());
        let anchor = if x < 6.0 {
            "start"
        } else if x > 94.0 {
            "end"
        } else {
            "middle"
        };
        let _ = write!(axis, r#"<text x="{x:.2}%" y="14" text-anchor="{anchor}">{}</text>"#, tick(*mark));
    }
    axis.push_str("</svg>");
    let rows = entries
        .iter()
        .map(|entry| Row {
            label: entry.label.clone(),
            id: entry.id.map(str::to_owned),
            lane: lane(entry, &place, &marks, w),
            overhead: percent(entry.overhead.percent),
            interval: entry.overhead.interval.as_ref().map_or(String::new(), brackets),
            verdict: entry.verdict,
            flags: tables::marks(entry.flags.iter().filter(|f| !(all_indicative && **f == Flag::Indicative)), w),
        })
        .collect();
    Some(Forest { axis, rows })
}

/// Marks are round, so most need no decimals.
fn tick(percent: f64) -> String {
    let text = signed(percent);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

fn entries<'a>(analysis: &'a Analysis, w: &Words) -> Vec<Entry<'a>> {
    let mut entries = Vec::new();
    for area in &analysis.areas {
        for benchmark in analysis.benchmarks.iter().filter(|b| b.area == area.area) {
            for comparison in benchmark.primary() {
                let Some(overhead) = &comparison.overhead else { continue };
                entries.push(Entry {
                    label: w.row(benchmark, &comparison.metric),
                    id: Some(&benchmark.id),
                    margin: area.margin_percent,
                    overhead,
                    verdict: comparison.verdict,
                    flags: &benchmark.flags,
                });
            }
        }
        if let Some(overhead) = &area.overhead {
            entries.push(Entry {
                label: w.say("all-of-area", &[("area", w.area(area.area).into())]),
                id: None,
                margin: area.margin_percent,
                overhead,
                verdict: area.verdict,
                flags: &[],
            });
        }
    }
    entries
}

struct Axis {
    low: f64,
    high: f64,
}

/// Room for all estimates, the margins, and the intervals as far as they do not dwarf the estimates.
fn axis(entries: &[Entry<'_>]) -> Option<Axis> {
    let margin = entries.iter().map(|e| e.margin / 100.0).reduce(f64::max)?.ln_1p();
    let finite = |x: &f64| x.is_finite();
    let typical = || entries.iter().map(|e| e.overhead.typical_log).filter(finite);
    let low = typical().fold(-1.6 * margin, f64::min);
    let high = typical().fold(1.6 * margin, f64::max);
    let room = high - low;
    let intervals = || entries.iter().filter_map(|e| e.overhead.interval);
    let low = intervals().map(|i| i.low_log).filter(finite).fold(low, f64::min).max(low - room);
    let high = intervals().map(|i| i.high_log).filter(finite).fold(high, f64::max).min(high + room);
    let air = 0.03 * (high - low);
    Some(Axis { low: low - air, high: high + air })
}

fn lane(entry: &Entry<'_>, place: &Scale, marks: &[f64], w: &Words) -> String {
    let overhead = entry.overhead;
    let spoken = match &overhead.interval {
        Some(interval) => w.say(
            "forest-spoken",
            &[
                ("label", entry.label.as_str().into()),
                ("overhead", percent(overhead.percent).into()),
                ("interval", w.interval(interval).into()),
            ],
        ),
        None => format!("{}: {}", entry.label, percent(overhead.percent)),
    };
    let mut svg =
        format!(r#"<svg class="lane" width="100%" height="100%" role="img" aria-label="{}">"#, escaped(&spoken));
    let edge = (entry.margin / 100.0).ln_1p();
    let (left, right) = (place.at(-edge), place.at(edge));
    let _ = write!(svg, r#"<rect class="band" x="{left:.2}%" width="{:.2}%" height="100%"/>"#, right - left);
    for mark in marks {
        let class = if *mark == 0.0 { "zero" } else { "grid" };
        let x = place.at((mark / 100.0).ln_1p());
        let _ = write!(svg, r#"<line class="{class}" x1="{x:.2}%" x2="{x:.2}%" y1="0" y2="100%"/>"#);
    }
    let kind = if entry.id.is_none() { "all" } else { "one" };
    if let Some(interval) = &overhead.interval {
        let (from, to) = (place.at(interval.low_log), place.at(interval.high_log));
        let _ = write!(svg, r#"<line class="ci {kind}" x1="{from:.2}%" x2="{to:.2}%" y1="50%" y2="50%"/>"#);
        // An arrow says that the interval goes on.
        for (end, x, tip) in [(interval.low_log, from, 6), (interval.high_log, to, -6)] {
            if !place.holds(end) {
                let _ = write!(
                    svg,
                    r#"<svg x="{x:.2}%" y="50%" overflow="visible"><path class="ci {kind}" d="M{tip},-5L0,0L{tip},5"/></svg>"#
                );
            }
        }
    }
    let x = place.at(overhead.typical_log);
    let _ = if entry.id.is_none() {
        write!(
            svg,
            r#"<svg x="{x:.2}%" y="50%" overflow="visible"><path class="dot all" d="M-7,0L0,-7L7,0L0,7Z"/></svg>"#
        )
    } else {
        write!(svg, r#"<circle class="dot" cx="{x:.2}%" cy="50%" r="4.5"/>"#)
    };
    svg.push_str("</svg>");
    svg
}
