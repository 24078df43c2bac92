//! The terminal report: what matters, readable in ten seconds at 80 columns.

mod course;
pub(crate) mod gate;
mod grid;
mod overheads;
mod trust;

use crate::Words;
use crate::analysis::{Analysis, BenchmarkReport};
use crate::answer::answer_in;
use crate::figures::date;
use grid::Align;
use model::Accelerator;
use model::quantity::show_size;
use model::text::printable;
use std::fmt::Write;

/// Columns that every line fits into, whatever the terminal says.
const NARROWEST: usize = 80;
/// Most characters of one text from a machine.
const LONGEST: usize = 400;

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

/// The report for a terminal, in the language of `words`. No line is wider than the style's width.
pub fn text(analysis: &Analysis, style: &Style, words: &Words) -> String {
    let style = Style { width: style.width.max(NARROWEST), ..*style };
    let mut page = Page { out: String::new(), style, words };
    page.head(analysis);
    page.overheads(analysis);
    page.validity(analysis);
    page.precision(analysis);
    page.cost(analysis);
    page.remarks(analysis);
    page.troubles(analysis);
    page.foot(analysis);
    page.out
}

struct Page<'w> {
    out: String,
    style: Style,
    words: &'w Words,
}

impl Page<'_> {
    /// A paragraph; later lines stand under the first one's text.
    fn say(&mut self, tone: Tone, label: &str, text: &str) {
        let room = self.style.width - grid::width(label);
        for (i, line) in grid::wrap(&printable(text, LONGEST), room).iter().enumerate() {
            let indent = " ".repeat(grid::width(label));
            let start = if i == 0 { label } else { &indent };
            let _ = writeln!(self.out, "{start}{}", self.style.paint(tone, line));
        }
    }

    fn gap(&mut self) {
        self.out.push('\n');
    }

    /// What stands above a part of the report.
    fn title(&mut self, key: &str) {
        self.gap();
        self.say(Tone::Strong, "", &self.words.get(key));
    }

    /// A column whose head is the message `key`; an empty key is an empty head.
    fn column(&self, key: &str, align: Align, gap: usize) -> grid::Column {
        (if key.is_empty() { String::new() } else { self.words.get(key) }, align, gap)
    }

    fn head(&mut self, analysis: &Analysis) {
        let words = self.words;
        let manifest = &analysis.manifest;
        let plan = &manifest.plan;
        let what = if plan.suites.is_empty() { words.get("chosen") } else { plan.suites.join(", ") };
        let rounds = words
            .say("rounds-of", &[("done", analysis.course.rounds_complete.into()), ("planned", plan.rounds.into())]);
        let title = format!("vmtax {} · {what} · {} · {rounds}", manifest.vmtax, date(manifest.created));
        self.say(Tone::Strong, "", &title);
        let labels = ["text-host", "text-guest", "text-by"].map(|key| words.get(key));
        let wide = labels.iter().map(|label| grid::width(label)).max().unwrap_or(0);
        let [host, guest, by] = labels.map(|label| format!("  {label}{}", " ".repeat(wide + 2 - grid::width(&label))));
        if let Some(facts) = analysis.host() {
            let system = facts.os.as_deref().unwrap_or("Linux");
            let text = words.say(
                "host-line",
                &[
                    ("cpu", facts.cpu.model.as_str().into()),
                    ("cpus", words.count("count-cpus", facts.cpu.online as usize).into()),
                    ("memory", show_size(facts.memory_total).into()),
                    ("system", system.into()),
                    ("kernel", facts.kernel_release.as_str().into()),
                ],
            );
            self.say(Tone::Plain, &host, &text);
        }
        let kernel = analysis.guest().map_or(manifest.kernel.what.as_str(), |guest| guest.kernel_release.as_str());
        let text = words.say(
            "guest-line",
            &[
                ("cpus", words.count("count-vcpus", plan.machine.cpus as usize).into()),
                ("memory", show_size(plan.machine.memory).into()),
                ("machine", plan.machine.machine.as_str().into()),
                ("configuration", plan.configuration.name.as_str().into()),
                ("kernel", kernel.into()),
            ],
        );
        self.say(Tone::Plain, &guest, &text);
        let how = words.get(match manifest.accelerator {
            Accelerator::Kvm => "by-kvm",
            Accelerator::Tcg => "by-tcg",
        });
        self.say(Tone::Plain, &by, &[manifest.hypervisor.version.as_str(), &how].join(&words.get("comma")));
        self.gap();
        for note in &analysis.notes {
            let tone = if note.kind.is_loud() { Tone::Bad } else { Tone::Faint };
            self.say(tone, if note.kind.is_loud() { "! " } else { "· " }, &note.say(words));
        }
        if !analysis.notes.is_empty() {
            self.gap();
        }
        let refused = analysis.has_invalid();
        self.say(Tone::Strong, "", &answer_in(words, &analysis.manifest, &analysis.areas, refused));
    }
}

/// The id without its area, which the table's groups say.
fn short(benchmark: &BenchmarkReport) -> &str {
    benchmark.id.strip_prefix(benchmark.area.name()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(&benchmark.id)
}
