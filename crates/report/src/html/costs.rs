//! Where the tax goes: CPU time on the physical host for the same work, as bars.

use super::escape::escaped;
use crate::Words;
use crate::analysis::{Analysis, ArmCost, BenchmarkReport, HostCostReport};
use crate::figures::{factor, percent_unsigned, share, times};
use model::record::{GUEST, HOST};
use std::fmt::Write;

/// Height of one bar and of the two together, pixels.
const BAR: f64 = 11.0;
const HEIGHT: f64 = 26.0;

/// One benchmark's row.
pub(super) struct Row {
    pub id: String,
    pub title: String,
    pub work: String,
    pub bars: String,
    pub host: String,
    pub guest: String,
    pub unit: &'static str,
    pub factor: String,
    pub interval: String,
    pub vcpu: String,
    pub io: String,
    pub other: String,
    /// Stolen CPU time on the host and in the guest; empty where none could be read.
    pub stolen: String,
}

/// Benchmarks with cost data.
pub(super) fn rows(analysis: &Analysis, w: &Words) -> Vec<Row> {
    analysis.benchmarks.iter().filter_map(|b| Some(cost_row(b, b.host_cost.as_ref()?, w))).collect()
}

fn cost_row(benchmark: &BenchmarkReport, cost: &HostCostReport, w: &Words) -> Row {
    let (shown, unit) = times(&[cost.host.cpu_seconds, cost.guest.cpu_seconds]);
    let [host, guest] = [shown[0].clone(), shown[1].clone()];
    let split = |part: f64| share(part / cost.guest.cpu_seconds);
    let title = w.benchmark(&benchmark.id, &benchmark.title);
    let work = w.work(&cost.work);
    let spoken = w.say(
        "tax-spoken",
        &[
            ("title", title.as_str().into()),
            ("host", format!("{host} {unit}").into()),
            ("guest", format!("{guest} {unit}").into()),
            ("work", work.as_str().into()),
        ],
    );
    let stolen =
        [HOST, GUEST].map(|m| benchmark.steal.get(m).map_or("–".to_owned(), |s| percent_unsigned(100.0 * s.mean)));
    Row {
        id: benchmark.id.clone(),
        title,
        work,
        bars: bars(&spoken, &cost.host, &cost.guest),
        host,
        guest,
        unit,
        factor: cost.factor.map_or("–".to_owned(), factor),
        interval: cost.overhead.and_then(|o| o.interval).map_or("–".to_owned(), |i| w.interval(&i)),
        vcpu: split(cost.guest.vcpu_seconds),
        io: split(cost.guest.io_seconds),
        other: split(cost.guest.other_seconds),
        stolen: if benchmark.steal.is_empty() { String::new() } else { stolen.join(" / ") },
    }
}

/// Two bars on the row's own scale, because units of work differ between rows.
fn bars(spoken: &str, host: &ArmCost, guest: &ArmCost) -> String {
    let longest = host.cpu_seconds.max(guest.cpu_seconds);
    let part = |seconds: f64| if longest > 0.0 { (100.0 * seconds / longest).clamp(0.0, 100.0) } else { 0.0 };
    let mut svg =
        format!(r#"<svg class="bars" width="100%" height="{HEIGHT}" role="img" aria-label="{}">"#, escaped(spoken));
    let _ = write!(svg, r#"<rect class="host" x="0" y="1" width="{:.2}%" height="{BAR}"/>"#, part(host.cpu_seconds));
    let mut x = 0.0;
    for (class, seconds) in [("vcpu", guest.vcpu_seconds), ("io", guest.io_seconds), ("other", guest.other_seconds)] {
        let width = part(seconds);
        if width > 0.0 {
            let y = HEIGHT - BAR - 1.0;
            let _ = write!(svg, r#"<rect class="{class}" x="{x:.2}%" y="{y}" width="{width:.2}%" height="{BAR}"/>"#);
        }
        x += width;
    }
    svg.push_str("</svg>");
    svg
}
