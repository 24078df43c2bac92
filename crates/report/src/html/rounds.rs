//! Host and guest in every round, in time order, and the rounds whose block was dropped.

use super::escape::escaped;
use super::scale::{Scale, decades, ticks};
use crate::Words;
use crate::analysis::{Analysis, Attempt, BenchmarkReport, Comparison, Point, Reason};
use crate::figures::{percent, row, tick};
use model::units::{Scale as Shown, significant};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Height of the chart, pixels.
const HEIGHT: f64 = 168.0;
/// Where values begin and end, pixels from the top.
const TOP: f64 = 12.0;
const BOTTOM: f64 = 132.0;
/// Where dropped blocks stand.
const DROPPED: f64 = 143.0;
/// Where values begin and end from the left, percent.
const LEFT: f64 = 9.0;
const RIGHT: f64 = 99.0;
/// A linear axis is used while the largest value is less than so many times the smallest.
const LINEAR_UP_TO: f64 = 3.0;
/// Points are elements of their own, with their figures as tooltips, while there are no more rounds than these.
const TOOLTIPS: usize = 64;
/// Rounds that all charts and all tables of a page show together, so that it stays small.
const DRAWN: usize = 16_000;
const LISTED: usize = 2_000;
/// Units of the drawing in which many points stand, across.
const ACROSS: f64 = 10_000.0;

/// How many rounds one chart and its table may show.
#[derive(Clone, Copy)]
pub(super) struct Share {
    drawn: usize,
    listed: usize,
}

impl Share {
    pub fn of(a: &Analysis) -> Self {
        let charts = a.benchmarks.iter().map(|b| b.primary().count()).sum::<usize>().max(1);
        Share { drawn: (DRAWN / charts).clamp(TOOLTIPS, 2_000), listed: (LISTED / charts).clamp(10, 100) }
    }
}

/// A round in which a benchmark had a block.
pub(super) struct Slot {
    round: u32,
    attempt: u32,
    /// Why the block has no part in the figures, if it has none.
    why: String,
}

/// One primary metric, round by round.
pub(super) struct Chart {
    pub title: String,
    pub svg: String,
    pub dropped: bool,
    /// Said where not every round is drawn.
    pub thinned: Option<String>,
    pub rounds: Vec<RoundRow>,
    pub left_out: Option<String>,
}

/// One round of one metric.
pub(super) struct RoundRow {
    pub round: u32,
    pub attempt: u32,
    pub host: String,
    pub guest: String,
    pub overhead: String,
    pub why: String,
}

/// The rounds of a benchmark, in time order.
pub(super) fn slots(a: &Analysis, b: &BenchmarkReport, w: &Words) -> Vec<Slot> {
    let attempts = a.course.attempts.iter().filter(|t| t.used && t.order.contains(&b.id));
    let slot = |at: &Attempt| Slot { round: at.round, attempt: at.attempt, why: why(a, b, at, w) };
    attempts.map(slot).collect()
}

/// Why the block of this attempt has no part in the figures; empty where it has one.
fn why(a: &Analysis, b: &BenchmarkReport, at: &Attempt, w: &Words) -> String {
    let Some(block) = b.dropped.iter().find(|d| (d.round, d.attempt) == (at.round, at.attempt)) else {
        return String::new();
    };
    if block.reason == Reason::Rejected {
        let threats: Vec<String> = block.threats.iter().map(|threat| w.threat(*threat)).collect();
        return w.say("dropped-invalid", &[("threats", w.list(&threats).into())]);
    }
    let troubles = a.course.troubles.iter().filter(|t| t.benchmark == b.id && t.rounds.contains(&at.round));
    let failed: Vec<String> = troubles
        .map(|t| {
            w.say("dropped-failed", &[("machine", w.machine(&t.machine).into()), ("kind", w.trouble(t.kind).into())])
        })
        .collect();
    if failed.is_empty() { w.get("dropped-no-value") } else { failed.join(&w.get("comma")) }
}

/// The chart of a metric and its table; none where there is no finite value to draw.
pub(super) fn chart(
    b: &BenchmarkReport,
    comparison: &Comparison,
    slots: &[Slot],
    share: Share,
    w: &Words,
) -> Option<Chart> {
    let shown = &comparison.metric.shown;
    let points: BTreeMap<(u32, u32), &Point> = comparison.points.iter().map(|p| ((p.round, p.attempt), p)).collect();
    let all: Vec<(&Slot, Option<&Point>)> =
        slots.iter().map(|slot| (slot, points.get(&(slot.round, slot.attempt)).copied())).collect();
    let every = all.len().div_ceil(share.drawn).max(1);
    let drawn: Vec<(&Slot, Option<&Point>)> = all.iter().copied().step_by(every).collect();
    let name = [("metric", w.metric(b, &comparison.metric).into()), ("unit", shown.symbol.as_str().into())];
    let rounds = all.iter().take(share.listed).map(|(slot, point)| {
        let value = |of: fn(&Point) -> f64| point.map_or("–".to_owned(), |p| significant(shown.apply(of(p))));
        RoundRow {
            round: slot.round,
            attempt: slot.attempt,
            host: value(|p| p.host),
            guest: value(|p| p.guest),
            overhead: point.and_then(|p| p.log_cost_ratio).map_or("–".to_owned(), |d| percent(stats::percent(d))),
            why: if point.is_none() { slot.why.clone() } else { String::new() },
        }
    });
    let thinned =
        (every > 1).then(|| w.say("chart-thinned", &[("shown", drawn.len().into()), ("all", all.len().into())]));
    Some(Chart {
        title: w.say("chart-title", &name),
        svg: draw(&w.benchmark(&b.id, &b.title), shown, &drawn, w)?,
        dropped: all.iter().any(|(_, point)| point.is_none()),
        thinned,
        rounds: rounds.collect(),
        left_out: w.left_out(all.len().saturating_sub(share.listed)),
    })
}

fn draw(title: &str, shown: &Shown, slots: &[(&Slot, Option<&Point>)], w: &Words) -> Option<String> {
    let values = || slots.iter().filter_map(|(_, p)| *p).flat_map(|p| [shown.apply(p.host), shown.apply(p.guest)]);
    let least = values().reduce(f64::min)?;
    let most = values().reduce(f64::max)?;
    let logarithmic = least > 0.0 && most > LINEAR_UP_TO * least;
    let height = |value: f64| if logarithmic { value.ln() } else { value };
    let (low, high) = (height(least), height(most));
    // A flat series is drawn in the middle, with room for one percent about it.
    let air = (0.08 * (high - low)).max(if logarithmic { 0.01 } else { 0.005 * most.abs().max(f64::MIN_POSITIVE) });
    let y = Scale::new(low - air, high + air, BOTTOM, TOP);
    let x = Scale::new(-0.5, slots.len() as f64 - 0.5, LEFT, RIGHT);
    let marks =
        if logarithmic { decades((low - air).exp(), (high + air).exp(), 5) } else { ticks(low - air, high + air, 4) };

    let spoken = w.say("chart-spoken", &[("title", title.into()), ("unit", shown.symbol.as_str().into())]);
    let mut svg =
        format!(r#"<svg class="rounds" width="100%" height="{HEIGHT}" role="img" aria-label="{}">"#, escaped(&spoken));
    let marked = row(&marks).into_iter().map(|text| tick(&text));
    for (mark, text) in marks.iter().zip(marked) {
        let y = y.at(height(*mark));
        let _ = write!(svg, r#"<line class="grid" x1="0" x2="100%" y1="{y:.1}" y2="{y:.1}"/>"#);
        let _ = write!(svg, r#"<text x="0" y="{:.1}">{text}</text>"#, y - 3.0);
    }
    let every = slots.len().div_ceil(16).max(1);
    for (i, (slot, _)) in slots.iter().enumerate().step_by(every) {
        let x = x.at(i as f64);
        let _ = write!(svg, r#"<text class="round" x="{x:.2}%" y="{}">{}</text>"#, HEIGHT - 6.0, slot.round);
    }
    let place = |value: f64| y.at(height(shown.apply(value)));
    if slots.len() <= TOOLTIPS {
        few(&mut svg, shown, slots, &x, place, w);
    } else {
        many(&mut svg, slots, place);
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// Every point with its figure.
fn few(
    svg: &mut String,
    shown: &Shown,
    slots: &[(&Slot, Option<&Point>)],
    x: &Scale,
    place: impl Fn(f64) -> f64,
    w: &Words,
) {
    for (i, (slot, point)) in slots.iter().enumerate() {
        let x = x.at(i as f64);
        let Some(point) = point else {
            let text = w.say("chart-dropped", &[("round", slot.round.into()), ("why", slot.why.as_str().into())]);
            let _ = write!(
                svg,
                r#"<svg x="{x:.2}%" y="{DROPPED}" overflow="visible"><path class="dropped" d="M-4,-4L4,4M-4,4L4,-4"><title>{}</title></path></svg>"#,
                escaped(&text)
            );
            continue;
        };
        for (class, value) in [("host", point.host), ("guest", point.guest)] {
            let text = w.say(
                "chart-point",
                &[
                    ("round", slot.round.into()),
                    ("machine", w.machine(class).into()),
                    ("value", row(&[shown.apply(value)]).concat().into()),
                    ("unit", shown.symbol.as_str().into()),
                ],
            );
            let y = place(value);
            let text = escaped(&text);
            let _ =
                write!(svg, r#"<circle class="{class}" cx="{x:.2}%" cy="{y:.1}" r="4"><title>{text}</title></circle>"#);
        }
    }
}

/// Dots of one path for each machine: some ten bytes a point. A stroke of no length with round ends is a dot.
fn many(svg: &mut String, slots: &[(&Slot, Option<&Point>)], place: impl Fn(f64) -> f64) {
    let x = Scale::new(-0.5, slots.len() as f64 - 0.5, ACROSS * LEFT / 100.0, ACROSS * RIGHT / 100.0);
    let _ = write!(
        svg,
        r#"<svg x="0" y="0" width="100%" height="{HEIGHT}" viewBox="0 0 {ACROSS} {HEIGHT}" preserveAspectRatio="none">"#
    );
    let mut paths = [("host", String::new()), ("guest", String::new()), ("dropped", String::new())];
    for (i, (_, point)) in slots.iter().enumerate() {
        let x = x.at(i as f64);
        let mut dot = |path: usize, y: f64| {
            let _ = write!(paths[path].1, "M{x:.0} {y:.0}h0");
        };
        match point {
            Some(point) => {
                dot(0, place(point.host));
                dot(1, place(point.guest));
            }
            None => dot(2, DROPPED),
        }
    }
    for (class, path) in paths.iter().filter(|(_, path)| !path.is_empty()) {
        let _ = write!(svg, r#"<path class="dots {class}" d="{path}"/>"#);
    }
    svg.push_str("</svg>");
}
