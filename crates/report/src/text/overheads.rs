//! The table of overheads, and what its letters and verdicts mean.

use super::grid::{Align, Cell, Grid};
use super::{Page, Tone, short};
use crate::analysis::{Analysis, BenchmarkReport, Comparison, Flag, Strength, Verdict};
use crate::figures::{brackets, percent, row};
use crate::wording::VERDICTS;
use std::collections::BTreeSet;

/// The verdict's column.
const VERDICT: usize = 6;

impl Page<'_> {
    pub(super) fn overheads(&mut self, analysis: &Analysis) {
        if !analysis.has_figures() {
            return;
        }
        let mut grid = Grid::new(vec![
            self.column("", Align::Left, 0),
            self.column("table-host", Align::Right, 2),
            self.column("table-guest", Align::Right, 2),
            self.column("", Align::Left, 1),
            self.column("table-overhead", Align::Right, 1),
            self.column("table-interval", Align::Left, 2),
            self.column("table-verdict", Align::Left, 2),
            self.column("", Align::Left, 1),
        ]);
        let mut flags: Vec<Flag> = Vec::new();
        let mut verdicts: BTreeSet<&str> = BTreeSet::new();
        for area in &analysis.areas {
            for benchmark in analysis.benchmarks.iter().filter(|b| b.area == area.area) {
                for comparison in benchmark.primary() {
                    grid.push(self.overhead(benchmark, comparison));
                    verdicts.extend(comparison.verdict.map(Verdict::word));
                }
                if benchmark.primary().next().is_none() {
                    let title = self.words.benchmark(&benchmark.id, &benchmark.title);
                    let mut cells = vec![Cell::either(&title, short(benchmark))];
                    cells.resize(VERDICT, Cell::default());
                    cells.push(Cell::new(self.words.get("not-measured")).tone(Tone::Bad));
                    grid.push(cells);
                }
                for flag in benchmark.flags.iter().filter(|_| benchmark.primary().next().is_some()) {
                    if !flags.iter().any(|f| f.letter() == flag.letter()) {
                        flags.push(*flag);
                    }
                }
            }
            let Some(overhead) = &area.overhead else { continue };
            verdicts.extend(area.verdict.map(Verdict::word));
            let name = self.words.area(area.area);
            let used = area.benchmarks.len();
            let name = if area.left_out.is_empty() {
                self.words.say("all-of-area", &[("area", name.into())])
            } else {
                self.words.say(
                    "some-of-area",
                    &[("area", name.into()), ("used", used.into()), ("all", (used + area.left_out.len()).into())],
                )
            };
            let mut cells = vec![Cell::new(name).tone(Tone::Strong), Cell::default(), Cell::default(), Cell::default()];
            cells.push(Cell::new(percent(overhead.percent)).tone(Tone::Strong));
            cells.push(Cell::new(overhead.interval.as_ref().map_or(String::new(), brackets)).tone(Tone::Faint));
            cells.push(verdict_cell(area.verdict));
            grid.push(cells);
            grid.rule();
        }
        self.gap();
        self.out.push_str(&grid.render(&self.style));
        for flag in flags {
            // With a number of its own in each row, the general words are enough here.
            let text = match flag {
                Flag::HostPageCache { .. } => self.words.get("flag-host-page-cache-short"),
                flag => self.words.say(
                    "flag-meaning",
                    &[("name", flag.name(self.words).into()), ("text", flag.text(self.words).into())],
                ),
            };
            self.say(Tone::Faint, &format!("{}  ", flag.letter()), &text);
        }
        self.meanings(analysis, &verdicts);
    }

    /// What the verdicts mean that occur.
    fn meanings(&mut self, analysis: &Analysis, verdicts: &BTreeSet<&str>) {
        let meanings: Vec<String> = VERDICTS
            .iter()
            .filter(|verdict| verdicts.contains(verdict.word()))
            .map(|verdict| {
                let meaning = self.words.meaning(*verdict);
                self.words.say("verdict-meaning", &[("verdict", verdict.word().into()), ("meaning", meaning.into())])
            })
            .collect();
        if meanings.is_empty() {
            return;
        }
        let margins = self.words.margins(analysis);
        let text = self.words.say(
            "verdict-key",
            &[("meanings", meanings.join(&self.words.get("semicolon")).into()), ("margins", margins.into())],
        );
        self.say(Tone::Faint, "", &text);
    }

    /// A benchmark by its short id, with its metric where it has more than one that matters.
    pub(super) fn short_row(&self, benchmark: &BenchmarkReport, comparison: &Comparison) -> String {
        if benchmark.primary().count() > 1 {
            format!("{} {}", short(benchmark), self.words.metric(benchmark, &comparison.metric))
        } else {
            short(benchmark).to_owned()
        }
    }

    fn overhead(&self, benchmark: &BenchmarkReport, comparison: &Comparison) -> Vec<Cell> {
        let shown = &comparison.metric.shown;
        let values = row(&[shown.apply(comparison.host.median), shown.apply(comparison.guest.median)]);
        let name = Cell::either(&self.words.row(benchmark, &comparison.metric), &self.short_row(benchmark, comparison));
        let mut cells = vec![name];
        cells.extend(values.into_iter().map(Cell::new));
        cells.push(Cell::new(shown.symbol.clone()).tone(Tone::Faint));
        let overhead = comparison.overhead.as_ref();
        cells.push(Cell::new(overhead.map_or("–".to_owned(), |o| percent(o.percent))).tone(Tone::Strong));
        let interval = overhead.and_then(|o| o.interval.as_ref());
        cells.push(Cell::new(interval.map_or(String::new(), brackets)).tone(Tone::Faint));
        cells.push(match overhead {
            Some(o) if o.strength == Strength::PointOnly && !benchmark.invalid => Cell::new("POINT ONLY"),
            _ => verdict_cell(comparison.verdict),
        });
        cells.push(Cell::new(benchmark.flags.iter().map(|f| f.letter()).collect::<String>()).tone(Tone::Bad));
        cells
    }
}

fn verdict_cell(verdict: Option<Verdict>) -> Cell {
    let Some(verdict) = verdict else { return Cell::default() };
    let tone = match verdict {
        Verdict::Overhead | Verdict::Invalid => Tone::Bad,
        Verdict::Equivalent => Tone::Good,
        Verdict::FasterThanHost | Verdict::Small | Verdict::Inconclusive | Verdict::Imprecise => Tone::Plain,
    };
    match verdict {
        Verdict::FasterThanHost => Cell::either(verdict.word(), "FASTER"),
        _ => Cell::new(verdict.word()),
    }
    .tone(tone)
}
