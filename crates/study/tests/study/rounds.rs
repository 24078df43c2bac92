//! What a study is made of, and what its failures cost.

use crate::fake::{BENCHMARKS, failed, machines, measured, plan, script};
use model::outcome::{FailureCause, Outcome};
use model::record::{Ending, Event, GUEST, HOST, Line};
use std::collections::BTreeMap;
use std::error::Error;
use vmtax_study::{Costs, MAX_ATTEMPTS, RoundFailure, StopReason, block_order, estimate_seconds, turn_order};

#[test]
fn every_round_boots_afresh_and_runs_every_benchmark_on_every_machine_in_the_orders_of_the_seed() {
    let seen = script(8).play(&[]);
    let end = seen.end.as_ref().unwrap();
    assert_eq!((end.how, end.complete_rounds, end.why.as_str()), (Ending::Finished, 8, "All 8 rounds were made"));
    assert_eq!(seen.ended_rounds(), (1..=8).map(|round| (round, 1, true)).collect::<Vec<_>>());

    let mut runs = seen.runs().into_iter();
    for round in 1..=8 {
        let order = block_order(7, round, 1, &BENCHMARKS);
        let started = Event::RoundStarted { round, attempt: 1, order: order.iter().map(|b| (*b).to_owned()).collect() };
        assert!(seen.lines.iter().any(|line| line.event == started));
        for (block, benchmark) in (0..).zip(order) {
            for (turn, machine) in (0..).zip(turn_order(7, round, 1, block, &machines())) {
                let run = runs.next().unwrap();
                let place = (run.round, run.attempt, run.block, run.turn, &*run.machine, &*run.benchmark);
                assert_eq!(place, (round, 1, block, turn, &*machine, benchmark));
            }
        }
    }
    assert_eq!(runs.count(), 0);
    let kinds = |kind: fn(&Event) -> bool| seen.lines.iter().filter(|line| kind(&line.event)).count();
    assert_eq!(kinds(|e| matches!(e, Event::Booted { .. })), 8);
    assert!(matches!(seen.lines.last().unwrap().event, Event::Ended { how: Ending::Finished, .. }));
}

#[test]
fn a_guest_that_dies_in_mid_round_costs_the_attempt_and_its_runs_stay_in_the_journal() {
    for cause in [FailureCause::Guest, FailureCause::Pipe, FailureCause::Timeout] {
        let mut script = script(4);
        script.outcome = Box::new(move |at, _| {
            let dies = (at.round, at.attempt, at.block) == (2, 1, 1) && at.machine == GUEST;
            if dies { failed(cause) } else { measured() }
        });
        let seen = script.play(&[]);
        assert_eq!(seen.end.as_ref().unwrap().how, Ending::Finished);
        assert_eq!(seen.ended_rounds(), [(1, 1, true), (2, 1, false), (2, 2, true), (3, 1, true), (4, 1, true)]);
        let lost = seen.runs().into_iter().filter(|run| (run.round, run.attempt) == (2, 1)).count();
        assert!((3..=4).contains(&lost), "{lost}");
        let why = seen.lines.iter().find_map(|line| match &line.event {
            Event::RoundEnded { why: Some(why), .. } => Some(why.clone()),
            _ => None,
        });
        let benchmark = block_order(7, 2, 1, &BENCHMARKS)[1];
        assert_eq!(why.unwrap(), format!("{benchmark} on guest: {cause:?} it was"));
    }
}

#[test]
fn other_failures_cost_their_block_only() {
    for cause in [FailureCause::Tool, FailureCause::Parse, FailureCause::Harness] {
        let mut script = script(3);
        script.outcome = Box::new(
            move |at, cell| if at.round == 2 && cell.benchmark == "disk.c" { failed(cause) } else { measured() },
        );
        let seen = script.play(&[]);
        assert_eq!(seen.ended_rounds(), [(1, 1, true), (2, 1, true), (3, 1, true)]);
        assert_eq!(seen.runs().len(), 24);
    }
}

#[test]
fn a_round_that_breaks_off_every_time_fails_the_study_and_complete_rounds_stay() {
    let mut script = script(8);
    script.outcome = Box::new(|at, cell| {
        let dies = at.round == 3 && cell.benchmark == "disk.d" && at.machine == GUEST;
        if dies { failed(FailureCause::Guest) } else { measured() }
    });
    let seen = script.play(&[]);
    let end = seen.end.as_ref().unwrap();
    assert_eq!((end.how, end.complete_rounds), (Ending::Failed, 2));
    assert!(
        end.why.contains("Round 3 was begun 3 times") && end.why.ends_with("disk.d on guest: Guest it was"),
        "{end:?}"
    );
    assert_eq!(seen.ended_rounds(), [(1, 1, true), (2, 1, true), (3, 1, false), (3, 2, false), (3, 3, false)]);
    assert_eq!(seen.lines.last().unwrap().event, Event::Ended { how: Ending::Failed, why: end.why.clone() });

    // Who resumes asks for as many attempts again.
    let again = script.play(&seen.lines);
    assert_eq!(again.ended_rounds()[5..], [(3, 4, false), (3, 5, false), (3, 6, false)]);
    let mended = crate::fake::script(8).play(&again.lines);
    assert_eq!(mended.end.unwrap().how, Ending::Finished);
}

#[test]
fn a_study_repeats_at_most_half_as_many_rounds_as_it_has() {
    for (rounds, repeats) in [(4, 3), (8, 4), (20, 10)] {
        let mut script = script(rounds);
        script.outcome = Box::new(|at, _| if at.attempt == 1 { failed(FailureCause::Pipe) } else { measured() });
        let seen = script.play(&[]);
        let end = seen.end.as_ref().unwrap();
        assert_eq!((end.how, end.complete_rounds), (Ending::Failed, repeats), "{end:?}");
        assert!(end.why.contains(&format!("broke off {} times", repeats + 1)), "{end:?}");
    }
}

#[test]
fn a_boot_that_fails_is_an_attempt() {
    let mut script = script(3);
    script.start = Box::new(|_, attempt| match attempt {
        1 => Err(RoundFailure { why: "no kernel".to_owned() }),
        _ => Ok(()),
    });
    let seen = script.play(&[]);
    assert_eq!(seen.end.as_ref().unwrap().how, Ending::Finished);
    assert_eq!(seen.ended_rounds().len(), 6);

    script.start = Box::new(|_, _| Err(RoundFailure { why: "no kernel".to_owned() }));
    let seen = script.play(&[]);
    let end = seen.end.as_ref().unwrap();
    assert_eq!((end.how, end.complete_rounds), (Ending::Failed, 0));
    assert!(end.why.ends_with("no kernel"), "{end:?}");
    assert_eq!(seen.ended_rounds().len(), MAX_ATTEMPTS as usize);
}

#[test]
fn what_is_skipped_on_one_machine_is_skipped_on_the_next_and_left_out_of_later_rounds() {
    let mut script = script(3);
    script.outcome = Box::new(|at, cell| match (&*at.machine, &*cell.benchmark) {
        (HOST, "disk.c") | (GUEST, "cpu.a") => Outcome::Skipped { why: "no fio".to_owned() },
        _ => measured(),
    });
    let seen = script.play(&[]);
    assert_eq!(seen.end.as_ref().unwrap().how, Ending::Finished);
    let mut runs = BTreeMap::<(u32, &str), Vec<&Outcome>>::new();
    for run in seen.runs() {
        runs.entry((run.round, &run.benchmark)).or_default().push(&run.outcome);
    }
    let skipped = Outcome::Skipped { why: "no fio".to_owned() };
    for benchmark in ["disk.c", "cpu.a"] {
        let block = &runs[&(1, benchmark)];
        assert_eq!(block.len(), 2);
        assert_eq!(block[1], &skipped, "the second turn is always skipped: it would have no partner");
    }
    assert_eq!(runs.keys().filter(|(round, _)| *round > 1).count(), 4, "{runs:?}");

    script.outcome = Box::new(|_, _| Outcome::Skipped { why: "no fio".to_owned() });
    let end = script.play(&[]).end.unwrap();
    assert_eq!((end.how, end.complete_rounds), (Ending::Failed, 1));
    assert!(end.why.contains("cpu.a was skipped: no fio"), "{end:?}");
}

#[test]
fn a_figure_that_is_none_fails_its_run_and_not_the_journal() {
    let mut script = script(1);
    script.outcome = Box::new(|_, _| Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), f64::NAN)]) });
    let seen = script.play(&[]);
    assert_eq!(seen.end.as_ref().unwrap().how, Ending::Finished);
    for run in seen.runs() {
        let Outcome::Failed { cause: FailureCause::Parse, why } = &run.outcome else { panic!("{run:?}") };
        assert!(why.contains("rate came out as NaN"), "{why}");
    }
}

#[test]
fn a_journal_that_cannot_be_written_stops_the_study_at_once() {
    let whole = script(2).play(&[]).lines;
    for room in 1..whole.len() {
        let mut script = script(2);
        script.room_for_lines = room;
        let seen = script.play(&[]);
        let error = seen.end.as_ref().unwrap_err();
        // `Opened` and a round of 13 lines are written before the second round.
        let round = if room < 14 { 1 } else { 2 };
        assert!(error.to_string().contains(&format!("in round {round}")), "{room}: {error}");
        assert_eq!(error.source().unwrap().to_string(), "no space left");
        assert_eq!(seen.lines.len(), room);
        let runs_made = seen.steps.iter().filter(|(step, ..)| step.contains(" on ") && !step.contains("ran ")).count();
        assert!(runs_made <= seen.runs().len() + 1, "no run was begun after the one that could not be written down");
    }
}

#[test]
fn ctrl_c_ends_the_study_wherever_it_is_and_loses_no_finished_run() {
    let whole = script(2).play(&[]).lines.len();
    for stop_at in 1..whole - 1 {
        let mut script = script(2);
        script.stop = Box::new(move |lines| (lines >= stop_at).then_some(StopReason::Interrupt));
        let seen = script.play(&[]);
        let end = seen.end.as_ref().unwrap();
        let was_last_run = seen.runs().len() == 16;
        let how = if was_last_run { Ending::Finished } else { Ending::Interrupted };
        assert_eq!(end.how, how, "stopped at line {stop_at}");
        if how == Ending::Interrupted {
            assert_eq!(end.why, "Stopped by Ctrl-C");
        }
        assert!(matches!(&seen.lines.last().unwrap().event, Event::Ended { how, .. } if *how == end.how));
        // A round that was begun is ended in the journal.
        let begun = seen.lines.iter().filter(|line| matches!(line.event, Event::RoundStarted { .. })).count();
        assert_eq!(seen.ended_rounds().len(), begun);
    }
}

#[test]
fn a_guest_that_ctrl_c_killed_is_no_failure() {
    for outcome in [Outcome::Cancelled, failed(FailureCause::Pipe)] {
        let mut script = script(2);
        let stopped = std::rc::Rc::new(std::cell::Cell::new(None));
        let stop = stopped.clone();
        script.outcome = Box::new(move |at, _| {
            if (at.round, at.block, at.turn) == (1, 2, 1) {
                stopped.set(Some(StopReason::Terminate));
                return outcome.clone();
            }
            measured()
        });
        script.stop = Box::new(move |_| stop.get());
        let seen = script.play(&[]);
        let end = seen.end.as_ref().unwrap();
        assert_eq!((end.how, end.complete_rounds), (Ending::Interrupted, 0));
        let why = "Stopped by a signal to terminate";
        assert_eq!(end.why, why);
        let said = |line: &Line| matches!(&line.event, Event::RoundEnded { why: Some(w), .. } if w == why);
        assert!(seen.lines.iter().any(said), "the guest is not blamed");
        assert_eq!(seen.ended_rounds(), [(1, 1, false)]);
        assert_eq!(seen.runs().len(), 6);
    }
}

#[test]
fn the_estimate_before_the_start_counts_both_machines_boots_and_slow_guests() {
    let costs = Costs { round_seconds: 10.0, guest_run_seconds: 1.5 };
    let estimate = estimate_seconds(&plan(8), &machines(), costs);
    assert_eq!(estimate.per_round, 10.0 + 4.0 * (5.0 + 6.5));
    assert_eq!((estimate.least, estimate.most), (8.0 * estimate.per_round, 8.0 * estimate.per_round));
}

#[test]
fn the_watcher_sees_what_is_running_and_how_long_it_will_take() {
    let seen = script(2).play(&[]);
    let block = block_order(7, 1, 1, &BENCHMARKS);
    let first = turn_order(7, 1, 1, 0, &machines());
    let words: Vec<&str> = seen.steps.iter().map(|(words, ..)| words.as_str()).collect();
    assert_eq!(
        words[..3],
        [
            "round 1/2.1 block 0/4 boot".to_owned(),
            format!("round 1/2.1 block 0/4 {} on {}", block[0], first[0]),
            format!("round 1/2.1 block 0/4 ran {} on {}", block[0], first[0]),
        ]
    );
    assert_eq!(words[17], "round 1/2.1 block 4/4 over complete");
    assert_eq!(words.len(), 36);

    // From the end of the first round on everything is known: 3 s of boot and 8 runs of 5 s.
    for (words, elapsed, left) in &seen.steps[17..] {
        assert!((elapsed + left - 86.0).abs() < 1e-9 || words.ends_with("boot"), "{words}: {elapsed} + {left}");
    }
    assert_eq!(seen.steps.last().unwrap().2, 0.0);
}
