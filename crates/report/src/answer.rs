//! The answer in one sentence.

use crate::analysis::{AreaSummary, Strength, Verdict};
use crate::figures::{factor, percent, percent_interval, percent_unsigned, share};
use model::record::Manifest;
use model::{Accelerator, Area};

/// Above this overhead, in percent, a factor is easier to grasp.
const FACTOR_FROM: f64 = 100.0;

pub(crate) fn answer(manifest: &Manifest, areas: &[AreaSummary], refused: bool) -> String {
    let parts: Vec<String> = areas.iter().filter_map(part).collect();
    let Some((last, before)) = parts.split_last() else {
        return if refused {
            "What was measured is no figure of the disk, so there is no answer.".to_owned()
        } else {
            "Nothing was measured on both sides, so there is no answer yet.".to_owned()
        };
    };
    let list = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    let emulated = if manifest.accelerator == Accelerator::Tcg { "emulated " } else { "" };
    let indicative = areas.iter().any(|a| a.overhead.is_some_and(|o| o.strength != Strength::Study));
    let caveat = if indicative { " (an indication, made from few rounds)" } else { "" };
    format!("Compared with the host, the same work in this {emulated}guest costs {list}{caveat}.")
}

/// What one area costs.
fn part(area: &AreaSummary) -> Option<String> {
    let overhead = area.overhead.as_ref()?;
    let of = match area.area {
        Area::Cpu => "for CPU",
        Area::Memory => "for memory",
        Area::Disk => "for disk",
    };
    Some(match (area.verdict, &overhead.interval) {
        (Some(Verdict::Equivalent), _) => format!("the same {of} within {}", share(area.margin_percent / 100.0)),
        (Some(Verdict::Inconclusive), Some(range)) => format!("anything from {} {of}", percent_interval(range)),
        _ => format!("{} {of}", about(overhead.percent)),
    })
}

fn about(overhead: f64) -> String {
    if overhead >= FACTOR_FROM {
        format!("{} times as much", factor(1.0 + overhead / 100.0).trim_end_matches(" ×"))
    } else if overhead < 0.0 {
        format!("{} less", percent_unsigned(-overhead))
    } else {
        format!("{} more", percent(overhead).trim_start_matches('+'))
    }
}
