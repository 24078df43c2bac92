//! Latency distributions: all operations of all used runs pooled, host against guest, on logarithmic axes in both
//! directions: percentiles by the number of nines, so that the tail gets the room that it deserves.

use super::escape::escaped;
use super::scale::{Scale, decades};
use crate::Words;
use crate::analysis::{Analysis, BenchmarkReport, Distribution, LatencyReport, Percentile};
use crate::figures::{brackets, factor, percent, tick, times};
use model::record::{GUEST, HOST};
use model::units::significant;
use std::fmt::Write;

/// Benchmarks whose latencies are drawn, and points of one curve.
const DRAWN: usize = 24;
const POINTS: usize = 240;
/// Height of the chart, pixels.
const HEIGHT: f64 = 200.0;
/// Where latencies begin and end, pixels from the top.
const TOP: f64 = 12.0;
const BOTTOM: f64 = 172.0;
/// Where percentiles begin and end, percent of the width.
const LEFT: f64 = 9.0;
const RIGHT: f64 = 98.0;
/// Units of the drawing in which curves stand, across.
const ACROSS: f64 = 10_000.0;

/// One benchmark.
pub(super) struct Section {
    pub id: String,
    pub title: String,
    pub svg: Option<String>,
    pub pooled: String,
    pub rows: Vec<Row>,
    pub notes: Vec<String>,
}

/// One percentile.
pub(super) struct Row {
    pub percent: String,
    pub host: String,
    pub host_interval: String,
    pub guest: String,
    pub guest_interval: String,
    pub unit: &'static str,
    pub ratio: String,
    pub typical: String,
    pub typical_interval: String,
}

/// The benchmarks with latencies, and how many are not shown.
pub(super) fn sections(a: &Analysis, w: &Words) -> (Vec<Section>, Option<String>) {
    let all: Vec<_> = a.benchmarks.iter().filter_map(|b| Some((b, b.latency.as_ref()?))).collect();
    (
        all.iter().take(DRAWN).map(|(b, latency)| section(b, latency, w)).collect(),
        w.left_out(all.len().saturating_sub(DRAWN)),
    )
}

fn section(b: &BenchmarkReport, latency: &LatencyReport, w: &Words) -> Section {
    let mut machines: Vec<(&String, &Distribution)> = latency.machines.iter().collect();
    machines.sort_by_key(|(name, _)| name.as_str() != HOST);
    let operations = machines.iter().map(|(name, d)| {
        w.say(
            "latency-operations",
            &[
                ("machine", w.machine(name).into()),
                ("operations", significant_whole(d.operations).into()),
                ("runs", w.count("count-runs", d.runs).into()),
            ],
        )
    });
    let pooled = operations.collect::<Vec<_>>().join(&w.get("semicolon"));
    let mut notes: Vec<String> = machines
        .iter()
        .filter(|(_, d)| d.saturated)
        .map(|(name, _)| w.say("latency-saturated", &[("machine", w.machine(name).into())]))
        .collect();
    if !latency.missing.is_empty() {
        notes.push(w.say(
            "latency-missing",
            &[("n", latency.missing.len().into()), ("first", latency.missing[0].as_str().into())],
        ));
    }
    let title = w.benchmark(&b.id, &b.title);
    Section { svg: draw(&title, &machines, w), rows: rows(b, latency, w), id: b.id.clone(), title, pooled, notes }
}

/// A count with separators.
fn significant_whole(n: u64) -> String {
    if n < 1000 { n.to_string() } else { significant(n as f64) }
}

fn rows(b: &BenchmarkReport, latency: &LatencyReport, w: &Words) -> Vec<Row> {
    let of = |machine: &str| latency.machines.get(machine).map_or(&[][..], |d| d.percentiles.as_slice());
    let mut percents: Vec<f64> = of(HOST).iter().chain(of(GUEST)).map(|p| p.percent).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    let row = |of_hundred: f64| {
        let at = |machine: &str| of(machine).iter().find(|p| p.percent == of_hundred);
        let (host, guest) = (at(HOST), at(GUEST));
        let ends = |p: Option<&Percentile>| p.and_then(|p| p.interval_seconds).unwrap_or([f64::NAN; 2]);
        let seconds = |p: Option<&Percentile>| p.map_or(f64::NAN, |p| p.seconds);
        let ([host_low, host_high], [guest_low, guest_high]) = (ends(host), ends(guest));
        let (shown, unit) = times(&[seconds(host), host_low, host_high, seconds(guest), guest_low, guest_high]);
        let interval = |low: usize| {
            if shown[low] == "–" { String::new() } else { format!("[{}, {}]", shown[low], shown[low + 1]) }
        };
        let typical = b.metrics.iter().find(|c| percentile_of(&c.metric.id) == Some(of_hundred));
        let typical = typical.and_then(|c| c.overhead);
        Row {
            percent: w.say("latency-percentile", &[("percent", trimmed(of_hundred).into())]),
            host: shown[0].clone(),
            host_interval: interval(1),
            guest: shown[3].clone(),
            guest_interval: interval(4),
            unit,
            ratio: host
                .zip(guest)
                .filter(|(h, _)| h.seconds > 0.0)
                .map_or("–".to_owned(), |(h, g)| factor(g.seconds / h.seconds)),
            typical: typical.map_or("–".to_owned(), |o| percent(o.percent)),
            typical_interval: typical.and_then(|o| o.interval).map_or(String::new(), |i| brackets(&i)),
        }
    };
    percents.into_iter().map(row).collect()
}

fn trimmed(percent: f64) -> String {
    let text = format!("{percent:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The percentile that a metric's id names: `latency-p50`, `latency-p99-9` (or `latency-p999`).
fn percentile_of(id: &str) -> Option<f64> {
    let digits = id.strip_prefix("latency-p")?.replace(['-', '_'], ".");
    let dotted = if digits.contains('.') || digits.len() <= 2 {
        digits
    } else {
        format!("{}.{}", digits.get(..2)?, digits.get(2..)?)
    };
    dotted.parse().ok().filter(|p| (0.0..100.0).contains(p))
}

/// Nines: 90 % is 1, 99 % is 2.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn draw(title: &str, machines: &[(&String, &Distribution)], w: &Words) -> Option<String> {
    let curves =
        || machines.iter().flat_map(|(_, d)| &d.curve).filter(|[seconds, _]| *seconds > 0.0 && seconds.is_finite());
    let least = curves().map(|p| p[0]).reduce(f64::min)?;
    let most = curves().map(|p| p[0]).reduce(f64::max)?;
    // The curve goes as far as percentiles are given, and a little further.
    let told = machines.iter().flat_map(|(_, d)| &d.percentiles).map(|p| nines(p.percent / 100.0));
    let far = told.filter(|n| n.is_finite()).fold(2.0, f64::max) + 0.3;
    let x = Scale::new(0.0, far, LEFT, RIGHT);
    let air = (0.04 * (most / least).ln()).max(0.02);
    let y = Scale::new(least.ln() - air, most.ln() + air, BOTTOM, TOP);
    let spoken = w.say("latency-spoken", &[("title", title.into())]);
    let mut svg =
        format!(r#"<svg class="latency" width="100%" height="{HEIGHT}" role="img" aria-label="{}">"#, escaped(&spoken));
    let marks = decades((least.ln() - air).exp(), (most.ln() + air).exp(), 6);
    let (shown, unit) = times(&marks);
    for (mark, text) in marks.iter().zip(shown) {
        let y = y.at(mark.ln());
        let _ = write!(svg, r#"<line class="grid" x1="0" x2="100%" y1="{y:.1}" y2="{y:.1}"/>"#);
        let _ = write!(svg, r#"<text x="0" y="{:.1}">{} {unit}</text>"#, y - 3.0, tick(&text));
    }
    for share in [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999].into_iter().filter(|share| x.holds(nines(*share)))
    {
        let x = x.at(nines(share));
        let _ = write!(svg, r#"<line class="grid" x1="{x:.2}%" x2="{x:.2}%" y1="{TOP}" y2="{BOTTOM}"/>"#);
        let text = trimmed(100.0 * share);
        let _ = write!(svg, r#"<text class="round" x="{x:.2}%" y="{}">{text} %</text>"#, HEIGHT - 8.0);
    }
    let x = Scale::new(0.0, far, ACROSS * LEFT / 100.0, ACROSS * RIGHT / 100.0);
    let _ = write!(
        svg,
        r#"<svg width="100%" height="{HEIGHT}" viewBox="0 0 {ACROSS} {HEIGHT}" preserveAspectRatio="none">"#
    );
    for (name, distribution) in machines {
        let class = if name.as_str() == HOST { "host" } else { "guest" };
        let mut path = String::new();
        let every = distribution.curve.len().div_ceil(POINTS).max(1);
        let kept =
            distribution.curve.iter().enumerate().filter(|(i, _)| i % every == 0 || i + 1 == distribution.curve.len());
        for (_, [seconds, share]) in kept.filter(|(_, [seconds, _])| *seconds > 0.0 && seconds.is_finite()) {
            let _ = write!(
                path,
                "{}{:.0} {:.1}",
                if path.is_empty() { "M" } else { "L" },
                x.at(nines(*share)),
                y.at(seconds.ln())
            );
            if nines(*share) > far {
                break;
            }
        }
        let _ = write!(svg, r#"<path class="curve {class}" d="{path}"/>"#);
    }
    svg.push_str("</svg></svg>");
    Some(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metrics_id_names_its_percentile() {
        for (id, known) in [
            ("latency-p50", Some(50.0)),
            ("latency-p99", Some(99.0)),
            ("latency-p999", Some(99.9)),
            ("latency-p99-9", Some(99.9)),
            ("latency-p99.99", Some(99.99)),
            ("latency-mean", None),
            ("latency-p", None),
            ("latency-pé9", None),
            ("iops", None),
        ] {
            assert_eq!(percentile_of(id), known, "{id}");
        }
    }

    #[test]
    fn nines_grow_by_one_for_each_nine() {
        for (share, known) in [(0.0, 0.0), (0.9, 1.0), (0.99, 2.0), (0.999, 3.0)] {
            assert!((nines(share) - known).abs() < 1e-9, "{share}");
        }
    }
}
