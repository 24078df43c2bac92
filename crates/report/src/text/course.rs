//! What happened beside the figures: remarks, failures, the end.

use super::{Page, Tone};
use crate::analysis::{Analysis, Trouble, TroubleKind};
use model::quantity::show_duration;
use std::collections::BTreeSet;

/// Most kinds of failures that are told, and most rounds of each.
const TROUBLES: usize = 12;
const ROUNDS: usize = 8;

impl Page<'_> {
    pub(super) fn remarks(&mut self, analysis: &Analysis) {
        let remarks: BTreeSet<&str> =
            analysis.benchmarks.iter().flat_map(|b| b.remarks.keys().map(String::as_str)).collect();
        if remarks.is_empty() {
            return;
        }
        self.title("text-remarks");
        for remark in remarks.iter().take(TROUBLES) {
            let who = analysis.benchmarks.iter().filter(|b| b.remarks.contains_key(*remark)).map(|b| b.id.as_str());
            self.say(Tone::Plain, "  ", &format!("{}: {remark}", who.collect::<Vec<_>>().join(", ")));
        }
        self.more(remarks.len(), TROUBLES);
    }

    pub(super) fn troubles(&mut self, analysis: &Analysis) {
        let course = &analysis.course;
        let broken: Vec<_> = course.attempts.iter().filter(|a| !a.complete).collect();
        if course.troubles.is_empty() && broken.is_empty() {
            return;
        }
        self.title("text-troubles");
        for attempt in broken.iter().take(TROUBLES) {
            let cut = self.words.get("cut-off");
            let text = self.words.say(
                "round-not-used",
                &[
                    ("round", attempt.round.into()),
                    ("attempt", attempt.attempt.into()),
                    ("why", attempt.why.as_deref().unwrap_or(&cut).into()),
                ],
            );
            self.say(Tone::Plain, "  ", &text);
        }
        self.more(broken.len(), TROUBLES);
        for trouble in course.troubles.iter().take(TROUBLES) {
            let tone = if trouble.kind == TroubleKind::Skipped { Tone::Faint } else { Tone::Bad };
            self.say(tone, "  ", &self.told(trouble));
        }
        self.more(course.troubles.len(), TROUBLES);
    }

    fn told(&self, trouble: &Trouble) -> String {
        let rounds: Vec<String> = trouble.rounds.iter().take(ROUNDS).map(u32::to_string).collect();
        let more = if trouble.rounds.len() > ROUNDS { ", …" } else { "" };
        self.words.say(
            "trouble",
            &[
                ("benchmark", trouble.benchmark.as_str().into()),
                ("machine", self.words.machine(&trouble.machine).into()),
                ("n", trouble.rounds.len().into()),
                ("rounds", format!("{}{more}", rounds.join(", ")).into()),
                ("kind", self.words.trouble(trouble.kind).into()),
                ("why", trouble.why.as_str().into()),
            ],
        )
    }

    /// How many lines of a part are not shown.
    pub(super) fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.say(Tone::Faint, "  ", &self.words.count("more", all - shown));
        }
    }

    pub(super) fn foot(&mut self, analysis: &Analysis) {
        let words = self.words;
        let course = &analysis.course;
        self.gap();
        let runs = words.runs(&course.runs);
        let mut parts = vec![runs];
        if course.repeated > 0 {
            parts.push(words.count("count-repeated", course.repeated));
        }
        parts.push(show_duration(course.seconds));
        parts.push(words.say("seed", &[("seed", analysis.manifest.plan.seed.to_string().into())]));
        self.say(Tone::Faint, "", &parts.join(&words.get("semicolon")));
        self.say(Tone::Faint, "", &words.ending(course.ending, course.ending_why.as_deref()));
        if let Some(folder) = &analysis.folder {
            self.say(Tone::Plain, "", &words.say("folder", &[("folder", folder.as_str().into())]));
        }
    }
}
