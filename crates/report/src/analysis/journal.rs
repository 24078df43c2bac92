//! Which runs count. The one place where a run is let into the figures.

use model::record::{Event, GUEST, HOST, Line};
use model::{Outcome, RunRecord};
use std::collections::BTreeMap;

/// The journal, sorted for reading.
pub(super) struct Journal<'a> {
    /// Attempts that count, in the order in which they ended.
    used: Vec<(u32, u32)>,
    /// Every run by benchmark, in the order of the journal.
    runs: BTreeMap<&'a str, Vec<&'a RunRecord>>,
}

/// A block that counts: both sides were measured in one attempt of one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    /// Place of the attempt among those that count, in time order.
    pub place: usize,
    /// The host's run.
    pub host: &'a RunRecord,
    /// The guest's run.
    pub guest: &'a RunRecord,
}

impl<'a> Journal<'a> {
    pub fn new(lines: &'a [Line]) -> Self {
        let mut last: BTreeMap<u32, (u32, usize)> = BTreeMap::new();
        let mut runs: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            match &line.event {
                Event::RoundEnded { round, attempt, complete: true, .. }
                    if last.get(round).is_none_or(|(known, _)| attempt >= known) =>
                {
                    last.insert(*round, (*attempt, place));
                }
                Event::Run(run) => runs.entry(&run.benchmark).or_default().push(run),
                _ => {}
            }
        }
        let mut ended: Vec<(usize, (u32, u32))> = last.into_iter().map(|(r, (a, place))| (place, (r, a))).collect();
        ended.sort_unstable();
        Journal { used: ended.into_iter().map(|(_, attempt)| attempt).collect(), runs }
    }

    /// Rounds and attempts that count, in time order.
    pub fn used(&self) -> &[(u32, u32)] {
        &self.used
    }

    /// Every run of a benchmark, whether it counts or not.
    pub fn runs(&self, benchmark: &str) -> &[&'a RunRecord] {
        self.runs.get(benchmark).map_or(&[], Vec::as_slice)
    }

    /// The blocks of a benchmark that count, in time order, and how many of complete rounds do not.
    pub fn pairs(&self, benchmark: &str) -> (Vec<Pair<'a>>, usize) {
        // A block that was written twice (a controller killed between writing and noting it) counts as it was last.
        let mut blocks: BTreeMap<(u32, u32), [Option<&RunRecord>; 2]> = BTreeMap::new();
        for &run in self.runs(benchmark) {
            let side = match run.machine.as_str() {
                HOST => 0,
                GUEST => 1,
                _ => continue,
            };
            blocks.entry((run.round, run.attempt)).or_default()[side] = Some(run);
        }
        let mut pairs = Vec::new();
        let mut dropped = 0;
        for (place, attempt) in self.used.iter().enumerate() {
            match blocks.get(attempt) {
                Some([Some(host), Some(guest)]) if measured(host) && measured(guest) => {
                    pairs.push(Pair { place, host, guest });
                }
                Some(_) => dropped += 1,
                None => {}
            }
        }
        (pairs, dropped)
    }
}

fn measured(run: &RunRecord) -> bool {
    matches!(run.outcome, Outcome::Measured { .. })
}
