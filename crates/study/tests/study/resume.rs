//! `vmtax resume` after any death.

use crate::fake::{BENCHMARKS, Script, failed, machines, measured, script};
use model::Outcome;
use model::outcome::FailureCause;
use model::record::{Ending, Event, Line};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A study in which a guest dies now and then and one benchmark is skipped.
fn stormy(rounds: u32) -> Script {
    let mut script = script(rounds);
    script.outcome = Box::new(|at, cell| {
        if cell.benchmark == "disk.d" {
            Outcome::Skipped { why: "no fio".to_owned() }
        } else if at.round % 3 == 2 && at.attempt % 3 == 1 && at.block == 1 {
            failed(FailureCause::Guest)
        } else {
            measured()
        }
    });
    script
}

/// What must hold of every finished study, however often it was killed.
fn is_whole(lines: &[Line], rounds: u32) {
    let mut started = BTreeSet::new();
    let mut complete = BTreeMap::new();
    let mut runs = BTreeMap::<(u32, u32), BTreeSet<(String, String)>>::new();
    for line in lines {
        match &line.event {
            Event::RoundStarted { round, attempt, .. } => {
                assert!(started.insert((*round, *attempt)), "no attempt is begun twice");
                assert!(!complete.contains_key(round), "no complete round is repeated");
            }
            Event::RoundEnded { round, attempt, complete: true, .. } => {
                assert_eq!(complete.insert(*round, *attempt), None);
            }
            Event::Run(run) if matches!(run.outcome, Outcome::Measured { .. }) => {
                let runs = runs.entry((run.round, run.attempt)).or_default();
                assert!(runs.insert((run.benchmark.clone(), run.machine.clone())), "no run is made twice");
            }
            _ => {}
        }
    }
    assert!(complete.keys().copied().eq(1..=rounds), "{complete:?}");
    let all: BTreeSet<_> =
        BENCHMARKS[..3].iter().flat_map(|b| machines().into_iter().map(|m| ((*b).to_owned(), m))).collect();
    for (round, attempt) in complete {
        assert_eq!(runs[&(round, attempt)], all, "a complete round has all pairs");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_study_that_was_killed_anywhere_and_often_ends_with_all_its_rounds(
        rounds in 1u32..7, cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..5)
    ) {
        let script = stormy(rounds);
        let mut lines = script.play(&[]).lines;
        for cut in cuts {
            let kept = lines[..cut.index(lines.len() + 1)].to_vec();
            let resumed = script.play(&kept);
            prop_assert_eq!(&resumed.lines[..kept.len()], &kept[..], "nothing that was written is lost");
            let end = resumed.end.unwrap();
            prop_assert_eq!((end.how, end.complete_rounds), (Ending::Finished, rounds));
            lines = resumed.lines;
        }
        is_whole(&lines, rounds);
    }

    /// Damaged lines are missing from what the store hands over.
    #[test]
    fn a_journal_with_holes_is_gone_on_with(
        holes in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6), cut in any::<proptest::sample::Index>()
    ) {
        let script = stormy(4);
        let mut lines = script.play(&[]).lines;
        lines.truncate(cut.index(lines.len() + 1));
        for hole in holes {
            if !lines.is_empty() {
                lines.remove(hole.index(lines.len()));
            }
        }
        let resumed = script.play(&lines);
        let mut runs = BTreeSet::new();
        for run in resumed.runs() {
            let place = (run.round, run.attempt, &run.benchmark, &run.machine);
            prop_assert!(runs.insert(place), "no attempt is begun twice: {:?}", place);
        }
        let end = resumed.end.as_ref().unwrap();
        prop_assert_eq!((end.how, end.complete_rounds), (Ending::Finished, 4));
    }
}

#[test]
fn a_finished_study_is_left_as_it_is() {
    let seen = script(3).play(&[]);
    let again = script(3).play(&seen.lines);
    assert_eq!(again.end.as_ref().unwrap(), seen.end.as_ref().unwrap());
    assert_eq!(again.lines.len(), seen.lines.len() + 1, "only the `Opened` of the one who looked");
    assert!(again.steps.is_empty());

    let longer = script(5).play(&seen.lines);
    assert_eq!(longer.ended_rounds().len(), 5, "a plan with more rounds is gone on with");
}

#[test]
fn a_round_that_was_cut_off_is_made_again_in_a_new_order() {
    let whole = script(2).play(&[]);
    let second = whole.lines.iter().position(|line| matches!(&line.event, Event::Run(run) if run.round == 2)).unwrap();
    let resumed = script(2).play(&whole.lines[..second + 3]);
    assert_eq!(resumed.ended_rounds(), [(1, 1, true), (2, 2, true)]);
    let orders: Vec<_> = resumed
        .lines
        .iter()
        .filter_map(|line| match &line.event {
            Event::RoundStarted { round: 2, order, .. } => Some(order.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(orders.len(), 2);
    assert_ne!(orders[0], orders[1]);
    let torn = resumed.runs().into_iter().filter(|run| (run.round, run.attempt) == (2, 1)).count();
    assert_eq!(torn, 3, "its finished runs are still there");
}

#[test]
fn what_was_left_out_stays_out() {
    let whole = stormy(3).play(&[]);
    let first = whole.lines.iter().position(|line| matches!(line.event, Event::RoundEnded { .. })).unwrap();
    let resumed = script(3).play(&whole.lines[..=first]);
    assert_eq!(resumed.end.as_ref().unwrap().how, Ending::Finished);
    assert!(resumed.runs().iter().all(|run| run.benchmark != "disk.d" || run.round == 1));

    // In a round that broke off nothing is decided: reports do not look there.
    let resumed = script(3).play(&whole.lines[..first]);
    assert_eq!(resumed.runs().iter().filter(|run| run.benchmark == "disk.d" && run.attempt == 2).count(), 2);
}

#[test]
fn what_earlier_sessions_saw_is_used_for_the_remaining_time() {
    let mut slow = script(4);
    slow.run_seconds = Box::new(|_| 50.0);
    let whole = slow.play(&[]);
    let half = whole.lines.iter().position(|line| matches!(line.event, Event::RoundEnded { round: 2, .. })).unwrap();
    let resumed = slow.play(&whole.lines[..=half]);
    let (words, elapsed, left) = &resumed.steps[0];
    assert_eq!(words, "round 3/4.1 block 0/4 boot");
    assert_eq!((*elapsed, *left), (2.0 * 403.0, 2.0 * 403.0));
}
