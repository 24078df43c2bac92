//! `journal.jsonl`: one event a line. Reading forgives everything, writing is synced line by line.

use crate::error::StoreError;
use model::record::{Event, Line};
use model::text::printable;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(crate) const FILE: &str = "journal.jsonl";

/// A journal as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journal {
    /// The lines, oldest first.
    pub lines: Vec<Line>,
    /// What had to be left out.
    pub skipped: Vec<Skipped>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// From 1.
    pub line_number: usize,
    /// Why, in words that are safe to show.
    pub why: String,
}

impl Journal {
    /// Reads a journal's bytes. A torn last line and damaged lines are skipped; empty lines mean nothing (a writer that
    /// finds or fears a torn line begins with a line break). Never fails.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut journal = Journal::default();
        let mut rest = bytes;
        let mut line_number = 0;
        while !rest.is_empty() {
            line_number += 1;
            let end = rest.iter().position(|b| *b == b'\n');
            let (text, after) = end.map_or((rest, &[][..]), |end| (&rest[..end], &rest[end + 1..]));
            rest = after;
            if text.trim_ascii().is_empty() {
                continue;
            }
            match Line::parse(text) {
                Ok(line) => journal.lines.push(line),
                Err(e) => {
                    let what = if end.is_none() { "cut off" } else { "damaged" };
                    let why = printable(&format!("{what}: {e}"), 300);
                    journal.skipped.push(Skipped { line_number, why });
                }
            }
        }
        journal
    }
}

/// The end of a journal, to be added to.
#[derive(Debug)]
pub(crate) struct Appender {
    file: File,
    path: PathBuf,
    folder: PathBuf,
    /// False where the last line may be torn; it is never cut off, the next line begins with a line break instead.
    at_line_start: bool,
}

impl Appender {
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let open = || -> io::Result<(File, bool)> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
            if file.metadata()?.len() == 0 {
                return Ok((file, true));
            }
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            Ok((file, last == *b"\n"))
        };
        match open() {
            Ok((file, at_line_start)) => Ok(Appender { file, path, folder: folder.to_owned(), at_line_start }),
            Err(source) => Err(StoreError::Append { path, folder: folder.to_owned(), source }),
        }
    }

    pub(crate) fn append(&mut self, at: f64, event: &Event) -> Result<(), StoreError> {
        let failed = |source| StoreError::Append { path: self.path.clone(), folder: self.folder.clone(), source };
        let line = Line { at, event: event.clone() };
        let text = serde_json::to_string(&line).map_err(|e| failed(e.into()))?;
        // JSON writes NaN as null, which would lose the whole line on reading.
        if Line::parse(text.as_bytes()).ok().as_ref() != Some(&line) {
            return Err(StoreError::NotFinite { path: self.path.clone(), what: printable(&text, 2000) });
        }
        let text = format!("{}{text}\n", if self.at_line_start { "" } else { "\n" });
        self.at_line_start = false;
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data()).map_err(failed)?;
        self.at_line_start = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::outcome::{FailureCause, Outcome};
    use model::record::{Ending, RunRecord};
    use proptest::prelude::*;

    fn finite() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite())
    }

    /// Texts with everything that could upset a format of lines.
    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(
            prop_oneof![Just('\n'), Just('"'), Just('\\'), Just('\u{2028}'), Just('\0'), any::<char>()],
            0..12,
        )
        .prop_map(String::from_iter)
    }

    fn outcome() -> impl Strategy<Value = Outcome> {
        prop_oneof![
            proptest::collection::btree_map(text(), finite(), 0..3).prop_map(|values| Outcome::Measured { values }),
            text().prop_map(|why| Outcome::Failed { cause: FailureCause::Guest, why }),
            text().prop_map(|why| Outcome::Skipped { why }),
            Just(Outcome::Cancelled),
        ]
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            (text(), text()).prop_map(|(vmtax, build)| Event::Opened { vmtax, build }),
            (any::<u32>(), proptest::collection::vec(text(), 0..3)).prop_map(|(round, order)| Event::RoundStarted {
                round,
                attempt: 1,
                order
            }),
            (text(), finite(), proptest::option::of(finite())).prop_map(|(machine, ready_seconds, offset)| {
                Event::Booted {
                    machine,
                    round: 1,
                    attempt: 1,
                    ready_seconds,
                    clock_uncertainty_seconds: offset,
                    clock_offset_seconds: offset,
                }
            }),
            (text(), outcome(), finite(), proptest::option::of(text())).prop_map(
                |(machine, outcome, total_seconds, raw)| {
                    Event::Run(Box::new(RunRecord {
                        round: 1,
                        attempt: 1,
                        block: 0,
                        turn: 0,
                        machine,
                        benchmark: "cpu.dhrystone".to_owned(),
                        outcome,
                        counters: None,
                        host_cost: None,
                        controller_seconds: Some(total_seconds),
                        total_seconds,
                        argv: raw.iter().cloned().collect(),
                        raw,
                        remarks: Vec::new(),
                        work: None,
                        series: None,
                        histogram: None,
                        surroundings: None,
                        checks: Vec::new(),
                    }))
                }
            ),
            text().prop_map(|why| Event::Ended { how: Ending::Failed, why }),
        ]
    }

    fn events() -> impl Strategy<Value = Vec<(f64, Event)>> {
        proptest::collection::vec((finite(), event()), 0..6)
    }

    fn lines(events: &[(f64, Event)]) -> Vec<Line> {
        events.iter().map(|(at, event)| Line { at: *at, event: event.clone() }).collect()
    }

    fn write(folder: &Path, events: &[(f64, Event)]) {
        let mut journal = Appender::open(folder).unwrap();
        for (at, event) in events {
            journal.append(*at, event).unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_is_appended_is_read_back_to_the_last_bit(events in events()) {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &events);
            let journal = Journal::parse(&std::fs::read(folder.path().join(FILE)).unwrap());
            prop_assert_eq!(journal.skipped, vec![]);
            for (line, (at, _)) in journal.lines.iter().zip(&events) {
                prop_assert_eq!(line.at.to_bits(), at.to_bits());
            }
            prop_assert_eq!(journal.lines, lines(&events));
        }

        #[test]
        fn a_cut_at_any_byte_loses_the_torn_line_only_and_the_next_line_is_whole(
            before in events(), after in events(), cut in any::<proptest::sample::Index>()
        ) {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(FILE);
            write(folder.path(), &before);
            let whole = std::fs::read(&file).unwrap();
            let cut = cut.index(whole.len() + 1);
            std::fs::write(&file, &whole[..cut]).unwrap();

            let full_lines = whole[..cut].iter().filter(|b| **b == b'\n').count();
            let torn = Journal::parse(&whole[..cut]);
            prop_assert!(torn.lines.len() >= full_lines && torn.skipped.len() <= 1);
            prop_assert_eq!(&torn.lines[..], &lines(&before)[..torn.lines.len()]);

            write(folder.path(), &after);
            let bytes = std::fs::read(&file).unwrap();
            prop_assert!(bytes.starts_with(&whole[..cut]), "nothing is ever cut off");
            let journal = Journal::parse(&bytes);
            prop_assert_eq!(journal.lines, [torn.lines, lines(&after)].concat());
            prop_assert_eq!(journal.skipped.len(), torn.skipped.len());
        }

        #[test]
        fn garbage_between_the_lines_costs_nothing_else(
            garbage in proptest::collection::vec(any::<u8>(), 1..200), before in events(), after in events()
        ) {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), &before);
            let file = folder.path().join(FILE);
            let mut bytes = std::fs::read(&file).unwrap();
            bytes.extend(&garbage);
            std::fs::write(&file, &bytes).unwrap();
            write(folder.path(), &after);
            let journal = Journal::parse(&std::fs::read(&file).unwrap());
            prop_assert_eq!(journal.lines, [lines(&before), lines(&after)].concat());
            prop_assert!(journal.skipped.iter().all(|s| s.line_number > before.len()));
        }
    }

    #[test]
    fn damaged_lines_are_named_and_the_rest_is_kept() {
        let text = concat!(
            r#"{"at":1.5,"event":"opened","vmtax":"0.1.0","build":"b"}"#,
            "\n",
            r#"{"at":2,"event":"round_started","round":1}"#,
            "\n",
            "\n",
            "\u{1b}[2J\n",
            r#"{"at":3,"event":"coffee","cups":2}"#,
            "\n",
            r#"{"at":4,"event":"run","#,
        );
        let journal = Journal::parse(text.as_bytes());
        assert_eq!(journal.lines.len(), 2);
        assert_eq!(journal.lines[1], Line { at: 3.0, event: Event::Unknown });
        let skipped: Vec<usize> = journal.skipped.iter().map(|s| s.line_number).collect();
        assert_eq!(skipped, [2, 4, 6]);
        assert!(journal.skipped[0].why.starts_with("damaged: missing field `attempt`"), "{:?}", journal.skipped);
        assert!(journal.skipped[2].why.starts_with("cut off: EOF"), "{:?}", journal.skipped);
        assert!(journal.skipped.iter().all(|s| !s.why.contains('\u{1b}')));
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused_before_it_costs_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Appender::open(folder.path()).unwrap();
        let ended = Event::Ended { how: Ending::Finished, why: String::new() };
        assert!(matches!(journal.append(f64::NAN, &ended), Err(StoreError::NotFinite { .. })));
        assert!(matches!(journal.append(f64::INFINITY, &ended), Err(StoreError::NotFinite { .. })));
        // An optional NaN would even come back, as nothing.
        let booted = Event::Booted {
            machine: "guest".to_owned(),
            round: 1,
            attempt: 1,
            ready_seconds: 2.0,
            clock_uncertainty_seconds: None,
            clock_offset_seconds: Some(f64::NAN),
        };
        assert!(matches!(journal.append(1.0, &booted), Err(StoreError::NotFinite { .. })));
        journal.append(1.0, &ended).unwrap();
        let read = Journal::parse(&std::fs::read(folder.path().join(FILE)).unwrap());
        assert_eq!(read, Journal { lines: vec![Line { at: 1.0, event: ended }], skipped: Vec::new() });
    }
}
