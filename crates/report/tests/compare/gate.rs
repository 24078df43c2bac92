//! Figures and verdicts.

use crate::{Noise, gate, named, sample::Study, study};
use model::record::{GUEST, HOST};
use model::{Area, Direction, Outcome};
use std::collections::BTreeMap;
use vmtax_report::Analysis;
use vmtax_report::compare::{Change, CompareError, Decision, Verdict, compare};

const A: [f64; 8] = [0.2701, 0.2655, 0.2742, 0.2688, 0.2719, 0.2664, 0.2733, 0.2697];
const WORSE: [f64; 8] = [0.4512, 0.4475, 0.4533, 0.4498, 0.4561, 0.4487, 0.4520, 0.4544];
const SLIGHT: [f64; 8] = [0.2760, 0.2712, 0.2781, 0.2725, 0.2706, 0.2748, 0.2771, 0.2739];
const SAME: [f64; 8] = [0.2690, 0.2671, 0.2728, 0.2704, 0.2682, 0.2715, 0.2659, 0.2737];

/// The three benchmarks of memory with these log cost ratios by round; the host does `speed` in every round.
fn memory(speed: f64, ratios: [[f64; 8]; 3]) -> Study {
    let mut study = Study::kvm(8).only(&[Area::Memory]).measured(8);
    study.each_run(|run| {
        let ratio = ratios[run.block as usize][run.round as usize - 1];
        let value = if run.machine == HOST { speed } else { speed * (-ratio).exp() };
        run.outcome = Outcome::Measured { values: BTreeMap::from([("rate".to_owned(), value)]) };
    });
    study
}

fn close(found: f64, known: f64) {
    assert!((found - known).abs() < 1e-9 * known.abs().max(1.0), "{found} is not {known}");
}

fn verdicts(changes: &[Change]) -> Vec<Verdict> {
    changes.iter().filter_map(|c| c.verdict).collect()
}

#[test]
fn the_figures_are_those_that_were_worked_out_elsewhere() {
    // All 64 differences sorted and all 12,870 divisions of the ranks counted by a program of its own.
    let found = gate(&memory(1e9, [A; 3]), &memory(2e9, [WORSE, SLIGHT, SAME]));
    let known = [
        (57.082_349_35, 0.1817, 0.1779, 0.1848, 0.000_155_400_155, 0.000_466_200_466, Verdict::Regression),
        (31.567_520_80, 0.0042, 0.0009, 0.0075, 0.014_763_014_763, 0.029_526_029_526, Verdict::NoChange),
        (30.957_152_03, -0.00045, -0.0037, 0.0031, 0.959_129_759_13, 0.959_129_759_13, Verdict::NoChange),
    ];
    assert_eq!((found.family, found.rounds_needed, found.changes.len()), (3, 5, 3));
    for (change, (overhead, typical, low, high, p, adjusted, verdict)) in found.changes.iter().zip(known) {
        let shift = change.shift.unwrap();
        close(change.a.overhead_percent.unwrap(), 30.983_346_08);
        close(change.b.overhead_percent.unwrap(), overhead);
        close(shift.typical_log, typical);
        close(shift.interval.low_log, low);
        close(shift.interval.high_log, high);
        close(shift.percent, 100.0 * (typical.exp() - 1.0));
        assert!((shift.p - p).abs() < 1e-11 && (shift.adjusted_p.unwrap() - adjusted).abs() < 1e-11, "{shift:?}");
        assert_eq!(change.verdict, Some(verdict), "{}", change.benchmark);
        close(change.host_speed_percent, 100.0);
    }
    assert_eq!(found.decision, Decision::Regression);
}

#[test]
fn swapping_the_studies_mirrors_everything() {
    let (a, b) = (study(1, 8, 1.0), study(2, 10, 1.06));
    let (there, back) = (gate(&a, &b), gate(&b, &a));
    assert!(there.count(Verdict::Regression) >= 6, "{:?}", verdicts(&there.changes));
    for (one, other) in there.changes.iter().zip(&back.changes) {
        let (s, t) = (one.shift.unwrap(), other.shift.unwrap());
        close(s.typical_log, -t.typical_log);
        close(s.interval.low_log, -t.interval.high_log);
        assert_eq!((s.p, s.adjusted_p), (t.p, t.adjusted_p));
        let mirrored = one.verdict.map(|verdict| match verdict {
            Verdict::Regression => Verdict::Improvement,
            Verdict::Improvement => Verdict::Regression,
            other => other,
        });
        assert_eq!(other.verdict, mirrored, "{}", one.benchmark);
    }
    assert_eq!((there.decision, back.decision), (Decision::Regression, Decision::NoRegression));
}

/// Twelve times twelve metrics, the guest of B costing so much more: the changes that were found.
fn injected(percent: f64) -> Vec<Change> {
    let pair = |seed| gate(&study(seed, 12, 1.0), &study(1000 + seed, 12, 1.0 + percent / 100.0));
    (1..=12).flat_map(|seed| pair(seed).changes).filter(|change| change.verdict.is_some()).collect()
}

#[test]
fn injected_shifts_are_recovered_and_judged_by_the_margin_of_their_area() {
    for (percent, processor, disk) in [
        (0.0, Some(Verdict::NoChange), Some(Verdict::NoChange)),
        (1.0, None, Some(Verdict::NoChange)),
        (5.0, Some(Verdict::Regression), None),
        (20.0, Some(Verdict::Regression), Some(Verdict::Regression)),
    ] {
        let found = injected(percent);
        let truth = (percent / 100.0).ln_1p();
        let share = |test: &dyn Fn(&Change) -> bool| {
            found.iter().filter(|change| test(change)).count() as f64 / found.len() as f64
        };
        let covered = share(&|c| {
            let interval = c.shift.unwrap().interval;
            (interval.low_log..=interval.high_log).contains(&truth)
        });
        assert!(covered >= 0.92, "{covered} of all intervals hold {percent} %");
        let bias = found.iter().map(|c| c.shift.unwrap().typical_log - truth).sum::<f64>() / found.len() as f64;
        assert!(bias.abs() < 0.001, "{percent} %: bias {bias}");
        for (verdict, of_disk) in [(processor, false), (disk, true)] {
            let Some(verdict) = verdict else { continue };
            let right = share(&|c| (c.area == Area::Disk) == of_disk && c.verdict == Some(verdict));
            assert!(right >= 0.48, "{percent} %: {right} of 0.5 are {verdict:?}");
        }
        let false_alarms = share(&|c| {
            c.verdict == Some(Verdict::Improvement)
                || c.verdict == Some(Verdict::Regression) && percent / 100.0 <= c.area.margin()
        });
        // 5 % is exactly the margin of the disk: one end of the interval is beyond it in 2.5 % of all cases.
        assert!(false_alarms <= 0.025, "{percent} %: {false_alarms} false alarms");
    }
}

/// Gives every round of every benchmark a ratio of pure noise.
fn shuffled(analysis: &mut Analysis, noise: &mut Noise) {
    for benchmark in &mut analysis.benchmarks {
        for point in benchmark.metrics.iter_mut().flat_map(|metric| &mut metric.points) {
            point.log_cost_ratio = Some(0.3 + 0.02 * noise.gauss());
        }
    }
}

#[test]
fn false_alarms_are_rarer_than_five_percent_for_all_metrics_together() {
    const PAIRS: usize = 300;
    let mut noise = Noise(2026);
    let (mut a, mut b) = (study(1, 8, 1.0).analyse(), study(2, 8, 1.0).analyse());
    let (mut strict, mut by_margin, mut unadjusted) = (0, 0, 0);
    for _ in 0..PAIRS {
        shuffled(&mut a, &mut noise);
        shuffled(&mut b, &mut noise);
        let alarm = |margin| {
            let found = compare(&a, &b, None, margin).unwrap();
            let single = found.primary().any(|c| c.shift.unwrap().p < 0.05);
            (found.count(Verdict::Regression) + found.count(Verdict::Improvement) > 0, single)
        };
        let (alarmed, single) = alarm(Some(0.0));
        strict += usize::from(alarmed);
        unadjusted += usize::from(single);
        by_margin += usize::from(alarm(None).0);
    }
    assert!(strict * 20 <= PAIRS, "{strict} false alarms in {PAIRS} pairs without any margin");
    assert!(by_margin * 100 <= PAIRS, "{by_margin} false alarms in {PAIRS} pairs");
    assert!(unadjusted * 4 >= PAIRS, "without adjustment there must be many: {unadjusted}");
}

#[test]
fn the_host_getting_slower_is_told_and_is_no_regression() {
    let before = study(1, 8, 1.0);
    let mut after = study(2, 8, 1.0);
    after.each_run(|run| {
        if let Outcome::Measured { values } = &mut run.outcome {
            values.values_mut().for_each(|value| *value *= 0.7);
        }
    });
    let found = gate(&before, &after);
    assert_eq!(found.decision, Decision::NoRegression);
    for change in found.primary() {
        assert!((change.host_speed_percent + 30.0).abs() < 1.0 && (change.guest_speed_percent + 30.0).abs() < 1.0);
    }
}

#[test]
fn a_higher_latency_is_a_slower_machine() {
    let found = gate(&study(1, 8, 1.0), &study(2, 8, 1.2));
    let latency = found.changes.iter().find(|c| c.metric.id == "latency-p99").unwrap();
    assert_eq!((latency.metric.direction, latency.verdict), (Direction::Lower, None));
    assert!((latency.guest_speed_percent + 16.7).abs() < 1.0, "{}", latency.guest_speed_percent);
    assert!((latency.shift.unwrap().percent - 20.0).abs() < 2.0);
}

#[test]
fn the_margin_can_be_chosen() {
    let (a, b) = (study(1, 12, 1.0).analyse(), study(2, 12, 1.2).analyse());
    assert_eq!(compare(&a, &b, None, Some(0.1)).unwrap().decision, Decision::Regression);
    let lenient = compare(&a, &b, None, Some(0.5)).unwrap();
    assert_eq!((lenient.decision, lenient.count(Verdict::NoChange)), (Decision::NoRegression, 12));
    assert!(lenient.changes.iter().all(|c| c.margin_percent == 50.0));
    for bad in [-0.01, f64::NAN, f64::INFINITY] {
        assert!(matches!(compare(&a, &b, None, Some(bad)), Err(CompareError::Margin(_))), "{bad}");
    }
}

#[test]
fn three_rounds_are_too_few_and_the_number_that_is_needed_is_told() {
    let found = gate(&study(1, 3, 1.0), &study(2, 12, 2.0));
    assert_eq!((found.decision, found.family, found.rounds_needed), (Decision::Undecided, 0, 6));
    assert!(found.primary().all(|c| c.verdict == Some(Verdict::TooFew) && c.shift.is_none()));
}

#[test]
fn four_rounds_separate_one_metric_and_not_twelve() {
    // Complete separation of 4 + 4 has p = 2/70, which survives in a family of one only.
    let found = gate(&study(1, 4, 1.0), &study(2, 4, 1.5));
    assert_eq!((found.decision, found.count(Verdict::TooFew), found.family), (Decision::Undecided, 12, 12));
    let one = |mut study: Study| {
        study.manifest.benchmarks.truncate(1);
        study
    };
    let alone = gate(&one(study(1, 4, 1.0)), &one(study(2, 4, 1.5)));
    assert_eq!((alone.decision, alone.rounds_needed), (Decision::Regression, 4));
    assert!((alone.changes[0].shift.unwrap().p - 2.0 / 70.0).abs() < 1e-12);
    assert_eq!(gate(&study(1, 6, 1.0), &study(2, 6, 1.5)).count(Verdict::Regression), 12);
}

#[test]
fn a_study_has_not_changed_against_itself() {
    let study = study(1, 8, 1.0);
    let found = gate(&study, &study);
    assert_eq!(found.decision, Decision::NoRegression);
    assert!(found.primary().all(|c| c.shift.unwrap().typical_log == 0.0 && c.shift.unwrap().p == 1.0));
    assert!(found.differences.is_empty());
}

#[test]
fn a_regression_must_be_shown_twice() {
    let (a, b) = (study(1, 8, 1.0), study(2, 8, 1.5));
    let with = |c: &Study| compare(&a.analyse(), &b.analyse(), Some(&named(c, "again")), None).unwrap();

    let again = with(&study(3, 8, 1.5));
    assert_eq!((again.decision, again.count(Verdict::Regression)), (Decision::Regression, 12));
    assert!(again.primary().all(|c| c.confirmation.as_ref().unwrap().shown == Some(true)));

    let gone = with(&study(3, 8, 1.0));
    assert_eq!((gone.decision, gone.count(Verdict::NotConfirmed)), (Decision::NoRegression, 12));
    assert!(gone.primary().all(|c| c.confirmation.as_ref().unwrap().shown == Some(false)));

    for silent in [study(3, 3, 1.5), study(3, 8, 1.5).only(&[Area::Disk])] {
        let unknown = with(&silent);
        assert_eq!(unknown.decision == Decision::Undecided, unknown.count(Verdict::Regression) == 0);
        assert!(unknown.primary().any(|c| c.confirmation.as_ref().unwrap().shown.is_none()));
    }

    let same = compare(&a.analyse(), &b.analyse(), Some(&named(&b, "after")), None);
    assert_eq!(same, Err(CompareError::NotFresh("after".to_owned())));
}

#[test]
fn a_repetition_is_asked_only_about_the_regressions() {
    let worse = |seed| {
        let mut study = study(seed, 5, 1.0);
        study.each_run(|run| {
            if let (GUEST, "cpu.dhrystone", Outcome::Measured { values }) =
                (run.machine.as_str(), run.benchmark.as_str(), &mut run.outcome)
            {
                values.values_mut().for_each(|value| *value /= 1.5);
            }
        });
        study.only(&[Area::Cpu])
    };
    // With three metrics 5 + 5 rounds can tell (2/252 times 3); in C only one metric is asked about.
    let a = study(1, 5, 1.0).only(&[Area::Cpu]).analyse();
    let found = compare(&a, &worse(2).analyse(), Some(&worse(3).analyse()), None).unwrap();
    let dhrystone = &found.changes[0];
    assert_eq!(dhrystone.verdict, Some(Verdict::Regression));
    let again = dhrystone.confirmation.as_ref().unwrap().shift.unwrap();
    assert_eq!(again.adjusted_p, Some(again.p));
    assert!(found.changes[1..].iter().all(|c| c.confirmation.is_none()));
}

#[test]
fn an_invalid_benchmark_takes_no_part() {
    let (a, mut b) = (study(1, 8, 1.0).analyse(), study(2, 8, 1.5).analyse());
    b.benchmarks[0].invalid = true;
    let found = compare(&a, &b, None, None).unwrap();
    assert_eq!((found.primary().count(), found.family, found.left_out.len()), (11, 11, 1));
    assert_eq!(found.left_out[0].benchmark, b.benchmarks[0].id);
}
