//! The terminal report: what matters, readable in ten seconds at 80 columns.

pub(crate) mod gate;
mod grid;

use crate::analysis::{Analysis, BenchmarkReport, Comparison, Flag, Strength, Trouble, TroubleKind, Verdict};
use crate::figures::{brackets, count, date, factor, percent, row, share, times};
use grid::{Align, Cell, Grid};
use model::Accelerator;
use model::quantity::{show_duration, show_size};
use model::text::printable;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Columns that every line fits into, whatever the terminal says.
const NARROWEST: usize = 80;
/// Most characters of one text from a machine.
const LONGEST: usize = 400;
/// The verdict's column in the table of overheads.
const VERDICT: usize = 6;
/// Most kinds of failures that are told.
const TROUBLES: usize = 12;

/// How the terminal looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns; fewer than 80 count as 80.
    pub width: usize,
    /// True where ANSI colours are wanted.
    pub color: bool,
}

/// What a piece of text is, for those who see colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Faint,
    Bad,
    Good,
}

impl Style {
    fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Bad => "33",
            Tone::Good => "32",
        };
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The report for a terminal. No line is wider than the style's width.
pub fn text(analysis: &Analysis, style: &Style) -> String {
    let style = Style { width: style.width.max(NARROWEST), ..*style };
    let mut page = Page { out: String::new(), style };
    page.head(analysis);
    page.overheads(analysis);
    page.cost(analysis);
    page.remarks(analysis);
    page.troubles(analysis);
    page.foot(analysis);
    page.out
}

struct Page {
    out: String,
    style: Style,
}

impl Page {
    /// A paragraph; later lines stand under the first one's text.
    fn say(&mut self, tone: Tone, label: &str, text: &str) {
        for (i, line) in grid::wrap(&printable(text, LONGEST), self.style.width - grid::width(label)).iter().enumerate()
        {
            let indent = " ".repeat(grid::width(label));
            let start = if i == 0 { label } else { &indent };
            let _ = writeln!(self.out, "{start}{}", self.style.paint(tone, line));
        }
    }

    fn gap(&mut self) {
        self.out.push('\n');
    }

    fn head(&mut self, analysis: &Analysis) {
        let manifest = &analysis.manifest;
        let course = &analysis.course;
        let what = if manifest.plan.suites.is_empty() {
            "chosen benchmarks".to_owned()
        } else {
            manifest.plan.suites.join(", ")
        };
        let title = format!(
            "vmtax {} · {what} · {} · {} of {}",
            manifest.vmtax,
            date(manifest.created),
            course.rounds_complete,
            count(manifest.plan.rounds as usize, "round"),
        );
        self.say(Tone::Strong, "", &title);
        if let Some(host) = analysis.host() {
            let system = host.os.as_deref().unwrap_or("Linux");
            let text = format!(
                "{}, {}, {}, {system}, kernel {}",
                host.cpu.model,
                count(host.cpu.online as usize, "CPU"),
                show_size(host.memory_total),
                host.kernel_release
            );
            self.say(Tone::Plain, "  host   ", &text);
        }
        let plan = &manifest.plan;
        let kernel = analysis.guest().map_or(manifest.kernel.what.as_str(), |guest| guest.kernel_release.as_str());
        let text = format!(
            "{}, {}, {}, configuration {}, kernel {kernel}",
            count(plan.machine.cpus as usize, "vCPU"),
            show_size(plan.machine.memory),
            plan.machine.machine,
            plan.configuration.name,
        );
        self.say(Tone::Plain, "  guest  ", &text);
        let how = match manifest.accelerator {
            Accelerator::Kvm => "the CPU runs the guest's instructions",
            Accelerator::Tcg => "QEMU emulates every instruction of the guest",
        };
        let text = format!("{}, accelerator {}: {how}", manifest.hypervisor.version, manifest.accelerator.name());
        self.say(Tone::Plain, "  by     ", &text);
        self.gap();
        for note in &analysis.notes {
            let tone = if note.kind.is_loud() { Tone::Bad } else { Tone::Faint };
            self.say(tone, if note.kind.is_loud() { "! " } else { "· " }, &note.text);
        }
        if !analysis.notes.is_empty() {
            self.gap();
        }
        self.say(Tone::Strong, "", &analysis.answer);
    }

    fn overheads(&mut self, analysis: &Analysis) {
        if !analysis.has_figures() {
            return;
        }
        let mut grid = Grid::new(&[
            ("", Align::Left, 0),
            ("host", Align::Right, 2),
            ("guest", Align::Right, 2),
            ("", Align::Left, 1),
            ("overhead", Align::Right, 1),
            ("95 % interval", Align::Left, 2),
            ("verdict", Align::Left, 2),
            ("", Align::Left, 1),
        ]);
        let mut flags: Vec<Flag> = Vec::new();
        for area in &analysis.areas {
            for benchmark in analysis.benchmarks.iter().filter(|b| b.area == area.area) {
                for comparison in benchmark.primary() {
                    grid.push(overhead_row(benchmark, comparison));
                }
                if benchmark.primary().next().is_none() {
                    let mut cells = vec![Cell::either(&benchmark.title, short(benchmark))];
                    cells.resize(VERDICT, Cell::default());
                    cells.push(Cell::new("NOT MEASURED").tone(Tone::Bad));
                    grid.push(cells);
                }
                for flag in benchmark.flags.iter().filter(|_| benchmark.primary().next().is_some()) {
                    if !flags.iter().any(|f| f.letter() == flag.letter()) {
                        flags.push(*flag);
                    }
                }
            }
            let Some(overhead) = &area.overhead else { continue };
            let mut name = format!("all {}", area.area.name());
            if !area.left_out.is_empty() {
                let used = area.benchmarks.len();
                let _ = write!(name, " ({used} of {})", used + area.left_out.len());
            }
            let mut cells = vec![Cell::new(name).tone(Tone::Strong), Cell::default(), Cell::default(), Cell::default()];
            cells.push(Cell::new(percent(overhead.percent)).tone(Tone::Strong));
            cells.push(Cell::new(overhead.interval.as_ref().map_or(String::new(), brackets)).tone(Tone::Faint));
            cells.push(verdict_cell(area.verdict));
            cells.push(Cell::default());
            grid.push(cells);
            grid.rule();
        }
        self.gap();
        self.out.push_str(&grid.render(&self.style));
        for flag in flags {
            // With a number of its own in each row, the general words are enough here.
            let text = match flag {
                Flag::HostPageCache { .. } => {
                    "host page cache: QEMU moved fewer bytes than the guest's tool".to_owned()
                }
                flag => format!("{}: {}", flag.name(), flag.text()),
            };
            self.say(Tone::Faint, &format!("{}  ", flag.letter()), &text);
        }
    }

    fn cost(&mut self, analysis: &Analysis) {
        let costs: Vec<_> = analysis.benchmarks.iter().filter_map(|b| Some((b, b.host_cost.as_ref()?))).collect();
        if costs.is_empty() {
            return;
        }
        self.gap();
        self.say(Tone::Strong, "", "Where the tax goes: CPU time on the physical host for the same work");
        let mut grid = Grid::new(&[
            ("", Align::Left, 0),
            ("work", Align::Left, 2),
            ("host", Align::Right, 2),
            ("guest", Align::Right, 2),
            ("", Align::Left, 1),
            ("guest/host", Align::Right, 2),
            ("vCPU", Align::Right, 2),
            ("I/O", Align::Right, 2),
            ("other", Align::Right, 2),
        ]);
        for (benchmark, cost) in costs {
            let (shown, unit) = times(&[cost.host.cpu_seconds, cost.guest.cpu_seconds]);
            let split = |part: f64| Cell::new(share(part / cost.guest.cpu_seconds)).tone(Tone::Faint);
            let mut cells = vec![Cell::either(&benchmark.title, short(benchmark)), Cell::new(cost.work.title.clone())];
            cells.extend(shown.into_iter().map(Cell::new));
            cells.push(Cell::new(unit));
            cells.push(Cell::new(cost.factor.map_or("–".to_owned(), factor)).tone(Tone::Strong));
            cells.extend([
                split(cost.guest.vcpu_seconds),
                split(cost.guest.io_seconds),
                split(cost.guest.other_seconds),
            ]);
            grid.push(cells);
        }
        self.out.push_str(&grid.render(&self.style));
        self.say(Tone::Faint, "", "vCPU, I/O threads and the rest of QEMU are shares of the guest's figure.");
    }

    fn remarks(&mut self, analysis: &Analysis) {
        let remarks: BTreeSet<&str> =
            analysis.benchmarks.iter().flat_map(|b| b.remarks.keys().map(String::as_str)).collect();
        if remarks.is_empty() {
            return;
        }
        self.gap();
        self.say(Tone::Strong, "", "What the tools remarked");
        for remark in remarks.iter().take(TROUBLES) {
            let who = analysis.benchmarks.iter().filter(|b| b.remarks.contains_key(*remark)).map(|b| b.id.as_str());
            self.say(Tone::Plain, "  ", &format!("{}: {remark}", who.collect::<Vec<_>>().join(", ")));
        }
        self.more(remarks.len());
    }

    fn troubles(&mut self, analysis: &Analysis) {
        let course = &analysis.course;
        let broken: Vec<_> = course.attempts.iter().filter(|a| !a.complete).collect();
        if course.troubles.is_empty() && broken.is_empty() {
            return;
        }
        self.gap();
        self.say(Tone::Strong, "", "What did not work");
        for attempt in broken.iter().take(TROUBLES) {
            let why = attempt.why.as_deref().unwrap_or("it was cut off");
            let text = format!("round {} (attempt {}) is not used: {why}", attempt.round, attempt.attempt);
            self.say(Tone::Plain, "  ", &text);
        }
        self.more(broken.len());
        for trouble in course.troubles.iter().take(TROUBLES) {
            let tone = if trouble.kind == TroubleKind::Skipped { Tone::Faint } else { Tone::Bad };
            self.say(tone, "  ", &told(trouble));
        }
        self.more(course.troubles.len());
    }

    fn more(&mut self, all: usize) {
        if all > TROUBLES {
            self.say(Tone::Faint, "  ", &format!("and {} more (in the HTML and JSON reports)", all - TROUBLES));
        }
    }

    fn foot(&mut self, analysis: &Analysis) {
        let course = &analysis.course;
        self.gap();
        let mut text = format!(
            "{} measured, {} failed, {} skipped, {} cancelled",
            count(course.runs.measured, "run"),
            course.runs.failed,
            course.runs.skipped,
            course.runs.cancelled
        );
        if course.repeated > 0 {
            let _ = write!(text, "; {} repeated", count(course.repeated, "round"));
        }
        let _ = write!(text, "; {}; seed {}", show_duration(course.seconds), analysis.manifest.plan.seed);
        self.say(Tone::Faint, "", &text);
        if let Some(why) = &course.ending_why {
            self.say(Tone::Faint, "", why);
        } else if course.ending.is_none() {
            self.say(Tone::Faint, "", "The study has no end in its journal: it goes on, or was killed.");
        }
        if let Some(folder) = &analysis.folder {
            self.say(Tone::Plain, "", &format!("Study folder: {folder}"));
        }
    }
}

fn overhead_row(benchmark: &BenchmarkReport, comparison: &Comparison) -> Vec<Cell> {
    let shown = &comparison.metric.shown;
    let values = row(&[shown.apply(comparison.host.median), shown.apply(comparison.guest.median)]);
    let several = benchmark.primary().count() > 1;
    let name = |base: &str| if several { format!("{base} {}", comparison.metric.title) } else { base.to_owned() };
    let mut cells = vec![Cell::either(&name(&benchmark.title), &name(short(benchmark)))];
    cells.extend(values.into_iter().map(Cell::new));
    cells.push(Cell::new(shown.symbol.clone()).tone(Tone::Faint));
    let overhead = comparison.overhead.as_ref();
    cells.push(Cell::new(overhead.map_or("–".to_owned(), |o| percent(o.percent))).tone(Tone::Strong));
    let interval = overhead.and_then(|o| o.interval.as_ref());
    cells.push(Cell::new(interval.map_or(String::new(), brackets)).tone(Tone::Faint));
    cells.push(match overhead {
        _ if benchmark.is_refused() => Cell::new("NOT THE DISK").tone(Tone::Bad),
        Some(o) if o.strength == Strength::PointOnly => Cell::new("POINT ONLY"),
        _ => verdict_cell(comparison.verdict),
    });
    cells.push(Cell::new(benchmark.flags.iter().map(|f| f.letter()).collect::<String>()).tone(Tone::Bad));
    cells
}

/// The id without its area, which the table's groups say.
fn short(benchmark: &BenchmarkReport) -> &str {
    benchmark.id.strip_prefix(benchmark.area.name()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(&benchmark.id)
}

fn verdict_cell(verdict: Option<Verdict>) -> Cell {
    let Some(verdict) = verdict else { return Cell::default() };
    let tone = match verdict {
        Verdict::Overhead => Tone::Bad,
        Verdict::Equivalent => Tone::Good,
        Verdict::FasterThanHost | Verdict::Small | Verdict::Inconclusive | Verdict::Imprecise | Verdict::Invalid => {
            Tone::Plain
        }
    };
    match verdict {
        Verdict::FasterThanHost => Cell::either(verdict.word(), "FASTER"),
        _ => Cell::new(verdict.word()),
    }
    .tone(tone)
}

fn told(trouble: &Trouble) -> String {
    let rounds: Vec<String> = trouble.rounds.iter().take(8).map(u32::to_string).collect();
    let more = if trouble.rounds.len() > 8 { ", …" } else { "" };
    let word = if trouble.rounds.len() == 1 { "round" } else { "rounds" };
    format!(
        "{} on {}, {word} {}{more}: {}: {}",
        trouble.benchmark,
        trouble.machine,
        rounds.join(", "),
        trouble.kind.word(),
        trouble.why
    )
}
