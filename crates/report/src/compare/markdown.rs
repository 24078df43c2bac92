//! The comparison as Markdown, for merge requests and job summaries.

use super::{Change, Gate, sentences};
use crate::figures::{brackets, percent, share};
use crate::locale::Words;
use crate::markdown::escaped;
use std::fmt::Write;

/// GitHub-flavoured Markdown.
pub fn markdown(gate: &Gate, words: &Words) -> String {
    let mut page = Page { out: String::new(), words };
    page.line(&format!("## {}", words.get("compare-title")));
    page.line(&format!("**{}**", escaped(&sentences::answer(gate, words))));
    for note in &gate.notes {
        page.line(&format!("> {}", escaped(&sentences::note(note, words))));
    }
    for study in &gate.studies {
        let text = format!("- **{}** {}: ", study.which.letter(), escaped(&study.name));
        let _ = writeln!(page.out, "{text}{}", escaped(&sentences::study(study, words)));
    }
    page.out.push('\n');
    page.heading("compare-overhead");
    page.changes(gate.primary(), true);
    page.line(&words.get("compare-overhead-note"));
    for verdict in super::Verdict::ALL.into_iter().filter(|verdict| gate.count(*verdict) > 0) {
        let _ = writeln!(page.out, "- {}: {}", verdict.word(), escaped(&sentences::meaning(verdict, gate, words)));
    }
    page.out.push('\n');
    page.heading("compare-speeds");
    page.speeds(gate);
    if gate.changes.iter().any(|c| c.verdict.is_none()) {
        page.heading("compare-secondary-title");
        page.changes(gate.changes.iter().filter(|c| c.verdict.is_none()), false);
    }
    if !gate.left_out.is_empty() {
        page.heading("compare-left-out");
        for left in &gate.left_out {
            let _ = writeln!(page.out, "- {}", escaped(&sentences::left_out(left, words)));
        }
        page.out.push('\n');
    }
    page.heading("compare-differences");
    page.differences(gate);
    page.out
}

struct Page<'a> {
    out: String,
    words: &'a Words,
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}\n");
    }

    fn heading(&mut self, key: &str) {
        self.line(&format!("### {}", self.words.get(key)));
    }

    /// A table; columns from `left` on hold figures.
    fn table<const N: usize>(&mut self, keys: [&str; N], left: usize, rows: impl Iterator<Item = [String; N]>) {
        let head = keys.map(|key| self.words.get(key));
        let _ = writeln!(self.out, "| {} |", head.join(" | "));
        let rule: Vec<&str> = (0..N).map(|i| if i < left { "---" } else { "---:" }).collect();
        let _ = writeln!(self.out, "| {} |", rule.join(" | "));
        for row in rows {
            let _ = writeln!(self.out, "| {} |", row.map(|cell| escaped(&cell)).join(" | "));
        }
        self.out.push('\n');
    }

    fn changes<'c>(&mut self, changes: impl Iterator<Item = &'c Change>, with_verdict: bool) {
        let words = self.words;
        let overhead = |value: Option<f64>| value.map_or(words.get("compare-nothing"), percent);
        let rows = changes.map(|c| {
            let verdict = match (c.verdict, sentences::confirmation(c, words)) {
                (Some(verdict), Some(again)) => format!("{} (C: {again})", verdict.word()),
                (Some(verdict), None) => verdict.word().to_owned(),
                (None, _) => words.get("compare-nothing"),
            };
            [
                c.benchmark.clone(),
                c.metric.title.clone(),
                verdict,
                overhead(c.a.overhead_percent),
                overhead(c.b.overhead_percent),
                c.shift.map_or(words.get("compare-nothing"), |s| percent(s.percent)),
                c.shift.map_or(String::new(), |s| brackets(&s.interval)),
                share(c.margin_percent / 100.0),
                c.shift.and_then(|s| s.adjusted_p).map_or(words.get("compare-nothing"), |p| format!("{p:.2e}")),
            ]
        });
        let rows: Vec<_> = rows.collect();
        let keys = [
            "compare-benchmark",
            "compare-metric",
            "compare-verdict",
            "compare-overhead-a",
            "compare-overhead-b",
            "compare-change",
            "compare-interval",
            "compare-margin",
            "compare-adjusted-p",
        ];
        if with_verdict {
            self.table(keys, 3, rows.into_iter());
        } else {
            let [benchmark, metric, _, a, b, change, interval, ..] = keys;
            let rows =
                rows.into_iter().map(|[id, title, _, a, b, change, interval, ..]| [id, title, a, b, change, interval]);
            self.table([benchmark, metric, a, b, change, interval], 2, rows);
        }
    }

    fn speeds(&mut self, gate: &Gate) {
        let rows: Vec<_> = gate.primary().map(sentences::speeds).collect();
        let keys = [
            "compare-benchmark",
            "compare-unit",
            "compare-host-a",
            "compare-host-b",
            "compare-change",
            "compare-guest-a",
            "compare-guest-b",
            "compare-change",
        ];
        self.table(keys, 2, rows.into_iter());
    }

    fn differences(&mut self, gate: &Gate) {
        if gate.differences.is_empty() {
            self.line(&self.words.get("compare-differences-none"));
            return;
        }
        let words = self.words;
        let rows = gate.differences.iter().map(|difference| {
            let [a, b] = sentences::values(difference, words);
            [sentences::property(difference, words), a, b]
        });
        self.table(["compare-property", "compare-overhead-a", "compare-overhead-b"], 3, rows);
    }
}
