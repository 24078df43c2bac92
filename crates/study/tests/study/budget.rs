//! The time budget.

use crate::fake::{failed, measured, script};
use model::outcome::FailureCause;
use model::record::{Ending, Event, Line};

/// Rounds that are complete, and seconds used, of eight rounds of 43 s within a budget.
fn within(budget: f64) -> (Ending, u32, f64) {
    let mut script = script(8);
    script.plan.budget_seconds = Some(budget);
    let seen = script.play(&[]);
    let end = seen.end.as_ref().unwrap();
    let complete = seen.ended_rounds().iter().filter(|(.., complete)| *complete).count();
    assert_eq!(end.complete_rounds as usize, complete);
    assert!(seen.steps.iter().all(|(_, elapsed, left)| *left <= (budget - elapsed).max(0.0)));
    (end.how, end.complete_rounds, seen.seconds)
}

#[test]
fn rounds_are_begun_as_long_as_they_are_expected_to_fit() {
    assert_eq!(within(1000.0), (Ending::Finished, 8, 8.0 * 43.0));
    // 4 rounds take 172 s, the fifth needs 1.1 * 43 = 47.3 s more.
    assert_eq!(within(219.0), (Ending::Budget, 4, 172.0));
    assert_eq!(within(220.0), (Ending::Budget, 5, 215.0));
}

#[test]
fn the_first_round_is_made_within_a_quarter_of_overtime() {
    assert_eq!(within(43.0), (Ending::Budget, 1, 43.0));
    assert_eq!(within(32.0), (Ending::Budget, 1, 43.0));
    let (how, complete, seconds) = within(20.0);
    assert_eq!((how, complete), (Ending::Budget, 0));
    assert!((25.0..=30.0).contains(&seconds), "cut at the first run after 25 s: {seconds}");
    assert_eq!(within(0.0), (Ending::Budget, 0, 0.0));
}

/// Rounds take 43 s, and 163 s once `complete` of them are complete.
fn slow_after(complete: u32, budget: f64) -> (Ending, u32, f64) {
    let mut script = script(8);
    script.plan.budget_seconds = Some(budget);
    script.run_seconds = Box::new(move |at| if at.round > complete { 20.0 } else { 5.0 });
    let seen = script.play(&[]);
    let end = seen.end.unwrap();
    (end.how, end.complete_rounds, seen.seconds)
}

#[test]
fn a_round_that_becomes_slow_is_cut_at_the_budget_once_three_are_complete() {
    // Two are complete after 86 s; the third is cut before the first run that would begin after 1.25 * 140 = 175 s.
    assert_eq!(slow_after(2, 140.0), (Ending::Budget, 2, 86.0 + 3.0 + 5.0 * 20.0));
    // Three are complete after 129 s; the fourth is cut before the first run that would begin after 180 s.
    assert_eq!(slow_after(3, 180.0), (Ending::Budget, 3, 129.0 + 3.0 + 3.0 * 20.0));
    // Where all is done but for the end of the round, nothing is thrown away.
    assert_eq!(slow_after(2, 200.0), (Ending::Budget, 3, 86.0 + 163.0));
}

#[test]
fn repeats_of_a_round_are_within_the_budget_too() {
    let mut script = script(8);
    script.plan.budget_seconds = Some(170.0);
    script.outcome =
        Box::new(|at, _| if at.round == 3 && at.block == 3 { failed(FailureCause::Guest) } else { measured() });
    let seen = script.play(&[]);
    let end = seen.end.as_ref().unwrap();
    assert_eq!((end.how, end.complete_rounds), (Ending::Budget, 2), "{:?}", seen.ended_rounds());
    assert_eq!(seen.ended_rounds().len(), 3);
}

#[test]
fn time_of_earlier_sessions_counts_and_time_between_them_does_not() {
    let mut script = script(8);
    script.plan.budget_seconds = Some(220.0);
    let whole = script.play(&[]);
    for cut in 1..whole.lines.len() {
        // A controller that was killed at this line, and resumed a thousand seconds later.
        let resumed = script.play(&whole.lines[..cut]);
        let end = resumed.end.as_ref().unwrap();
        assert_eq!(end.how, Ending::Budget, "cut at {cut}");
        // What a killed round took is gone.
        let complete = |line: &Line| matches!(line.event, Event::RoundEnded { complete: true, .. });
        let (mut rounds, mut used) = (0, whole.lines[cut - 1].at);
        rounds += whole.lines[..cut].iter().filter(|line| complete(line)).count() as u32;
        while rounds == 0 || used + 1.1 * 43.0 <= 220.0 {
            (rounds, used) = (rounds + 1, used + 43.0);
        }
        assert_eq!(end.complete_rounds, rounds, "cut at {cut}");
    }
}
