//! When benchmarks leave: precise, hopeless or dropped too often; and that a killed study decides the same.

use crate::fake::{BENCHMARKS, Script, Seen, failed, script};
use model::check::{Check, Status, Threat};
use model::outcome::{FailureCause, Outcome};
use model::plan::{Cell, Precision};
use model::record::{Ending, Event, GUEST, Look, LookDecision};
use std::collections::BTreeMap;
use vmtax_study::{Turn, finished};

/// The guest's rate in a round: around 0.9 of the host's, spread as far as `spread` allows, the same for the same round.
fn rate(at: &Turn, spread: f64) -> f64 {
    let wave = (f64::from(at.round) * 2.399_963).sin();
    if at.machine == GUEST { 0.9 * (spread * wave).exp() } else { 1.0 }
}

fn outcome(value: f64) -> Outcome {
    Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), value)]) }
}

/// cpu.a is quiet, memory.b needs some more rounds, disk.c is hopeless, disk.d is quiet.
fn uneven(rounds: u32) -> Script {
    let mut script = script(8);
    script.plan.rounds = rounds;
    script.plan.precision = Some(Precision::ByArea);
    script.outcome = Box::new(|at, cell| {
        outcome(rate(
            at,
            match cell.benchmark.as_str() {
                "memory.b" => 0.04,
                "disk.c" => 0.8,
                _ => 0.01,
            },
        ))
    });
    script
}

fn rounds_of(seen: &Seen, benchmark: &str) -> usize {
    seen.runs().iter().filter(|run| run.benchmark == benchmark && run.machine == GUEST).count()
}

fn looks(seen: &Seen) -> Vec<Look> {
    let look = |event: &Event| if let Event::Look(look) = event { Some(look.clone()) } else { None };
    seen.lines.iter().filter_map(|line| look(&line.event)).collect()
}

#[test]
fn a_benchmark_leaves_when_it_is_precise_and_the_time_goes_where_the_uncertainty_is() {
    let seen = uneven(20).play(&[]);
    let end = seen.end.as_ref().unwrap();
    assert_eq!(end.how, Ending::Finished);
    assert_eq!((rounds_of(&seen, "cpu.a"), rounds_of(&seen, "disk.d")), (8, 8));
    let more = rounds_of(&seen, "memory.b");
    assert!((9..20).contains(&more), "{more}");
    assert_eq!(rounds_of(&seen, "disk.c"), 12, "the forecast is believed from the twelfth block on");
    assert_eq!(
        end.why,
        format!("After {} rounds more would not have helped: disk.c would not become precise enough", more.max(12))
    );
}

#[test]
fn every_look_is_in_the_journal_after_its_round() {
    let seen = uneven(20).play(&[]);
    let looks = looks(&seen);
    let of = |benchmark: &str| -> Vec<(usize, LookDecision)> {
        looks.iter().filter(|l| l.benchmark == benchmark).map(|l| (l.blocks, l.decision)).collect()
    };
    assert_eq!(of("cpu.a"), [(8, LookDecision::Precise)]);
    assert_eq!(
        of("disk.c"),
        [(8, LookDecision::MoreRounds), (10, LookDecision::MoreRounds), (12, LookDecision::Imprecise)]
    );
    assert!(looks.iter().all(|look| look.metric == "rate"), "secondary metrics drive nothing");
    assert!(
        looks.iter().all(|look| (look.half_width_log <= look.target_log) == (look.decision == LookDecision::Precise))
    );
    assert_eq!(looks[0].target_log, 0.03_f64.ln_1p());
    for (place, line) in seen.lines.iter().enumerate() {
        if let Event::Look(look) = &line.event {
            let ended = |event: &Event| matches!(event, Event::RoundEnded { round, complete: true, .. } if *round == look.round);
            assert!(seen.lines[..place].iter().any(|line| ended(&line.event)));
        }
    }
}

#[test]
fn a_fixed_number_of_rounds_is_made_whatever_they_say() {
    let mut script = uneven(9);
    script.plan.precision = None;
    let seen = script.play(&[]);
    assert!(BENCHMARKS.iter().all(|id| rounds_of(&seen, id) == 9));
    assert!(looks(&seen).is_empty());
}

#[test]
fn the_users_precision_takes_the_place_of_the_default() {
    let mut coarse = uneven(20);
    coarse.plan.precision = Some(Precision::HalfWidth(5.0));
    let seen = coarse.play(&[]);
    assert!(BENCHMARKS.iter().all(|id| rounds_of(&seen, id) == 8), "{:?}", looks(&seen));
    assert!(seen.end.unwrap().why.starts_with("After 8 rounds every benchmark was as precise"));
}

#[test]
fn a_zero_outside_the_interval_ends_nothing() {
    let mut script = uneven(20);
    // Far from equal, and wide: significant from the first look on, and still not known.
    script.outcome = Box::new(|at, _| outcome(if at.machine == GUEST { rate(at, 0.1) / 4.0 } else { 1.0 }));
    let seen = script.play(&[]);
    assert!(looks(&seen).iter().all(|look| look.typical_log - look.half_width_log > 1.0));
    assert!(rounds_of(&seen, "cpu.a") > 8);
}

#[test]
fn dropped_blocks_are_made_up_for_and_too_many_of_them_end_a_benchmark() {
    let mut script = uneven(20);
    script.record = Box::new(|record| {
        let drops = match record.benchmark.as_str() {
            "cpu.a" => record.round <= 2,
            "disk.d" => true,
            _ => false,
        };
        if drops && record.machine == GUEST {
            record.checks.push(Check::new(Threat::PageCache, Status::Invalid));
        }
    });
    let seen = script.play(&[]);
    assert_eq!(rounds_of(&seen, "cpu.a"), 10, "eight that count");
    assert_eq!(rounds_of(&seen, "disk.d"), 5, "more than a fifth of twenty");
    assert!(seen.end.unwrap().why.contains("disk.d"));
}

#[test]
fn a_benchmark_that_always_fails_does_not_take_all_rounds() {
    let mut script = uneven(20);
    script.outcome =
        Box::new(
            |at, cell| {
                if cell.benchmark == "disk.d" { failed(FailureCause::Tool) } else { outcome(rate(at, 0.01)) }
            },
        );
    let seen = script.play(&[]);
    assert_eq!((rounds_of(&seen, "disk.d"), rounds_of(&seen, "cpu.a")), (5, 8));
}

#[test]
fn a_study_that_was_killed_anywhere_takes_the_same_looks() {
    let whole = uneven(20).play(&[]);
    for cut in (0..whole.lines.len()).step_by(7) {
        let again = uneven(20).play(&whole.lines[..cut]);
        assert_eq!(looks(&again), looks(&whole), "cut at {cut}");
        assert_eq!(again.end.as_ref().unwrap().why, whole.end.as_ref().unwrap().why);
    }
}

#[test]
fn a_finished_study_says_so_without_a_lab() {
    let script = uneven(20);
    let seen = script.play(&[]);
    let benchmarks = crate::fake::benchmarks();
    assert_eq!(finished(&script.plan, &benchmarks, &seen.lines), Some(seen.end.as_ref().unwrap().why.clone()));
    assert_eq!(finished(&script.plan, &benchmarks, &seen.lines[..seen.lines.len() / 2]), None);
}

#[test]
fn the_remaining_time_follows_the_forecasts() {
    let seen = uneven(20).play(&[]);
    let left_after = |round: u32| {
        let over = format!("round {round}/20.1");
        seen.steps.iter().rev().find(|(step, ..)| step.starts_with(&over) && step.contains("over")).unwrap().2
    };
    // Before the first look the eight rounds that are made in any case are all that is known.
    assert_eq!(left_after(1), 7.0 * 43.0);
    // After it two benchmarks are left, one of them for as long as the plan allows.
    assert!(left_after(8) < 12.0 * 23.0 + 1.0 && left_after(8) > 12.0 * 13.0 - 1.0, "{}", left_after(8));
    assert_eq!(seen.steps.last().unwrap().2, 0.0);
}

#[test]
fn without_a_ratio_there_is_no_decision_and_all_rounds_are_made() {
    let mut script = uneven(9);
    script.outcome = Box::new(|_: &Turn, _: &Cell| outcome(0.0));
    let seen = script.play(&[]);
    assert!(BENCHMARKS.iter().all(|id| rounds_of(&seen, id) == 9));
    assert_eq!(seen.end.unwrap().why, "All 9 rounds were made");
}
