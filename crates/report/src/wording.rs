//! What things are called in a report's language: benchmarks, metrics, machines, evidence.

use crate::Words;
use crate::analysis::{Analysis, BenchmarkReport, CheckReport, IntervalFigures, RunCounts, TroubleKind, Verdict, Work};
use crate::figures::{percent_unsigned, share, signed, times};
use fluent_bundle::FluentValue;
use model::quantity::show_size;
use model::record::{Ending, LookDecision};
use model::units::significant;
use model::{Area, Fact, Metric, Threat};

/// Every verdict, in the order of legends.
pub(crate) const VERDICTS: [Verdict; 7] = [
    Verdict::Overhead,
    Verdict::FasterThanHost,
    Verdict::Equivalent,
    Verdict::Small,
    Verdict::Inconclusive,
    Verdict::Imprecise,
    Verdict::Invalid,
];

/// Beyond this, a number's digits are no longer all its own.
const WHOLE_UP_TO: f64 = 1e15;

impl Words {
    /// The message `KIND-ID`, where characters of the id that a key cannot hold are hyphens; `otherwise` where there is none.
    pub(crate) fn named(&self, kind: &str, id: &str, otherwise: &str) -> String {
        let mut key = kind.to_owned();
        for part in id.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
            key.push('-');
            key.push_str(&part.to_ascii_lowercase());
        }
        if self.has(&key) { self.get(&key) } else { otherwise.to_owned() }
    }

    /// The title of a benchmark.
    pub(crate) fn benchmark(&self, id: &str, title: &str) -> String {
        self.named("bench", id, title)
    }

    /// The title of a metric. One that is called like its benchmark stays so.
    pub(crate) fn metric(&self, benchmark: &BenchmarkReport, metric: &Metric) -> String {
        if metric.title == benchmark.title {
            return self.benchmark(&benchmark.id, &benchmark.title);
        }
        let general = self.named("metric", &metric.id, &metric.title);
        self.named("metric", &format!("{}-{}", benchmark.id, metric.id), &general)
    }

    /// A benchmark, with its metric where it has more than one that matters.
    pub(crate) fn row(&self, benchmark: &BenchmarkReport, metric: &Metric) -> String {
        let title = self.benchmark(&benchmark.id, &benchmark.title);
        if benchmark.primary().count() > 1 { format!("{title} {}", self.metric(benchmark, metric)) } else { title }
    }

    /// Host, guest, or the name that the plan gave.
    pub(crate) fn machine(&self, name: &str) -> String {
        self.named("machine", name, name)
    }

    /// An area in prose.
    pub(crate) fn area(&self, area: Area) -> String {
        self.named("area", area.name(), area.name())
    }

    /// A unit of work.
    pub(crate) fn work(&self, work: &Work) -> String {
        self.named("work", &work.title, &work.title)
    }

    /// A number of things, for example `count-rounds`.
    pub(crate) fn count(&self, key: &str, n: usize) -> String {
        self.say(key, &[("n", n.into())])
    }

    /// How many are not shown; none where all are.
    pub(crate) fn left_out(&self, n: usize) -> Option<String> {
        (n > 0).then(|| self.count("more-in-json", n))
    }

    /// `a, b and c`.
    pub(crate) fn list(&self, parts: &[String]) -> String {
        match parts {
            [] => String::new(),
            [one] => one.clone(),
            [before @ .., last] => format!("{}{}{last}", before.join(&self.get("comma")), self.get("and")),
        }
    }

    /// `+3.1 to +5.6 %`.
    pub(crate) fn interval(&self, interval: &IntervalFigures) -> String {
        self.say(
            "range",
            &[("low", signed(interval.low_percent).into()), ("high", signed(interval.high_percent).into())],
        )
    }

    /// What a verdict means.
    pub(crate) fn meaning(&self, verdict: Verdict) -> String {
        self.named("verdict", verdict.word(), verdict.word())
    }

    /// The practical margins of the areas that were planned: `2 % for CPU and memory, 5 % for disk`.
    pub(crate) fn margins(&self, analysis: &Analysis) -> String {
        let mut margins: Vec<(f64, Vec<String>)> = Vec::new();
        for area in &analysis.areas {
            let name = self.area(area.area);
            match margins.iter_mut().find(|(margin, _)| *margin == area.margin_percent) {
                Some((_, names)) => names.push(name),
                None => margins.push((area.margin_percent, vec![name])),
            }
        }
        let said = margins.iter().map(|(margin, names)| {
            self.say("margin", &[("margin", share(margin / 100.0).into()), ("areas", self.list(names).into())])
        });
        said.collect::<Vec<_>>().join(&self.get("comma"))
    }

    /// Runs by outcome.
    pub(crate) fn runs(&self, runs: &RunCounts) -> String {
        self.say(
            "runs",
            &[
                ("measured", runs.measured.into()),
                ("failed", runs.failed.into()),
                ("skipped", runs.skipped.into()),
                ("cancelled", runs.cancelled.into()),
            ],
        )
    }

    /// Why a run gave no value.
    pub(crate) fn trouble(&self, kind: TroubleKind) -> String {
        self.get(match kind {
            TroubleKind::Tool => "trouble-tool",
            TroubleKind::Parse => "trouble-parse",
            TroubleKind::Guest => "trouble-guest",
            TroubleKind::Pipe => "trouble-pipe",
            TroubleKind::Timeout => "trouble-timeout",
            TroubleKind::Harness => "trouble-harness",
            TroubleKind::Skipped => "trouble-skipped",
        })
    }

    /// How a study ended; `why` as it was written then.
    pub(crate) fn ending(&self, ending: Option<Ending>, why: Option<&str>) -> String {
        let key = match ending {
            Some(Ending::Finished) => "ending-finished",
            Some(Ending::Budget) => "ending-budget",
            Some(Ending::Interrupted) => "ending-interrupted",
            Some(Ending::Failed) => "ending-failed",
            None => "ending-none",
        };
        let said = self.get(key);
        // What the loop says of an end that was planned is the same in its words.
        match why.filter(|_| !matches!(ending, None | Some(Ending::Finished))) {
            Some(why) => self.say("ending-why", &[("ending", said.into()), ("why", why.into())]),
            None => said,
        }
    }

    /// What followed from a look.
    pub(crate) fn decision(&self, decision: LookDecision) -> String {
        self.get(match decision {
            LookDecision::Precise => "look-precise",
            LookDecision::MoreRounds => "look-more-rounds",
            LookDecision::Imprecise => "look-imprecise",
        })
    }

    /// What a check looked at.
    pub(crate) fn threat(&self, threat: Threat) -> String {
        self.named("check", &format!("{}-title", threat.key()), threat.key())
    }

    /// What a check saw: a sentence, or the bare evidence where the language has none for it. Evidence of several shapes has a
    /// word `shape` that says which sentence is meant.
    pub(crate) fn evidence(&self, check: &CheckReport) -> String {
        let shape = match check.evidence.get("shape") {
            Some(Fact::Word(shape)) => format!("-{shape}"),
            _ => String::new(),
        };
        let facts = check.evidence.iter().filter(|(key, _)| *key != "shape");
        let shown: Vec<(&str, String)> = facts.map(|(key, fact)| (key.as_str(), fact_text(key, fact))).collect();
        let mut arguments: Vec<(&str, FluentValue<'_>)> = vec![("status", check.status.word().into())];
        arguments.extend(shown.iter().map(|(key, text)| (*key, text.as_str().into())));
        self.try_say(&format!("check-{}-evidence{shape}", check.threat.key()), &arguments)
            .unwrap_or_else(|| shown.iter().map(|(key, text)| format!("{key}: {text}")).collect::<Vec<_>>().join(", "))
    }

    /// What to do about it; none where there is no advice.
    pub(crate) fn advice(&self, threat: Threat) -> Option<String> {
        self.try_say(&format!("check-{}-advice", threat.key()), &[])
    }
}

/// A piece of evidence; the end of its key says what it is (see [`Fact`]).
fn fact_text(key: &str, fact: &Fact) -> String {
    let value = match fact {
        Fact::Word(word) => return word.clone(),
        Fact::Number(value) => *value,
    };
    let is = |what: &str| key == what || key.strip_suffix(what).is_some_and(|rest| rest.ends_with('-'));
    if is("share") {
        percent_unsigned(100.0 * value)
    } else if is("seconds") {
        let (shown, unit) = times(&[value.abs()]);
        format!("{}{} {unit}", if value < 0.0 { "−" } else { "" }, shown.concat())
    } else if is("bytes") {
        show_size(value as u64)
    } else if is("hertz") {
        format!("{:.2} GHz", value / 1e9)
    } else if value.fract() == 0.0 && value.abs() < WHOLE_UP_TO {
        format!("{value:.0}")
    } else {
        significant(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lang;
    use model::Status;
    use std::collections::BTreeMap;

    #[test]
    fn evidence_is_shown_in_the_unit_that_its_key_names() {
        for (key, value, text) in [
            ("device-share", 0.023, "2.3 %"),
            ("share", 0.5, "50.0 %"),
            ("drift-seconds", -0.0021, "−2.100 ms"),
            ("missing-bytes", 4096.0, "4 KiB"),
            ("guest-hertz", 2.4e9, "2.40 GHz"),
            ("blocks", 12.0, "12"),
            ("ratio", 0.25, "0.2500"),
        ] {
            assert_eq!(fact_text(key, &Fact::Number(value)), text, "{key}");
        }
        assert_eq!(fact_text("mode", &"writeback".into()), "writeback");
    }

    #[test]
    fn what_the_language_does_not_know_is_told_in_the_words_of_its_maker() {
        let words = Words::new(Lang::Zh);
        assert_eq!(words.benchmark("net.unheard-of", "Unheard of"), "Unheard of");
        assert_ne!(words.benchmark("disk.randread-4k", "4k random read"), "4k random read");
        let check = CheckReport {
            threat: Threat::Unknown,
            status: Status::Warn,
            counts: BTreeMap::new(),
            evidence: BTreeMap::from([
                ("a".to_owned(), Fact::Number(1.0)),
                ("b-share".to_owned(), Fact::Number(0.1)),
                ("shape".to_owned(), "odd".into()),
            ]),
            machine: None,
            round: None,
        };
        assert_eq!(words.named("check", "cosmic-rays-title", "cosmic-rays"), "cosmic-rays");
        assert_eq!(words.evidence(&check), "a: 1, b-share: 10.0 %");
    }
}
