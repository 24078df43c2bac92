//! Columns as wide as their contents, fitted into the terminal.

use super::{Style, Tone};
use model::text::printable;
use std::fmt::Write;
use textwrap::core::Word;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The first column is never cut below this.
const NARROWEST_NAME: usize = 8;

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// One field of a row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    long: String,
    short: String,
    tone: Tone,
}

impl Default for Cell {
    fn default() -> Self {
        Cell::new("")
    }
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Cell::either(&text, &text)
    }

    /// `long` where the row has room for it, else `short`.
    pub fn either(long: &str, short: &str) -> Self {
        let clean = |text: &str| printable(text, 60).replace(['\n', '\t'], " ");
        Cell { long: clean(long), short: clean(short), tone: Tone::Plain }
    }

    pub fn tone(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }

    fn text(&self, short: bool) -> &str {
        if short { &self.short } else { &self.long }
    }
}

/// A column: what stands above it, where its text stands, and spaces between it and the one before.
pub(super) type Column = (String, Align, usize);

/// A table.
pub(super) struct Grid {
    head: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// Rows before which an empty line stands.
    rules: Vec<usize>,
}

impl Grid {
    pub fn new(head: Vec<Column>) -> Self {
        Grid { head, rows: Vec::new(), rules: Vec::new() }
    }

    pub fn push(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// An empty line before the next row, if there is one.
    pub fn rule(&mut self) {
        self.rules.push(self.rows.len());
    }

    /// The lines. Where the long texts do not fit, whole columns change to their short ones, from the last column to the
    /// first; then the first column is cut.
    pub fn render(&self, style: &Style) -> String {
        let mut short = vec![false; self.head.len()];
        let mut widths = self.widths(&short);
        for column in (0..short.len()).rev() {
            if self.total(&widths) > style.width {
                short[column] = true;
                widths = self.widths(&short);
            }
        }
        let excess = self.total(&widths).saturating_sub(style.width);
        if let Some(name) = widths.first_mut() {
            *name = name.saturating_sub(excess).max(NARROWEST_NAME.min(*name));
        }

        let mut out = String::new();
        let head: Vec<Cell> = self.head.iter().map(|(text, ..)| Cell::new(text.as_str()).tone(Tone::Faint)).collect();
        self.line(&mut out, &head, &widths, &short, style);
        for (i, row) in self.rows.iter().enumerate() {
            if self.rules.contains(&i) {
                out.push('\n');
            }
            self.line(&mut out, row, &widths, &short, style);
        }
        out
    }

    fn widths(&self, short: &[bool]) -> Vec<usize> {
        self.head
            .iter()
            .enumerate()
            .map(|(column, (head, ..))| {
                let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|c| width(c.text(short[column])));
                cells.max().unwrap_or(0).max(width(head))
            })
            .collect()
    }

    /// Columns of a line. A column without any text takes no room.
    fn total(&self, widths: &[usize]) -> usize {
        let columns = self.head.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0);
        columns.map(|(i, ((_, _, gap), width))| width + if i == 0 { 0 } else { *gap }).sum()
    }

    fn line(&self, out: &mut String, cells: &[Cell], widths: &[usize], short: &[bool], style: &Style) {
        let mut line = String::new();
        let mut used = 0;
        // Spaces that are due before the next text: none are written at the end of a line.
        let mut due = 0;
        for (column, cell) in cells.iter().enumerate().filter(|(column, _)| widths[*column] > 0) {
            let (_, align, gap) = &self.head[column];
            due += if column == 0 { 0 } else { *gap };
            let text = cut(cell.text(short[column]), widths[column].min(style.width.saturating_sub(used + due)));
            let free = widths[column].saturating_sub(width(&text));
            if text.is_empty() {
                due += free;
                continue;
            }
            let (before, after) = if *align == Align::Right { (free, 0) } else { (0, free) };
            let _ = write!(line, "{}{}", " ".repeat(due + before), style.paint(cell.tone, &text));
            used += due + before + width(&text);
            due = after;
        }
        out.push_str(&line);
        out.push('\n');
    }
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The beginning of a text that takes at most `most` columns, with `…` where something is missing.
fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > most {
            break;
        }
        used += wide;
        out.push(c);
    }
    if most > 0 {
        out.push('…');
    }
    out
}

/// Lines of at most `most` columns, broken where the text's script allows it; longer words are broken anywhere. Empty lines
/// are left out.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    let options = Options::new(most)
        .word_separator(WordSeparator::Custom(pieces))
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    // A percent sign stays with its number.
    let glued = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ").replace(" %", "\u{a0}%");
    let lines = text.lines().map(glued).flat_map(|line| {
        let wrapped = textwrap::wrap(&line, &options).into_iter().map(|piece| piece.replace('\u{a0}', " "));
        wrapped.collect::<Vec<_>>()
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// A line in pieces after which it may be broken (Unicode Standard Annex 14), without the breaks within Latin words: paths,
/// versions and options stay whole.
fn pieces(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let within_word = |c: Option<char>| c.is_some_and(|c| c != ' ' && c.width() == Some(1));
    let ends = unicode_linebreak::linebreaks(line).map(|(end, _)| end);
    let mut start = 0;
    Box::new(
        ends.filter(move |end| {
            !(within_word(line[..*end].chars().next_back()) && within_word(line[*end..].chars().next()))
        })
        .map(move |end| Word::from(&line[std::mem::replace(&mut start, end)..end])),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { width: 20, color: false };

    #[test]
    fn columns_that_do_not_fit_use_their_short_text_and_then_the_name_is_cut() {
        let mut grid = Grid::new(vec![
            (String::new(), Align::Left, 0),
            ("n".to_owned(), Align::Right, 2),
            ("word".to_owned(), Align::Left, 2),
        ]);
        grid.push(vec![Cell::new("a long name here"), Cell::new("42"), Cell::either("FASTER_THAN_HOST", "FASTER")]);
        assert_eq!(grid.render(&STYLE), "           n  word\na long …  42  FASTER\n");
        let wide = Style { width: 80, ..STYLE };
        assert!(grid.render(&wide).contains("a long name here  42  FASTER_THAN_HOST"));
    }

    #[test]
    fn long_words_are_broken_and_wide_characters_count_twice() {
        assert_eq!(wrap("ab cdefghij k", 4), ["ab", "cdef", "ghij", "k"]);
        assert_eq!(wrap("虚拟化 x", 4), ["虚拟", "化 x"]);
        assert_eq!(wrap("see 虚拟化。", 8), ["see 虚拟", "化。"], "Chinese needs no space to be broken at");
        assert_eq!(wrap("虚拟化。", 6), ["虚拟", "化。"], "no line begins with a full stop");
        assert_eq!(cut("虚拟化", 5), "虚拟…");
    }
}
