//! What the formats say in words and rows. The words themselves stand in `locales/`.

use super::{Change, Decision, Difference, Gate, LeftOut, Note, Reason, Shift, Study, Verdict, Which};
use crate::figures::{brackets, date, percent, row};
use crate::locale::Words;

/// Metrics that a sentence names.
const MOST: usize = 6;

/// The answer in one sentence.
pub(crate) fn answer(gate: &Gate, words: &Words) -> String {
    let all = gate.primary().count();
    let list = |verdict: Verdict| {
        let names: Vec<String> = gate.primary().filter(|c| c.verdict == Some(verdict)).map(name).collect();
        let more = if names.len() > MOST { ", …" } else { "" };
        format!("{}{more}", names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", "))
    };
    let count = |verdict| gate.count(verdict);
    match gate.decision {
        Decision::Regression => {
            let confirmed = gate.primary().any(|c| c.confirmation.is_some());
            let key = if confirmed { "compare-answer-confirmed" } else { "compare-answer-regression" };
            let regressed = Verdict::Regression;
            words.say(key, &[("count", count(regressed).into()), ("all", all.into()), ("list", list(regressed).into())])
        }
        Decision::Undecided if count(Verdict::NotConfirmed) > 0 => words.say(
            "compare-answer-unconfirmed",
            &[("list", list(Verdict::NotConfirmed).into()), ("rounds", gate.rounds_needed.into())],
        ),
        Decision::Undecided => {
            words.say("compare-answer-undecided", &[("all", all.into()), ("rounds", gate.rounds_needed.into())])
        }
        Decision::NoRegression if count(Verdict::NotConfirmed) > 0 => {
            words.say("compare-answer-refuted", &[("list", list(Verdict::NotConfirmed).into())])
        }
        Decision::NoRegression => words.say(
            "compare-answer-none",
            &[
                ("all", all.into()),
                ("improved", count(Verdict::Improvement).into()),
                ("unchanged", count(Verdict::NoChange).into()),
                ("unclear", (count(Verdict::Unclear) + count(Verdict::TooFew)).into()),
            ],
        ),
    }
}

/// Benchmark and metric by their ids.
pub(crate) fn name(change: &Change) -> String {
    format!("{} {}", change.benchmark, change.metric.id)
}

/// Where, when and with what it was measured.
pub(crate) fn study(study: &Study, words: &Words) -> String {
    let rounds = words.say("compare-rounds", &[("count", study.rounds.into())]);
    let text = |text: &str| text.to_owned().into();
    words.say(
        "compare-study",
        &[
            ("date", date(study.created).into()),
            ("vmtax", text(&study.vmtax)),
            ("rounds", rounds.into()),
            ("accelerator", text(study.accelerator.name())),
            ("hypervisor", text(&study.hypervisor)),
            ("host", text(&study.host_kernel)),
            ("guest", text(&study.guest_kernel)),
            ("configuration", text(&study.configuration)),
        ],
    )
}

/// A note in a sentence.
pub(crate) fn note(note: &Note, words: &Words) -> String {
    let two = |key: &str, a: &str, b: &str| words.say(key, &[("a", a.into()), ("b", b.into())]);
    match note {
        Note::OtherMachine { a, b } => two("compare-note-machine", a, b),
        Note::OtherAccelerator { a, b } => two("compare-note-accelerator", a, b),
        Note::Emulated => words.get("compare-note-emulated"),
        Note::SameStudy => words.get("compare-note-same"),
        Note::NotARepetition { differs } => {
            words.say("compare-note-repetition", &[("differs", differs.join("; ").into())])
        }
    }
}

/// What was not compared, and why.
pub(crate) fn left_out(left: &LeftOut, words: &Words) -> String {
    let in_study = |key: &str, study: Which| words.say(key, &[("study", study.letter().into())]);
    let two = |key: &str, a: &str, b: &str| words.say(key, &[("a", a.into()), ("b", b.into())]);
    let why = match &left.reason {
        Reason::OnlyIn { study } => in_study("compare-left-only", *study),
        Reason::NotMeasured { study } => in_study("compare-left-unmeasured", *study),
        Reason::Invalid { study } => in_study("compare-left-invalid", *study),
        Reason::Parameters { differing } => {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| words.get("compare-nothing"));
            let all: Vec<String> =
                differing.iter().map(|d| format!("{}: {} → {}", d.key, shown(&d.a), shown(&d.b))).collect();
            words.say("compare-left-parameters", &[("differing", all.join(", ").into())])
        }
        Reason::Version { a, b } => two("compare-left-version", a, b),
        Reason::InstructionSet { a, b } => two("compare-left-isa", a, b),
        Reason::Metric => words.get("compare-left-metric"),
    };
    let metric = left.metric.as_ref().map_or(String::new(), |metric| format!(" {metric}"));
    format!("{}{metric}: {why}", left.benchmark)
}

/// What a property is called.
pub(crate) fn property(difference: &Difference, words: &Words) -> String {
    let of = difference.of.clone().unwrap_or_default();
    words.say(&format!("compare-env-{}", difference.key), &[("of", of.into())])
}

/// Both values of a property.
pub(crate) fn values(difference: &Difference, words: &Words) -> [String; 2] {
    [&difference.a, &difference.b].map(|value| value.clone().unwrap_or_else(|| words.get("compare-nothing")))
}

/// `property: in A → in B`.
pub(crate) fn difference(difference: &Difference, words: &Words) -> String {
    let [a, b] = values(difference, words);
    format!("{}: {a} → {b}", property(difference, words))
}

/// What a verdict means.
pub(crate) fn meaning(verdict: Verdict, gate: &Gate, words: &Words) -> String {
    let comparable = gate.primary().count();
    words.say(
        &format!("compare-verdict-{}", verdict.word()),
        &[("rounds", gate.rounds_needed.into()), ("all", comparable.into())],
    )
}

/// `+20.0 % [+18.1, +22.0]`.
pub(crate) fn shift(shift: &Shift) -> String {
    format!("{} {}", percent(shift.percent), brackets(&shift.interval))
}

/// What C says of a regression, with C's change where there is one.
pub(crate) fn confirmation(change: &Change, words: &Words) -> Option<String> {
    let again = change.confirmation.as_ref()?;
    Some(match (again.shown, &again.shift) {
        (Some(_), Some(figures)) => shift(figures),
        _ => words.get("compare-confirmation-none"),
    })
}

/// A row of the table of speeds: benchmark, unit, the host's medians and change in percent, the guest's.
pub(crate) fn speeds(change: &Change) -> [String; 8] {
    let shown = &change.metric.shown;
    let values = [change.a.host, change.b.host, change.a.guest, change.b.guest].map(|value| shown.apply(value));
    let mut values = row(&values).into_iter();
    let mut next = || values.next().unwrap_or_default();
    let (host_a, host_b, guest_a, guest_b) = (next(), next(), next(), next());
    [
        change.benchmark.clone(),
        shown.symbol.clone(),
        host_a,
        host_b,
        percent(change.host_speed_percent),
        guest_a,
        guest_b,
        percent(change.guest_speed_percent),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::environment;
    use super::*;
    use crate::locale::Lang;

    #[test]
    fn every_property_and_verdict_has_its_words() {
        for words in Lang::ALL.map(Words::new) {
            for key in environment::keys() {
                assert!(words.has(&format!("compare-env-{key}")), "{key}");
            }
            for verdict in Verdict::ALL {
                assert!(words.has(&format!("compare-verdict-{}", verdict.word())), "{verdict:?}");
            }
        }
    }
}
