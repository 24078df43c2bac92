//! The answer in one sentence.

use crate::Words;
use crate::analysis::{AreaSummary, Strength, Verdict};
use crate::figures::{factor, percent, percent_unsigned, share};
use model::Accelerator;
use model::record::Manifest;

/// Above this overhead, in percent, a factor is easier to grasp.
const FACTOR_FROM: f64 = 100.0;

/// In English, as the JSON report has it.
pub(crate) fn answer(manifest: &Manifest, areas: &[AreaSummary], refused: bool) -> String {
    answer_in(Words::english(), manifest, areas, refused)
}

/// In any language; `refused` where some row is no figure of what it claims.
pub(crate) fn answer_in(words: &Words, manifest: &Manifest, areas: &[AreaSummary], refused: bool) -> String {
    let parts: Vec<String> = areas.iter().filter_map(|area| part(words, area)).collect();
    let Some((last, before)) = parts.split_last() else {
        return words.get(if refused { "answer-refused" } else { "answer-none" });
    };
    let list = if before.is_empty() {
        last.clone()
    } else {
        format!("{}{}{last}", before.join(&words.get("answer-comma")), words.get("answer-and"))
    };
    let key = if manifest.accelerator == Accelerator::Tcg { "answer-emulated" } else { "answer" };
    let indicative = areas.iter().any(|a| a.overhead.is_some_and(|o| o.strength != Strength::Study));
    let caveat = if indicative { words.get("answer-caveat") } else { String::new() };
    words.say(key, &[("parts", list.into()), ("caveat", caveat.into())])
}

/// What one area costs.
fn part(words: &Words, area: &AreaSummary) -> Option<String> {
    let overhead = area.overhead.as_ref()?;
    let name = words.area(area.area);
    let say = |key: &str, figure: String| words.say(key, &[("area", name.as_str().into()), ("figure", figure.into())]);
    Some(match (area.verdict, &overhead.interval) {
        (Some(Verdict::Invalid), _) => return None,
        (Some(Verdict::Equivalent), _) => say("answer-same", share(area.margin_percent / 100.0)),
        (Some(Verdict::Inconclusive | Verdict::Imprecise), Some(range)) => say("answer-range", words.interval(range)),
        _ if overhead.percent >= FACTOR_FROM => {
            let times = factor(1.0 + overhead.percent / 100.0);
            say("answer-times", times.trim_end_matches(" ×").to_owned())
        }
        _ if overhead.percent < 0.0 => say("answer-less", percent_unsigned(-overhead.percent)),
        _ => say("answer-more", percent(overhead.percent).trim_start_matches('+').to_owned()),
    })
}
