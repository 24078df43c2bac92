//! Cells of what looks at a series: trends and changes of level; and of percentiles of merged runs.

use std::ops::RangeInclusive;

use vmtax_stats::{change_points, mann_kendall, pooled_percentile_interval};

use crate::{
    cell::{Cell, Expect},
    intervals::BAND,
    random::Pcg,
};

/// 1 % and two standard errors of 2000 experiments.
const RARE: RangeInclusive<f64> = 0.0..=0.0145;

pub fn cells() -> Vec<Cell> {
    vec![
        trend(20),
        trend(64),
        false_change("independent", 0.0, Expect::In(RARE)).fast_if(true),
        false_change("AR(0.3)", 0.3, Expect::Limit(RARE, 0.05..=0.09)),
        false_change("AR(0.6)", 0.6, Expect::Limit(RARE, 0.25..=0.31)),
        change_found(1.0, Expect::In(0.05..=1.0)),
        change_found(2.0, Expect::In(0.80..=1.0)),
        change_found(3.0, Expect::In(0.95..=1.0)),
        percentile_of_merged_runs(5),
        percentile_of_merged_runs(10),
        percentile_of_merged_runs(20),
    ]
}

/// AR(1) with sd 1 and this φ.
fn wandering(n: usize, phi: f64, random: &mut Pcg) -> Vec<f64> {
    let mut series = vec![random.normal()];
    while series.len() < n {
        series.push(phi * series[series.len() - 1] + (1.0 - phi * phi).sqrt() * random.normal());
    }
    series
}

fn trend(n: usize) -> Cell {
    let name = format!("Mann-Kendall p < 0.01, independent values, n = {n}");
    Cell::new("False alarms of series", name, Expect::In(RARE), move |random| {
        (mann_kendall(&wandering(n, 0.0, random)).unwrap().p < 0.01).into()
    })
    .nominal("1 %")
}

fn false_change(name: &str, phi: f64, expect: Expect) -> Cell {
    let name = format!("change of level in 30 {name} values");
    Cell::new("False alarms of series", name, expect, move |random| {
        let series = wandering(30, phi, random);
        (!change_points(&series, 0.0, random.next().into()).unwrap().points.is_empty()).into()
    })
    .nominal("at most 1 %")
}

fn change_found(step: f64, expect: Expect) -> Cell {
    let name = format!("a step of {step} sd after 15 of 30 values");
    Cell::new("Changes of level that are found within two places", name, expect, move |random| {
        let mut series = wandering(30, 0.0, random);
        series[15..].iter_mut().for_each(|value| *value += step);
        let found = change_points(&series, 0.0, random.next().into()).unwrap().points;
        found.iter().any(|point| point.at.abs_diff(15) <= 2).into()
    })
    .nominal("")
}

/// p99 of merged runs of 2000 log-normal latencies, whose scale varies from run to run by 10 %.
fn percentile_of_merged_runs(runs: usize) -> Cell {
    // ln of a latency is normal with variance 0.5² + 0.1².
    let truth = (vmtax_stats::normal::quantile(0.99).unwrap() * 0.26_f64.sqrt()).exp();
    let name = format!("p99 of {runs} merged runs whose scale differs by 10 %");
    Cell::new(
        "Percentile of merged runs (jackknife over runs)",
        name,
        Expect::Limit(BAND, 0.91..=0.93),
        move |random| {
            let mut latencies: Vec<(f64, usize)> = Vec::with_capacity(2000 * runs);
            for run in 0..runs {
                let scale = 0.1 * random.normal();
                latencies.extend((0..2000).map(|_| (scale + 0.5 * random.normal(), run)));
            }
            // Only what can be among the greatest hundredth matters.
            let keep = 60 * runs;
            latencies.select_nth_unstable_by(keep, |a, b| b.0.total_cmp(&a.0));
            latencies.truncate(keep);
            latencies.sort_by(|a, b| b.0.total_cmp(&a.0));
            let p99 = |left_out: Option<usize>| {
                let kept = latencies.iter().filter(|(_, run)| Some(*run) != left_out);
                kept.map(|(ln, _)| ln.exp()).nth(20 * (runs - usize::from(left_out.is_some()))).unwrap()
            };
            let without_each: Vec<f64> = (0..runs).map(|run| p99(Some(run))).collect();
            pooled_percentile_interval(p99(None), &without_each, 0.05).unwrap().contains(truth).into()
        },
    )
    .experiments(1000)
}
