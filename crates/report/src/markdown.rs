//! The report for issues, wikis and pull requests: tables in GitHub's Markdown.

use crate::Words;
use crate::analysis::{Analysis, AreaSummary, BenchmarkReport, CheckReport, Comparison, Flag, Strength};
use crate::answer::answer_in;
use crate::figures::{brackets, date, percent, row};
use model::text::printable;
use model::{Accelerator, Area, Status};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Most characters of one text from a machine.
const LONGEST: usize = 400;

/// Host and guest, overhead, verdict and flags of every benchmark; then the checks that did not pass.
pub fn markdown(analysis: &Analysis, words: &Words) -> String {
    let mut out = String::new();
    let manifest = &analysis.manifest;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "**{}**\n", escaped(&answer_in(words, manifest, &analysis.areas, analysis.has_invalid())));
    if manifest.accelerator == Accelerator::Tcg {
        let _ = writeln!(out, "> {}\n", escaped(&words.get("markdown-emulated")));
    }
    let study = words.say(
        "markdown-study",
        &[
            ("version", escaped(&manifest.vmtax).into()),
            ("date", date(manifest.created).into()),
            ("rounds", analysis.course.rounds_complete.into()),
            ("accelerator", manifest.accelerator.name().to_uppercase().into()),
        ],
    );
    let _ = writeln!(out, "{study}\n");
    overheads(&mut out, analysis, words);
    checks(&mut out, analysis, words);
    out
}

fn table(out: &mut String, words: &Words, columns: &[(&str, bool)]) {
    let titles: Vec<String> = columns.iter().map(|(key, _)| escaped(&words.get(key))).collect();
    let rules: Vec<&str> = columns.iter().map(|(_, right)| if *right { "--:" } else { ":--" }).collect();
    line(out, &titles);
    line(out, &rules);
}

fn line<T: AsRef<str>>(out: &mut String, cells: &[T]) {
    for cell in cells {
        let _ = write!(out, "| {} ", cell.as_ref());
    }
    out.push_str("|\n");
}

fn overheads(out: &mut String, analysis: &Analysis, words: &Words) {
    let columns = [
        ("markdown-benchmark", false),
        ("markdown-host", true),
        ("markdown-guest", true),
        ("markdown-overhead", true),
        ("markdown-interval", false),
        ("markdown-verdict", false),
        ("markdown-flags", false),
    ];
    table(out, words, &columns);
    let mut flags: BTreeMap<char, Flag> = BTreeMap::new();
    for area in &analysis.areas {
        for benchmark in analysis.benchmarks.iter().filter(|b| b.area == area.area) {
            let mut rows = benchmark.primary().peekable();
            if rows.peek().is_none() {
                let nothing = words.get("markdown-not-measured");
                line(out, &[&escaped(&words.benchmark(&benchmark.id, &benchmark.title)), "", "", "", "", &nothing, ""]);
            }
            rows.for_each(|comparison| line(out, &overhead(benchmark, comparison, words)));
            flags.extend(benchmark.flags.iter().map(|flag| (flag.letter(), *flag)));
        }
        if area.overhead.is_some() {
            line(out, &summary(area, words));
        }
    }
    out.push('\n');
    for (letter, flag) in flags {
        let _ = writeln!(out, "- {letter}: {}", escaped(&flag.name(words)));
    }
    if !analysis.benchmarks.iter().all(|b| b.flags.is_empty()) {
        out.push('\n');
    }
}

fn overhead(benchmark: &BenchmarkReport, comparison: &Comparison, words: &Words) -> [String; 7] {
    let shown = &comparison.metric.shown;
    let [host, guest] = [comparison.host.median, comparison.guest.median].map(|value| shown.apply(value));
    let values: Vec<String> =
        row(&[host, guest]).into_iter().map(|value| format!("{value} {}", escaped(&shown.symbol))).collect();
    let overhead = comparison.overhead.as_ref();
    let verdict = match (comparison.verdict, overhead) {
        (Some(verdict), _) => verdict.word(),
        (None, Some(o)) if o.strength == Strength::PointOnly => "POINT_ONLY",
        (None, _) => "",
    };
    [
        escaped(&words.row(benchmark, &comparison.metric)),
        values.first().cloned().unwrap_or_default(),
        values.get(1).cloned().unwrap_or_default(),
        overhead.map_or("–".to_owned(), |o| percent(o.percent)),
        overhead.and_then(|o| o.interval.as_ref()).map_or(String::new(), |i| escaped(&brackets(i))),
        escaped(verdict),
        benchmark.flags.iter().map(|flag| flag.letter()).collect(),
    ]
}

fn summary(area: &AreaSummary, words: &Words) -> [String; 7] {
    let name = words.get(match area.area {
        Area::Cpu => "markdown-all-cpu",
        Area::Memory => "markdown-all-memory",
        Area::Disk => "markdown-all-disk",
    });
    let overhead = area.overhead.as_ref();
    let strong = |text: String| if text.is_empty() { text } else { format!("**{text}**") };
    [
        strong(escaped(&name)),
        String::new(),
        String::new(),
        strong(overhead.map_or(String::new(), |o| percent(o.percent))),
        overhead.and_then(|o| o.interval.as_ref()).map_or(String::new(), |i| escaped(&brackets(i))),
        area.verdict.map_or(String::new(), |verdict| escaped(verdict.word())),
        String::new(),
    ]
}

fn checks(out: &mut String, analysis: &Analysis, words: &Words) {
    let of_benchmarks = analysis.benchmarks.iter().flat_map(|b| b.checks.iter().map(|check| (b.id.as_str(), check)));
    let mut open: Vec<(&str, &CheckReport)> =
        analysis.checks.iter().map(|check| ("", check)).chain(of_benchmarks).collect();
    open.retain(|(_, check)| check.status != Status::Pass);
    open.sort_by_key(|(_, check)| std::cmp::Reverse(check.status));
    if open.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}\n", words.get("markdown-checks"));
    let columns = [
        ("markdown-status", false),
        ("markdown-check", false),
        ("markdown-where", false),
        ("markdown-seen", true),
        ("markdown-evidence", false),
    ];
    table(out, words, &columns);
    for (benchmark, check) in open {
        let place = [benchmark, check.machine.as_deref().unwrap_or_default()];
        let place: Vec<&str> = place.into_iter().filter(|part| !part.is_empty()).collect();
        let all: usize = check.counts.values().sum();
        let seen = check.counts.get(&check.status).copied().unwrap_or_default();
        line(
            out,
            &[
                check.status.word().to_owned(),
                escaped(&words.threat(check.threat)),
                escaped(&place.join(", ")),
                format!("{seen} / {all}"),
                escaped(&words.evidence(check)),
            ],
        );
    }
}

/// Text that stays text: on one line of a table, without markup, and without calling anybody.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text, LONGEST).chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // GitHub tells people who are named so, and a backslash does not stop it.
            '@' => out.push_str("@\u{200b}"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_machines_is_no_markup() {
        assert_eq!(escaped("a|b`c`\n<b>*x*</b> @you"), "a\\|b\\`c\\` &lt;b&gt;\\*x\\*&lt;/b&gt; @\u{200b}you");
        assert_eq!(escaped("![x](y)\u{1b}[2J"), "\\!\\[x\\](y)\\\\u{1b}\\[2J");
    }
}
