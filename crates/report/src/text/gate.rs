//! The comparison of two studies for a terminal.

use super::grid::{Align, Cell, Grid};
use super::{NARROWEST, Page, Style, Tone};
use crate::compare::{Change, Decision, Gate, Note, Verdict, sentences};
use crate::figures::{brackets, percent};
use crate::locale::Words;
use model::text::printable;

/// Most characters of one side of a difference; the other formats have more.
const LONGEST: usize = 160;

/// The comparison for a terminal, in the language of `words`. No line is wider than the style's width.
pub fn text(gate: &Gate, style: &Style, words: &Words) -> String {
    let style = Style { width: style.width.max(NARROWEST), ..*style };
    let mut page = Page { out: String::new(), style, words };
    page.say(Tone::Strong, "", &words.get("compare-title"));
    for study in &gate.studies {
        page.say(Tone::Strong, &format!("  {}  ", study.which.letter()), &study.name);
        page.say(Tone::Plain, "     ", &sentences::study(study, words));
    }
    page.gap();
    for note in &gate.notes {
        let (tone, label) = if *note == Note::SameStudy { (Tone::Faint, "· ") } else { (Tone::Bad, "! ") };
        page.say(tone, label, &sentences::note(note, words));
    }
    if !gate.notes.is_empty() {
        page.gap();
    }
    let tone = match gate.decision {
        Decision::NoRegression => Tone::Good,
        Decision::Regression | Decision::Undecided => Tone::Bad,
    };
    page.say(tone, "", &sentences::answer(gate, words));
    page.changes(gate);
    page.speeds(gate);
    page.left_out(gate);
    page.differences(gate);
    page.out
}

impl Page<'_> {
    fn changes(&mut self, gate: &Gate) {
        let words = self.words;
        let mut grid = Grid::new(vec![
            self.column("", Align::Left, 0),
            self.column("compare-overhead-a", Align::Right, 2),
            self.column("compare-overhead-b", Align::Right, 2),
            self.column("compare-change", Align::Right, 2),
            self.column("compare-interval", Align::Left, 2),
            self.column("compare-verdict", Align::Left, 2),
        ]);
        for change in gate.primary() {
            grid.push(change_row(gate, change, words));
            if let Some(again) = &change.confirmation {
                let overhead = again.c.as_ref().and_then(|c| c.overhead_percent);
                let mut cells = vec![Cell::new("  C").tone(Tone::Faint), Cell::default()];
                cells.push(figure(overhead));
                cells.push(figure(again.shift.map(|s| s.percent)));
                cells.push(Cell::new(again.shift.map_or(String::new(), |s| brackets(&s.interval))).tone(Tone::Faint));
                if again.shown.is_none() {
                    cells.push(Cell::new(words.get("compare-confirmation-none")).tone(Tone::Bad));
                }
                grid.push(cells);
            }
        }
        self.gap();
        self.say(Tone::Strong, "", &words.get("compare-overhead"));
        self.out.push_str(&grid.render(&self.style));
        self.say(Tone::Faint, "", &words.get("compare-overhead-note"));
        for verdict in Verdict::ALL.into_iter().filter(|verdict| gate.count(*verdict) > 0) {
            let meaning = sentences::meaning(verdict, gate, words);
            self.say(Tone::Faint, &format!("{}  ", verdict.word()), &meaning);
        }
        let secondary = gate.changes.iter().filter(|c| c.verdict.is_none()).count();
        if secondary > 0 {
            self.say(Tone::Faint, "", &words.say("compare-secondary", &[("count", secondary.into())]));
        }
    }

    fn speeds(&mut self, gate: &Gate) {
        let words = self.words;
        let mut grid = Grid::new(vec![
            self.column("", Align::Left, 0),
            self.column("", Align::Left, 1),
            self.column("compare-host-a", Align::Right, 2),
            self.column("compare-host-b", Align::Right, 1),
            self.column("", Align::Right, 1),
            self.column("compare-guest-a", Align::Right, 2),
            self.column("compare-guest-b", Align::Right, 1),
            self.column("", Align::Right, 1),
        ]);
        for change in gate.primary() {
            let mut cells: Vec<Cell> = sentences::speeds(change).into_iter().map(Cell::new).collect();
            cells[0] = name(gate, change);
            grid.push(cells);
        }
        self.gap();
        self.say(Tone::Strong, "", &words.get("compare-speeds"));
        self.out.push_str(&grid.render(&self.style));
    }

    fn left_out(&mut self, gate: &Gate) {
        let words = self.words;
        if gate.left_out.is_empty() {
            return;
        }
        self.gap();
        self.say(Tone::Strong, "", &words.get("compare-left-out"));
        for left in &gate.left_out {
            self.say(Tone::Plain, "  ", &sentences::left_out(left, words));
        }
    }

    fn differences(&mut self, gate: &Gate) {
        let words = self.words;
        self.gap();
        self.say(Tone::Strong, "", &words.get("compare-differences"));
        if gate.differences.is_empty() {
            self.say(Tone::Plain, "  ", &words.get("compare-differences-none"));
        }
        for difference in &gate.differences {
            let [a, b] = sentences::values(difference, words).map(|value| printable(&value, LONGEST));
            self.say(Tone::Plain, "  ", &format!("{}: {a} → {b}", sentences::property(difference, words)));
        }
    }
}

fn change_row(gate: &Gate, change: &Change, words: &Words) -> Vec<Cell> {
    let tone = match change.verdict {
        Some(Verdict::Regression) => Tone::Bad,
        Some(Verdict::Improvement | Verdict::NoChange) => Tone::Good,
        Some(Verdict::Unclear | Verdict::TooFew | Verdict::NotConfirmed) | None => Tone::Plain,
    };
    let shift = change.shift.as_ref();
    let change_cell = shift.map_or(words.get("compare-nothing"), |s| percent(s.percent));
    vec![
        name(gate, change),
        figure(change.a.overhead_percent),
        figure(change.b.overhead_percent),
        Cell::new(change_cell).tone(Tone::Strong),
        Cell::new(shift.map_or(String::new(), |s| brackets(&s.interval))).tone(Tone::Faint),
        Cell::new(change.verdict.map_or("", Verdict::word)).tone(tone),
    ]
}

/// A percentage, where there is one.
fn figure(value: Option<f64>) -> Cell {
    Cell::new(value.map_or(String::new(), percent))
}

/// The benchmark, with its metric where it has several primary ones.
fn name(gate: &Gate, change: &Change) -> Cell {
    let several = gate.primary().filter(|c| c.benchmark == change.benchmark).count() > 1;
    let name = |base: &str| if several { format!("{base} {}", change.metric.title) } else { base.to_owned() };
    Cell::either(&name(&change.title), &name(&change.benchmark))
}
