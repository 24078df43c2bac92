//! Host and guest in every round, in time order.

use super::escape::escaped;
use super::scale::{Scale, decades, ticks};
use crate::analysis::Comparison;
use crate::figures::{row, tick};
use std::fmt::Write;

/// Height of the chart, pixels.
const HEIGHT: f64 = 168.0;
/// Where values begin and end, pixels from the top.
const TOP: f64 = 12.0;
const BOTTOM: f64 = 138.0;
/// A linear axis is used while the largest value is less than so many times the smallest.
const LINEAR_UP_TO: f64 = 3.0;
/// Points carry their figures as tooltips while there are no more rounds than these.
const TOOLTIPS: usize = 64;

/// The chart of a metric; none where there is no finite value to draw.
pub(super) fn chart(title: &str, comparison: &Comparison) -> Option<String> {
    let shown = &comparison.metric.shown;
    let values: Vec<f64> = comparison.points.iter().flat_map(|p| [shown.apply(p.host), shown.apply(p.guest)]).collect();
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    let logarithmic = least > 0.0 && most > LINEAR_UP_TO * least;
    let height = |value: f64| if logarithmic { value.ln() } else { value };
    let (low, high) = (height(least), height(most));
    // A flat series is drawn in the middle, with room for one percent about it.
    let air = (0.08 * (high - low)).max(if logarithmic { 0.01 } else { 0.005 * most.abs().max(f64::MIN_POSITIVE) });
    let y = Scale::new(low - air, high + air, BOTTOM, TOP);
    let x = Scale::new(-0.5, comparison.points.len() as f64 - 0.5, 9.0, 99.0);
    let marks =
        if logarithmic { decades((low - air).exp(), (high + air).exp(), 5) } else { ticks(low - air, high + air, 4) };

    let spoken = format!("{title}: every round of host and guest in {}; the table below has the figures", shown.symbol);
    let mut svg =
        format!(r#"<svg class="rounds" width="100%" height="{HEIGHT}" role="img" aria-label="{}">"#, escaped(&spoken));
    let marked = row(&marks).into_iter().map(|text| tick(&text));
    for (mark, text) in marks.iter().zip(marked) {
        let y = y.at(height(*mark));
        let _ = write!(svg, r#"<line class="grid" x1="0" x2="100%" y1="{y:.1}" y2="{y:.1}"/>"#);
        let _ = write!(svg, r#"<text x="0" y="{:.1}">{text}</text>"#, y - 3.0);
    }
    let every = comparison.points.len().div_ceil(16).max(1);
    let tooltips = comparison.points.len() <= TOOLTIPS;
    for (i, point) in comparison.points.iter().enumerate() {
        let x = x.at(i as f64);
        if i % every == 0 {
            let _ = write!(svg, r#"<text class="round" x="{x:.2}%" y="{}">{}</text>"#, HEIGHT - 8.0, point.round);
        }
        for (class, value, radius) in [("host", point.host, 4.0), ("guest", point.guest, 4.0)] {
            let value = shown.apply(value);
            let y = y.at(height(value));
            let _ = write!(svg, r#"<circle class="{class}" cx="{x:.2}%" cy="{y:.1}" r="{radius}""#);
            if tooltips {
                let figure = row(&[value]).concat();
                let text = escaped(&format!("Round {}, {class}: {figure} {}", point.round, shown.symbol));
                let _ = write!(svg, "><title>{text}</title></circle>");
            } else {
                svg.push_str("/>");
            }
        }
    }
    svg.push_str("</svg>");
    Some(svg)
}
