//! The findings of a self-test for a terminal of 80 columns.

use super::{Aa, GROUP, Head, Injected, Judgement, LEAST_GROUPS, PAIRS, Rate, SelfTest};
use crate::figures::{date, percent_unsigned, signed};
use crate::locale::Words;
use model::Accelerator;
use model::text::printable;
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// Columns of a line.
const WIDTH: usize = 80;
/// Most characters of a name.
const LONGEST_NAME: usize = 40;
/// Noise has two decimals below so many percent.
const NOISE: f64 = 10.0;
/// What is compared with an injected value has them up to here, so that a bias can be seen.
const RECOVERED: f64 = 100.0;

/// The text, in lines of at most 80 columns.
pub fn text(test: &SelfTest, words: &Words) -> String {
    let kind = match test {
        SelfTest::Aa(_) => "aa",
        SelfTest::Injected(_) => "injected",
    };
    let mut page = Page { out: String::new(), words };
    page.head(test.head(), kind);
    match test {
        SelfTest::Aa(aa) => page.aa(aa),
        SelfTest::Injected(injected) => page.injected(injected),
    }
    page.canaries(test.head());
    page.judgement(test.head(), kind);
    page.out
}

struct Page<'a> {
    out: String,
    words: &'a Words,
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn say(&self, key: &str, arguments: &[(&str, String)]) -> String {
        let arguments: Vec<_> = arguments.iter().map(|(name, text)| (*name, text.as_str().into())).collect();
        self.words.say(key, &arguments)
    }

    fn head(&mut self, head: &Head, kind: &str) {
        let title = self.say(
            &format!("selftest-title-{kind}"),
            &[
                ("version", printable(&head.vmtax, LONGEST_NAME)),
                ("date", date(head.created)),
                ("rounds", head.rounds.to_string()),
                ("planned", head.rounds_planned.to_string()),
            ],
        );
        self.line(&title);
        self.line(&self.words.get(&format!("selftest-about-{kind}")));
        if kind == "aa" && head.accelerator == Accelerator::Tcg {
            self.line(&self.words.get("selftest-emulated"));
        }
    }

    fn aa(&mut self, aa: &Aa) {
        for [base, other] in PAIRS {
            let pair = self.say("selftest-pair", &[("base", base.to_owned()), ("other", other.to_owned())]);
            self.line(&format!("\n{pair}"));
            let mut rows = vec![self.heads(&["excludes", "beyond", "overall", "interval", "floor", "runs"])];
            for noise in aa.series.iter().filter(|noise| noise.base == base) {
                rows.push(vec![
                    name(&noise.benchmark, &noise.metric),
                    format!("{}/{}", noise.excludes_zero, noise.groups),
                    format!("{}/{}", noise.beyond_margin, noise.groups),
                    shown(noise.overall_percent, |x| format!("{} %", fine(x, NOISE))),
                    shown(noise.overall_interval_percent, |ends| brackets(ends, NOISE)),
                    shown(noise.floor_percent, |x| format!("{} %", size(x, NOISE))),
                    shown(noise.run_spread_percent, percent_unsigned),
                ]);
            }
            self.out.push_str(&table(&rows));
        }
        self.legend(&["excludes", "beyond", "overall", "floor", "runs"]);
        self.dropped(aa.series.iter().map(|noise| (noise.other.as_str(), noise.benchmark.as_str(), noise.dropped)));
        self.rate("excludes", "most", &aa.excludes_zero);
        self.rate("beyond", "most", &aa.beyond_margin);
        self.errors(&[&aa.excludes_zero, &aa.beyond_margin]);
    }

    fn injected(&mut self, injected: &Injected) {
        self.line("");
        let heads = ["injection", "recovered", "interval", "bias", "bias-limit", "contained"];
        let mut rows = vec![self.heads(&heads)];
        for recovery in &injected.series {
            rows.push(vec![
                printable(&recovery.machine, LONGEST_NAME),
                format!("{} %", fine(recovery.injected_percent, RECOVERED)),
                shown(recovery.recovered_percent, |x| format!("{} %", fine(x, RECOVERED))),
                shown(recovery.recovered_interval_percent, |ends| brackets(ends, RECOVERED)),
                shown(recovery.bias_points, |x| fine(x, RECOVERED)),
                shown(recovery.bias_limit_points, |x| size(x, RECOVERED)),
                format!("{}/{}", recovery.contains, recovery.groups),
            ]);
        }
        self.out.push_str(&table(&rows));
        self.legend(&["bias", "contained"]);
        let dropped = injected.series.iter().map(|r| (r.machine.as_str(), r.benchmark.as_str(), r.dropped));
        self.dropped(dropped);
        self.rate("contains", "least", &injected.contains);
        self.errors(&[&injected.contains]);
    }

    /// The head of a table, by the keys of its columns but the first.
    fn heads(&self, keys: &[&str]) -> Vec<String> {
        let heads = keys.iter().map(|key| self.words.get(&format!("selftest-{key}")));
        std::iter::once(String::new()).chain(heads).collect()
    }

    fn legend(&mut self, keys: &[&str]) {
        self.line("");
        for key in keys {
            self.line(&self.words.get(&format!("selftest-legend-{key}")));
        }
        self.line("");
    }

    /// Machine, benchmark and number of blocks that do not count, once for all metrics of the benchmark.
    fn dropped<'a>(&mut self, series: impl Iterator<Item = (&'a str, &'a str, usize)>) {
        let all: BTreeSet<_> = series.filter(|(.., dropped)| *dropped > 0).collect();
        for (machine, benchmark, dropped) in all {
            let text = self.say(
                "selftest-dropped",
                &[
                    ("blocks", dropped.to_string()),
                    ("benchmark", printable(benchmark, LONGEST_NAME)),
                    ("machine", printable(machine, LONGEST_NAME)),
                ],
            );
            self.line(&text);
        }
    }

    fn rate(&mut self, what: &str, side: &str, rate: &Rate) {
        let figures = self.say(
            &format!("selftest-rate-{side}"),
            &[
                ("count", rate.count.to_string()),
                ("all", rate.of.to_string()),
                ("share", shown(rate.percent, percent_unsigned)),
                ("limit", percent_unsigned(rate.limit_percent)),
            ],
        );
        let text = self.say(&format!("selftest-rate-{what}"), &[("rate", figures)]);
        self.line(&text);
    }

    /// How far the shares just told can be off.
    fn errors(&mut self, rates: &[&Rate]) {
        let errors: Vec<String> =
            rates.iter().filter_map(|rate| rate.standard_error_points).map(|x| format!("{x:.1}")).collect();
        if !errors.is_empty() {
            let text = self.say("selftest-error", &[("errors", errors.join(", "))]);
            self.line(&text);
        }
    }

    fn canaries(&mut self, head: &Head) {
        if head.canaries.is_empty() {
            return;
        }
        self.line(&self.words.get("selftest-canaries"));
        let each = head.canaries.iter().map(|canary| {
            let machine = printable(&canary.machine, LONGEST_NAME);
            let change = percent_unsigned(canary.worst_change_percent);
            self.say("selftest-canary", &[("machine", machine), ("change", change)])
        });
        let mut line = " ".to_owned();
        let mut lines = Vec::new();
        for text in each {
            if line.width() + 2 + text.width() > WIDTH {
                lines.push(std::mem::replace(&mut line, " ".to_owned()));
            }
            line.push_str("  ");
            line.push_str(&text);
        }
        lines.push(line);
        lines.iter().for_each(|line| self.line(line.get(1..).unwrap_or_default()));
    }

    fn judgement(&mut self, head: &Head, kind: &str) {
        let text = match head.judgement {
            Judgement::Pass => self.words.get(&format!("selftest-pass-{kind}")),
            Judgement::Fail => self.words.get(&format!("selftest-fail-{kind}")),
            Judgement::TooFewRounds => self.say(
                "selftest-too-few",
                &[
                    ("groups", head.groups.to_string()),
                    ("least", LEAST_GROUPS.to_string()),
                    ("needed", (LEAST_GROUPS * GROUP).to_string()),
                ],
            ),
        };
        self.line(&format!("\n{text}"));
    }
}

fn name(benchmark: &str, metric: &str) -> String {
    format!("{} {}", printable(benchmark, LONGEST_NAME), printable(metric, LONGEST_NAME))
}

/// A size with two decimals below `fine_below`, because here hundredths of a percent are looked at.
fn size(value: f64, fine_below: f64) -> String {
    match value.abs() {
        small if small + 0.005 < fine_below => format!("{small:.2}"),
        large if large < 9_999.5 => signed(large).trim_start_matches('+').to_owned(),
        _ => ">9999".to_owned(),
    }
}

/// The same with its sign.
fn fine(value: f64, fine_below: f64) -> String {
    match size(value, fine_below).as_str() {
        "0.00" => "0.00".to_owned(),
        text if value < 0.0 => format!("−{text}"),
        text => format!("+{text}"),
    }
}

fn brackets([low, high]: [f64; 2], fine_below: f64) -> String {
    format!("[{}, {}]", fine(low, fine_below), fine(high, fine_below))
}

/// A figure, or a dash where there is none.
fn shown<T>(figure: Option<T>, show: impl FnOnce(T) -> String) -> String {
    figure.map_or("–".to_owned(), show)
}

/// Columns as wide as their contents, the first to the left, all others to the right. Where that is too wide, the first is cut.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.width()).max().unwrap_or(0);
    let others: usize = (1..columns).map(|column| 2 + width(column)).sum();
    let first = width(0).min(WIDTH.saturating_sub(2 + others));
    let mut out = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            if column == 0 {
                // Names of benchmarks, metrics and machines are ASCII.
                let cell: String = cell.chars().take(first).collect();
                out.push_str(&format!("  {cell:first$}"));
            } else {
                out.push_str(&" ".repeat(2 + width(column) - cell.width()));
                out.push_str(cell);
            }
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}
