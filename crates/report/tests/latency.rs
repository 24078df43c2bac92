//! Histograms of latencies: merged, read, and told with their uncertainty.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

mod sample;

use model::Area;
use model::record::{GUEST, HOST, Histogram};
use proptest::prelude::*;
use sample::Study;
use std::collections::BTreeMap;
use vmtax_report::analysis::{Distribution, LatencyReport};

/// Only `disk.randread-4k`; each run has the histogram that `of` makes for its machine and round.
fn study(rounds: u32, of: impl Fn(&str, u32) -> Option<Histogram>) -> (Study, BTreeMap<String, Vec<u8>>) {
    let mut study = Study::kvm(rounds).only(&[Area::Disk]);
    study.manifest.benchmarks.truncate(1);
    study.manifest.plan.cells.truncate(1);
    let mut study = study.measured(rounds);
    let mut files = BTreeMap::new();
    study.each_run(|run| {
        let name = format!("raw/{}-{}.histogram.json", run.round, run.machine);
        if let Some(histogram) = of(&run.machine, run.round) {
            files.insert(name.clone(), serde_json::to_vec(&histogram).unwrap());
        }
        run.histogram = Some(name);
    });
    (study, files)
}

fn latency(study: &Study, files: &BTreeMap<String, Vec<u8>>) -> Option<LatencyReport> {
    let read = |name: &str| files.get(name).cloned().ok_or_else(|| "it is not there".to_owned());
    vmtax_report::analyse(&study.manifest, &study.lines, &read).benchmarks[0].latency.clone()
}

fn bins(bins: &[(u64, u64)]) -> Option<Histogram> {
    Some(Histogram { bins: bins.to_vec(), saturated_at: None })
}

fn percentile(distribution: &Distribution, percent: f64) -> Option<f64> {
    distribution.percentiles.iter().find(|p| p.percent == percent).map(|p| p.seconds)
}

#[test]
fn percentiles_are_those_of_all_operations_and_no_means_of_percentiles() {
    // Three quick runs and a slow one: the mean of their 90th percentiles is 2.575 ms, that of all operations 0.1 ms.
    let (study, files) = study(4, |_, round| bins(if round == 4 { &[(10_000_000, 100)] } else { &[(100_000, 1000)] }));
    let report = latency(&study, &files).unwrap();
    let guest = &report.machines[GUEST];
    assert_eq!((guest.operations, guest.runs, report.missing.len()), (3100, 4, 0));
    assert!((percentile(guest, 90.0).unwrap() / 1e-4 - 1.0).abs() < 1e-3);
    assert!((percentile(guest, 99.0).unwrap() / 1e-2 - 1.0).abs() < 1e-3);
    assert_eq!(percentile(guest, 99.9), None, "fewer than ten operations are slower");
    assert!(guest.percentiles.iter().all(|p| p.interval_seconds.is_none()), "four runs have no interval");
}

#[test]
fn a_percentile_stands_on_ten_operations_or_is_not_told() {
    for (operations, told) in [(99, vec![50.0]), (100, vec![50.0, 90.0]), (1000, vec![50.0, 90.0, 95.0, 99.0])] {
        let (study, files) = study(1, |_, _| bins(&[(1000, operations)]));
        let report = latency(&study, &files).unwrap();
        let percents: Vec<f64> = report.machines[HOST].percentiles.iter().map(|p| p.percent).collect();
        assert_eq!(percents, told, "{operations}");
    }
}

#[test]
fn the_interval_is_the_jackknife_over_runs() {
    // Run r has 1000 operations of r ms each. Without run r the median is the 4,000th of 7,000 operations or so.
    let (study, files) = study(8, |_, round| bins(&[(1_000_000 * u64::from(round), 1000)]));
    let report = latency(&study, &files).unwrap();
    let median = report.machines[GUEST].percentiles[0];
    // Leaving out a run of 1 to 4 ms makes the median 5 ms, of 5 to 8 ms makes it 4 ms.
    let theta: Vec<f64> = (1..=8).map(|r| if r <= 4 { 5e-3f64.ln() } else { 4e-3f64.ln() }).collect();
    let mean = theta.iter().sum::<f64>() / 8.0;
    let error = (7.0 / 8.0 * theta.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>()).sqrt();
    let reach = 2.364_624 * error;
    let [low, high] = median.interval_seconds.unwrap();
    assert!((low / (4e-3f64.ln() - reach).exp() - 1.0).abs() < 5e-3, "{low}");
    assert!((high / (4e-3f64.ln() + reach).exp() - 1.0).abs() < 5e-3, "{high}");
}

#[test]
fn a_thousand_runs_are_left_out_in_groups() {
    let (study, files) = study(300, |_, round| bins(&[(1_000_000 + 1000 * u64::from(round * 7 % 300), 50)]));
    let guest = latency(&study, &files).unwrap().machines.remove(GUEST).unwrap();
    assert_eq!((guest.runs, guest.operations), (300, 15_000));
    let [low, high] = guest.percentiles[0].interval_seconds.unwrap();
    assert!(low < guest.percentiles[0].seconds && guest.percentiles[0].seconds < high && high / low < 1.2);
}

#[test]
fn files_that_are_not_there_or_not_readable_are_told_and_no_error() {
    let (study, mut files) = study(5, |_, round| if round == 2 { None } else { bins(&[(1000, 500)]) });
    files.insert("raw/3-host.histogram.json".to_owned(), b"{\"bins\": [[1, ".to_vec());
    files.insert("raw/4-host.histogram.json".to_owned(), br#"{"bins": [[1, 18446744073709551615], [2, 5]]}"#.to_vec());
    files.insert("raw/5-host.histogram.json".to_owned(), br#"{"bins": []}"#.to_vec());
    let report = latency(&study, &files).unwrap();
    let names = |n: &[(u32, &str)]| -> Vec<String> {
        n.iter().map(|(round, machine)| format!("raw/{round}-{machine}.histogram.json")).collect()
    };
    assert_eq!(report.missing, names(&[(2, HOST), (3, HOST), (4, HOST), (5, HOST), (2, GUEST)]));
    assert_eq!((report.machines[HOST].runs, report.machines[GUEST].runs), (1, 4));
    assert_eq!(latency(&study, &BTreeMap::new()).unwrap().machines.len(), 0);
}

#[test]
fn without_histograms_there_are_no_latencies() {
    assert_eq!(Study::kvm(3).measured(3).analyse().benchmarks.iter().filter(|b| b.latency.is_some()).count(), 0);
}

#[test]
fn a_latency_beyond_what_the_tool_can_tell_is_flagged() {
    for (at, saturated) in [(None, false), (Some(20_000), false), (Some(10_000), true)] {
        let histogram = Histogram { bins: vec![(1000, 500), (10_000, 3)], saturated_at: at };
        let (study, files) = study(1, |_, _| Some(histogram.clone()));
        assert_eq!(latency(&study, &files).unwrap().machines[HOST].saturated, saturated);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_histogram_has_a_rising_curve_of_few_points_that_ends_at_all(
        runs in proptest::collection::vec(proptest::collection::vec((any::<u64>(), 0u64..1_000_000), 0..300), 1..12),
    ) {
        let (study, files) = study(runs.len() as u32, |_, round| bins(&runs[round as usize - 1]));
        for distribution in latency(&study, &files).unwrap().machines.values() {
            let curve = &distribution.curve;
            prop_assert!(!curve.is_empty() && curve.len() <= 100);
            prop_assert!(curve.windows(2).all(|w| w[0][0] < w[1][0] && w[0][1] < w[1][1]));
            prop_assert_eq!(curve[curve.len() - 1][1], 1.0);
            let seconds: Vec<f64> = distribution.percentiles.iter().map(|p| p.seconds).collect();
            prop_assert!(seconds.windows(2).all(|w| w[0] <= w[1]) && seconds.iter().all(|s| s.is_finite()));
            for p in &distribution.percentiles {
                if let Some([low, high]) = p.interval_seconds {
                    prop_assert!(low <= p.seconds && p.seconds <= high);
                }
            }
        }
    }
}
