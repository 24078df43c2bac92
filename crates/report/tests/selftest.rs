//! Self-tests over simulated journals: what must pass, what must fail, what must not be judged.

mod sample;

use model::record::{GUEST, HOST};
use model::{Area, Benchmark, Direction, Event, FailureCause, Metric, Outcome, Unit};
use sample::Study;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;
use vmtax_report::selftest::{
    Aa, GUEST_B, HOST_B, Injected, Judgement, SelfTest, evaluate, json, padded, padding, text,
};
use vmtax_report::{Lang, Words};

const TWINS: [&str; 4] = [HOST, HOST_B, GUEST, GUEST_B];
const INJECTED: [u64; 4] = [1, 3, 10, 50];

/// A study over these machines, its metric being a time. `cost` gives the logarithm of a run's time.
fn study(machines: &[&str], benchmarks: usize, rounds: u32, mut cost: impl FnMut(u32, usize, &str) -> f64) -> Study {
    let mut study = Study::emulated(rounds).only(&[Area::Cpu, Area::Memory]);
    study.manifest.benchmarks.truncate(benchmarks);
    for benchmark in &mut study.manifest.benchmarks {
        benchmark.metrics = vec![time()];
    }
    let facts = study.manifest.machines[HOST].clone();
    study.manifest.machines = machines.iter().map(|name| ((*name).to_owned(), facts.clone())).collect();
    for round in 1..=rounds {
        study.start(round, 1);
        for machine in machines {
            study.log(visit(round, machine, 0.05));
        }
        for block in 0..benchmarks {
            for (turn, machine) in machines.iter().enumerate() {
                let mut run = study.run(round, 1, block, turn as u32, machine);
                let seconds = cost(round, block, machine).exp();
                run.outcome = Outcome::Measured { values: BTreeMap::from([("time".to_owned(), seconds)]) };
                study.log(Event::Run(Box::new(run)));
            }
        }
        study.close(round, 1, true, None);
    }
    study.end();
    study
}

fn time() -> Metric {
    Metric::new("time", "Time", Unit::Seconds, ("ms", 1e-3), Direction::Lower).primary()
}

fn visit(round: u32, machine: &str, seconds: f64) -> Event {
    let machine = machine.to_owned();
    Event::Visited { machine, round, attempt: 1, leaving: false, idle: None, canary_seconds: Some(seconds) }
}

/// Standard normal values (SplitMix64, Box and Muller).
fn gauss(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    let mut unit = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    move || (-2.0 * (1.0 - unit()).ln()).sqrt() * (std::f64::consts::TAU * unit()).cos()
}

fn aa(study: &Study) -> Aa {
    match evaluate(&study.manifest, &study.lines) {
        Some(SelfTest::Aa(aa)) => aa,
        other => panic!("{other:?}"),
    }
}

fn injected(study: &Study) -> Injected {
    match evaluate(&study.manifest, &study.lines) {
        Some(SelfTest::Injected(injected)) => injected,
        other => panic!("{other:?}"),
    }
}

#[test]
fn noise_alone_passes_and_its_floor_is_the_one_that_theory_gives() {
    let mut noise = gauss(1);
    let found = aa(&study(&TWINS, 6, 64, |_, _, _| 0.01 * noise()));
    assert_eq!((found.head.groups, found.head.rounds, found.excludes_zero.of), (8, 64, 6 * 2 * 8));
    assert_eq!(found.head.judgement, Judgement::Pass, "{:?} {:?}", found.excludes_zero, found.beyond_margin);
    assert!((found.excludes_zero.limit_percent - 9.45).abs() < 0.01, "{:?}", found.excludes_zero);
    for noise in &found.series {
        // A difference of two runs has a standard deviation of 1.41 %; the t interval of eight at alpha 0.03 is +- 1.36 %.
        assert!((0.8..3.0).contains(&noise.floor_percent.unwrap()), "{noise:?}");
        assert!((0.6..1.5).contains(&noise.run_spread_percent.unwrap()), "{noise:?}");
    }
}

#[test]
fn over_many_studies_noise_is_called_a_difference_about_as_often_as_the_design_says() {
    let (mut count, mut of, mut failed) = (0, 0, 0);
    for seed in 0..40 {
        let mut noise = gauss(1000 + seed);
        let found = aa(&study(&TWINS, 6, 64, |_, _, _| 0.005 * noise()));
        count += found.excludes_zero.count;
        of += found.excludes_zero.of;
        failed += usize::from(found.head.judgement != Judgement::Pass);
    }
    // 3,840 verdicts: the design's simulations give 3.4 to 4.2 %.
    let share = count as f64 / of as f64;
    assert!((0.015..0.05).contains(&share), "{share}");
    assert!(failed <= 2, "{failed} of 40 studies of mere noise failed");
}

#[test]
fn noise_that_both_machines_of_a_round_share_costs_nothing() {
    let (mut common, mut own) = (gauss(2), gauss(3));
    let weather: Vec<f64> = (0..64).map(|_| 0.3 * common()).collect();
    let found = aa(&study(&TWINS, 6, 64, |round, _, _| weather[round as usize - 1] + 0.01 * own()));
    assert_eq!(found.head.judgement, Judgement::Pass);
    assert!(found.series.iter().all(|noise| noise.floor_percent.unwrap() < 3.0));
}

#[test]
fn a_twin_that_is_five_percent_slower_fails_and_is_found() {
    let mut noise = gauss(4);
    let found = aa(&study(&TWINS, 6, 64, |_, _, m| 0.01 * noise() + if m == GUEST_B { 0.05 } else { 0.0 }));
    assert_eq!(found.head.judgement, Judgement::Fail);
    assert!(found.beyond_margin.count > 20, "{:?}", found.beyond_margin);
    for noise in &found.series {
        let overall = noise.overall_percent.unwrap();
        let slower = if noise.other == GUEST_B { 5.13 } else { 0.0 };
        assert!((overall - slower).abs() < 1.0, "{noise:?}");
        assert!(slower == 0.0 || noise.excludes_zero >= 7, "{noise:?}");
    }
}

#[test]
fn a_twin_whose_disturbance_lasts_for_rounds_fails() {
    let (mut shock, mut own) = (gauss(5), gauss(6));
    let mut level = 0.0;
    let drift: Vec<f64> = (0..64)
        .map(|_| {
            level = 0.97 * level + 0.02 * shock();
            level
        })
        .collect();
    let found = aa(&study(&TWINS, 6, 64, |round, _, m| {
        0.002 * own() + if m == HOST_B { drift[round as usize - 1] } else { 0.0 }
    }));
    assert_eq!(found.head.judgement, Judgement::Fail, "{:?}", found.excludes_zero);
}

#[test]
fn metrics_that_go_together_are_told_by_the_standard_error_of_groups_and_do_not_loosen_the_limit() {
    // All metrics are the same numbers: 6 verdicts are worth one.
    let mut noise = gauss(7);
    let mut values = BTreeMap::new();
    let together =
        aa(&study(&TWINS, 6, 64, |round, _, m| *values.entry((round, m.to_owned())).or_insert_with(|| 0.01 * noise())));
    let mut noise = gauss(8);
    let apart = aa(&study(&TWINS, 6, 64, |_, _, _| 0.01 * noise()));
    assert_eq!(together.excludes_zero.limit_percent, apart.excludes_zero.limit_percent);
    let rate = together.excludes_zero;
    assert!(rate.count > 0 && rate.count.is_multiple_of(6), "{rate:?}");
    let share = rate.percent.unwrap() / 100.0;
    let binomial = 100.0 * (share * (1.0 - share) / rate.of as f64).sqrt();
    assert!(rate.standard_error_points.unwrap() > 1.5 * binomial, "{rate:?}");
}

#[test]
fn too_few_rounds_are_not_judged() {
    let mut noise = gauss(9);
    let found = aa(&study(&TWINS, 2, 24, |_, _, m| 0.01 * noise() + if m == HOST_B { 1.0 } else { 0.0 }));
    assert_eq!((found.head.groups, found.head.judgement), (3, Judgement::TooFewRounds));
    // None at all is no failure of arithmetic either.
    let found = aa(&study(&TWINS, 2, 0, |_, _, _| 0.0));
    assert_eq!((found.head.judgement, found.excludes_zero.percent), (Judgement::TooFewRounds, None));
    let found = injected(&study(&[HOST, "host+1"], 1, 0, |_, _, _| 0.0));
    assert_eq!((found.head.judgement, found.series[0].recovered_percent), (Judgement::TooFewRounds, None));
}

#[test]
fn dropped_blocks_and_broken_attempts_shorten_their_own_series_only() {
    let mut noise = gauss(10);
    let mut bent = study(&TWINS, 3, 64, |_, _, _| 0.01 * noise());
    let benchmark = bent.manifest.benchmarks[1].id.clone();
    bent.each_run(|run| {
        if run.benchmark == benchmark && run.machine == GUEST_B && run.round <= 10 {
            run.outcome = Outcome::Failed { cause: FailureCause::Tool, why: "no".to_owned() };
        }
    });
    // An attempt that broke off, with values and a canary that would spoil everything.
    bent.start(65, 1);
    bent.log(visit(65, HOST, 50.0));
    let mut wild = bent.run(65, 1, 0, 0, HOST);
    wild.outcome = Outcome::Measured { values: BTreeMap::from([("time".to_owned(), 1e9)]) };
    bent.log(Event::Run(Box::new(wild)));
    bent.close(65, 1, false, Some("the guest died"));
    let found = aa(&bent);
    assert_eq!((found.head.rounds, found.head.judgement), (64, Judgement::Pass));
    for noise in &found.series {
        let short = noise.benchmark == benchmark && noise.base == GUEST;
        let expected = if short { (54, 10, 6) } else { (64, 0, 8) };
        assert_eq!((noise.blocks, noise.dropped, noise.groups), expected, "{noise:?}");
    }
    assert_eq!(found.excludes_zero.of, 6 * 8 - 2);
    assert!(found.head.canaries.iter().all(|canary| canary.worst_change_percent == 0.0), "{:?}", found.head.canaries);
}

/// What a padded machine costs, with an error of so many points.
fn cost_of(machine: &str, off_points: f64) -> f64 {
    padding(machine).map_or(0.0, |percent| ((percent as f64 + off_points) / 100.0).ln_1p())
}

fn injected_machines() -> Vec<String> {
    std::iter::once(HOST.to_owned()).chain(INJECTED.map(padded)).collect()
}

#[test]
fn known_overheads_are_recovered() {
    let names = injected_machines();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut noise = gauss(11);
    let found = injected(&study(&names, 1, 64, |_, _, m| cost_of(m, 0.0) + 0.005 * noise()));
    assert_eq!(found.head.judgement, Judgement::Pass, "{found:?}");
    assert_eq!(found.series.iter().map(|r| r.injected_percent).collect::<Vec<_>>(), [1.0, 3.0, 10.0, 50.0]);
    assert_eq!(found.contains.of, 4 * 8);
    // 94 % less two standard errors of 4.2 points.
    assert!((found.contains.limit_percent - 85.6).abs() < 0.1, "{:?}", found.contains);
}

#[test]
fn an_overhead_that_comes_out_a_point_too_small_fails() {
    let names = injected_machines();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut noise = gauss(12);
    let found = injected(&study(&names, 1, 64, |_, _, m| cost_of(m, -1.0) + 0.005 * noise()));
    assert_eq!(found.head.judgement, Judgement::Fail);
    for recovery in &found.series {
        assert!(!recovery.within && (recovery.bias_points.unwrap() + 1.0).abs() < 0.3, "{recovery:?}");
    }
    // Right in the middle and yet too seldom inside: intervals that are too narrow fail as well.
    let mut noise = gauss(13);
    let mut jump = 0.0;
    let found = injected(&study(&["host", "host+10"], 1, 64, |round, _, m| {
        jump = if (round - 1) / 8 % 2 == 0 { 0.02 } else { -0.02 };
        cost_of(m, 0.0) + 0.001 * noise() + if m == HOST { 0.0 } else { jump }
    }));
    assert_eq!((found.contains.count, found.contains.within, found.head.judgement), (0, false, Judgement::Fail));
}

#[test]
fn names_say_what_is_injected_and_an_ordinary_study_is_no_self_test() {
    for (name, percent) in
        [("host+10", Some(10)), ("host", None), ("host-b", None), ("guest+1", None), ("host+x", None)]
    {
        assert_eq!(padding(name), percent, "{name}");
    }
    assert_eq!(padding(&padded(3)), Some(3));
    let ordinary = Study::emulated(3).measured(3);
    assert_eq!(evaluate(&ordinary.manifest, &ordinary.lines), None);
}

/// Values that would be too wide if anything could be.
fn wild() -> Vec<SelfTest> {
    let mut noise = gauss(14);
    let names = injected_machines();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut twins = study(&TWINS, 6, 16, |_, _, _| 9.0 * noise());
    twins.each_run(|run| {
        if run.round == 3 {
            run.outcome = Outcome::Cancelled;
        }
    });
    let known = study(&names, 1, 16, |_, _, _| 9.0 * noise());
    [twins, known].iter().filter_map(|s| evaluate(&s.manifest, &s.lines)).collect()
}

#[test]
fn no_line_is_wider_than_80_columns_in_any_language() {
    let mut all = wild();
    let mut noise = gauss(15);
    let calm = study(&TWINS, 6, 32, |_, _, _| 0.01 * noise());
    all.extend(evaluate(&calm.manifest, &calm.lines));
    for test in &all {
        for lang in Lang::ALL {
            let text = text(test, &Words::new(lang));
            let wide = text.lines().find(|line| line.width() > 80);
            assert_eq!(wide, None, "{text}");
            assert!(!text.contains("selftest-"), "a message is missing: {text}");
            assert!(!text.contains("NaN"), "{text}");
        }
    }
}

#[test]
fn the_texts_are_as_reviewed() {
    let names = injected_machines();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut noise = gauss(16);
    let twins = study(&TWINS, 3, 64, |_, _, _| 0.01 * noise());
    let known = study(&names, 1, 64, |_, _, m| cost_of(m, 0.0) + 0.005 * noise());
    let few = study(&names[..2], 1, 8, |_, _, m| cost_of(m, 0.0) + 0.005 * noise());
    for (name, study) in [("aa", &twins), ("injected", &known), ("few", &few)] {
        let test = evaluate(&study.manifest, &study.lines).unwrap();
        for lang in Lang::ALL {
            insta::assert_snapshot!(format!("{name}_{}", lang.tag()), text(&test, &Words::new(lang)));
        }
    }
}

#[test]
fn the_json_names_its_kind_and_holds_no_number_that_is_none() {
    for test in wild() {
        let text = json(&test).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let kind = if matches!(test, SelfTest::Aa(_)) { "aa" } else { "injected" };
        assert_eq!((value["selftest"].as_str(), value["schema"].as_u64()), (Some(kind), Some(1)));
        assert_eq!(value["judgement"], "TOO_FEW_ROUNDS");
        assert_eq!(value["rounds"], 16);
        assert!(value["series"].as_array().unwrap().len() >= 4);
        assert_eq!(json(&test).unwrap(), text);
    }
}

#[test]
fn a_metric_that_was_never_measured_prevents_a_judgement() {
    let mut noise = gauss(17);
    let mut bent = study(&TWINS, 2, 64, |_, _, _| 0.01 * noise());
    let silent = Benchmark { id: "cpu.silent".to_owned(), ..bent.manifest.benchmarks[0].clone() };
    bent.manifest.benchmarks.push(silent);
    let found = aa(&bent);
    assert_eq!((found.head.groups, found.head.judgement), (0, Judgement::TooFewRounds));
}
