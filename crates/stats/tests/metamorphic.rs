//! What must not change, or must change in a known way, when the data are changed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use vmtax_stats::{
    Better, Interval, Margin, Overhead, Verdict, change_points, halves_differ, hodges_lehmann, level_drop,
    log_cost_ratio, mann_kendall, overhead, shift, snia_steady, variance_reduction, verdict,
};

/// One benchmark on both sides in each round, as measured values.
fn rounds() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((0.01..100.0, 0.01..100.0), 1..40)
}

fn ratios(rounds: &[(f64, f64)], better: Better) -> Vec<f64> {
    rounds.iter().map(|&(host, guest)| log_cost_ratio(host, guest, better).unwrap()).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

fn same_interval(a: Option<Interval>, b: Option<Interval>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => close(a.estimate, b.estimate) && close(a.low, b.low) && close(a.high, b.high),
        (a, b) => a == b,
    }
}

fn same(a: &Overhead, b: &Overhead) -> bool {
    close(a.typical, b.typical)
        && same_interval(a.interval, b.interval)
        && same_interval(a.geometric_mean, b.geometric_mean)
        && close(a.serial.factor, b.serial.factor)
        && (a.n, a.strength, a.tail_shift) == (b.n, b.strength, b.tail_shift)
}

fn mirrored(of: Overhead) -> Overhead {
    Overhead {
        typical: -of.typical,
        interval: of.interval.map(Interval::mirrored),
        geometric_mean: of.geometric_mean.map(Interval::mirrored),
        ..of
    }
}

fn shifted(of: Overhead, by: f64) -> Overhead {
    Overhead {
        typical: of.typical + by,
        interval: of.interval.map(|interval| interval.shifted(by)),
        geometric_mean: of.geometric_mean.map(|interval| interval.shifted(by)),
        ..of
    }
}

proptest! {
    #[test]
    fn swapping_host_and_guest_mirrors_everything(rounds in rounds()) {
        let swapped: Vec<_> = rounds.iter().map(|&(host, guest)| (guest, host)).collect();
        let before = overhead(&ratios(&rounds, Better::Lower)).unwrap();
        let after = overhead(&ratios(&swapped, Better::Lower)).unwrap();
        prop_assert_eq!(mirrored(before), after);
    }

    #[test]
    fn taking_a_throughput_for_a_time_mirrors_everything(rounds in rounds()) {
        let before = overhead(&ratios(&rounds, Better::Lower)).unwrap();
        let after = overhead(&ratios(&rounds, Better::Higher)).unwrap();
        prop_assert_eq!(mirrored(before), after);
    }

    #[test]
    fn swapping_host_and_guest_swaps_the_verdict(low in -0.1..0.1, width in 0.0..0.1) {
        let (high, margin) = (low + width, Margin::relative(0.02).unwrap());
        let interval = Interval { estimate: low, low, high, level: 0.95, n: 8 };
        let swapped = match verdict(&interval, margin) {
            Verdict::Overhead => Verdict::FasterThanHost,
            Verdict::FasterThanHost => Verdict::Overhead,
            other => other,
        };
        prop_assert_eq!(verdict(&interval.mirrored(), margin), swapped);
    }

    #[test]
    fn another_unit_changes_nothing(rounds in rounds(), unit in 1e-9..1e9) {
        let scaled: Vec<_> = rounds.iter().map(|&(host, guest)| (host * unit, guest * unit)).collect();
        let before = overhead(&ratios(&rounds, Better::Lower)).unwrap();
        let after = overhead(&ratios(&scaled, Better::Lower)).unwrap();
        prop_assert!(same(&before, &after), "{before:?} {after:?}");
    }

    #[test]
    fn a_constant_factor_shifts_everything(rounds in rounds(), factor in 0.1..10.0_f64) {
        let slower: Vec<_> = rounds.iter().map(|&(host, guest)| (host, guest * factor)).collect();
        let before = overhead(&ratios(&rounds, Better::Lower)).unwrap();
        let after = overhead(&ratios(&slower, Better::Lower)).unwrap();
        prop_assert!(same(&shifted(before, factor.ln()), &after), "{before:?} {after:?}");
    }

    #[test]
    fn the_order_of_the_rounds_matters_only_for_the_serial_factor(
        (rounds, permuted) in rounds().prop_flat_map(|r| (Just(r.clone()), Just(r).prop_shuffle())),
    ) {
        let (before, after) = (ratios(&rounds, Better::Lower), ratios(&permuted, Better::Lower));
        prop_assert_eq!(hodges_lehmann(&before, 0.05), hodges_lehmann(&after, 0.05));

        let (before, after) = (overhead(&before).unwrap(), overhead(&after).unwrap());
        prop_assert_eq!(before.typical, after.typical);
        prop_assert!(same_interval(before.geometric_mean, after.geometric_mean));
        let unstretched = |of: &Overhead| of.interval.map(|i| i.stretched(1.0 / of.serial.factor));
        if before.n >= vmtax_stats::STUDY_ROUNDS {
            prop_assert!(same_interval(unstretched(&before), unstretched(&after)));
        } else {
            prop_assert!(same_interval(before.interval, after.interval));
        }
    }

    #[test]
    fn doubled_rounds_are_flagged(rounds in rounds()) {
        let d = ratios(&rounds, Better::Lower);
        prop_assert!(overhead(&[&d[..], &d].concat()).unwrap().repeated);
        let in_pairs: Vec<f64> = d.iter().flat_map(|&d| [d, d]).collect();
        prop_assert!(overhead(&in_pairs).unwrap().repeated);
    }

    #[test]
    fn a_constant_factor_of_one_study_shifts_its_comparison_with_another(
        (a, b) in (rounds(), rounds()),
        factor in 0.1..10.0_f64,
    ) {
        let (a, b) = (ratios(&a, Better::Lower), ratios(&b, Better::Lower));
        let later: Vec<f64> = b.iter().map(|d| d + factor.ln()).collect();
        let expected = shift(&a, &b, 0.05).map(|interval| interval.shifted(factor.ln()));
        prop_assert!(same_interval(expected, shift(&a, &later, 0.05)));
    }

    #[test]
    fn swapping_host_and_guest_does_not_change_what_pairing_gains(rounds in rounds()) {
        let (host, guest): (Vec<f64>, Vec<f64>) = rounds.iter().map(|(host, guest)| (host.ln(), guest.ln())).unzip();
        let there: Vec<f64> = host.iter().zip(&guest).map(|(host, guest)| guest - host).collect();
        let back: Vec<f64> = there.iter().map(|d| -d).collect();
        prop_assert_eq!(variance_reduction(&host, &guest, &there), variance_reduction(&guest, &host, &back));
    }

    #[test]
    fn time_that_runs_backwards_turns_a_trend_round(values in prop::collection::vec(-9.0..9.0, 3..80)) {
        let backwards: Vec<f64> = values.iter().rev().copied().collect();
        let (there, back) = (mann_kendall(&values).unwrap(), mann_kendall(&backwards).unwrap());
        prop_assert!(close(there.tau, -back.tau) && close(there.p, back.p), "{there:?} {back:?}");
    }

    #[test]
    fn another_unit_changes_nothing_about_a_series(series in prop::collection::vec(1.0..100.0, 10..60), power in -30..30) {
        // A power of two, so that no rounding moves a value over a limit.
        let unit = 2.0_f64.powi(power);
        let scaled: Vec<f64> = series.iter().map(|x| x * unit).collect();
        prop_assert_eq!(snia_steady(&series), snia_steady(&scaled));
        let difference = |of| halves_differ(of).unwrap();
        prop_assert!(close(difference(&series), difference(&scaled)));
        let drop_at = |of| level_drop(of, 1.0).map(|drop| drop.at);
        prop_assert_eq!(drop_at(&series), drop_at(&scaled));
        let changes_at = |of: &[f64]| -> Vec<usize> {
            change_points(of, 0.0, 1).unwrap().points.iter().map(|point| point.at).collect()
        };
        prop_assert_eq!(changes_at(&series), changes_at(&scaled));
    }

    #[test]
    fn an_interval_is_in_order_and_never_narrower_than_the_exact_one(rounds in rounds()) {
        let d = ratios(&rounds, Better::Lower);
        let found = overhead(&d).unwrap();
        prop_assert_eq!(found.interval.is_some(), d.len() >= vmtax_stats::INDICATIVE_ROUNDS);
        if let Some(interval) = found.interval {
            prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
        }
        if let Some(exact) = hodges_lehmann(&d, vmtax_stats::STUDY_ALPHA).filter(|_| d.len() >= 8) {
            prop_assert!(found.interval.unwrap().half_width() >= exact.half_width() * (1.0 - 1e-12));
        }
    }

    #[test]
    fn no_data_make_anything_panic_or_not_finite(
        d in prop::collection::vec(prop_oneof![any::<f64>(), -1.0..1.0, Just(0.0)], 0..30),
        alpha in any::<f64>(),
    ) {
        let finite = d.iter().all(|x| x.is_finite());
        match overhead(&d) {
            Some(found) => {
                prop_assert!(finite && found.typical.is_finite() && found.serial.factor.is_finite());
                for interval in [found.interval, found.geometric_mean].into_iter().flatten() {
                    prop_assert!(interval.low.is_finite() && interval.high.is_finite());
                }
            }
            None => prop_assert!(d.is_empty() || !d.iter().all(|x| x.abs() < 1e300)),
        }
        for alpha in [alpha, 0.05] {
            let intervals = [
                vmtax_stats::hodges_lehmann(&d, alpha),
                vmtax_stats::mean_t(&d, alpha),
                vmtax_stats::anytime_t(&d, alpha, vmtax_stats::ANYTIME_G),
                vmtax_stats::median_interval(&d, alpha),
                shift(&d[..d.len() / 3], &d[d.len() / 3..], alpha),
                d.first().and_then(|first| vmtax_stats::pooled_percentile_interval(*first, &d, alpha)),
            ];
            for interval in intervals.into_iter().flatten() {
                prop_assert!(interval.low.is_finite() && interval.high.is_finite());
            }
        }
        let (few, rest) = d.split_at(d.len() / 3);
        let trend = mann_kendall(&d);
        for p in [vmtax_stats::signed_rank_p(&d), vmtax_stats::mann_whitney_p(few, rest), trend.map(|trend| trend.p)] {
            prop_assert!(p.is_none_or(|p| (0.0..=1.0).contains(&p)));
        }
        for change in change_points(&d, alpha, 1).map(|changes| changes.points).into_iter().flatten() {
            prop_assert!(change.at < d.len() && (0.001..=0.01).contains(&change.p));
        }
        snia_steady(&d);
        for value in [
            vmtax_stats::geometric_mean(&d),
            vmtax_stats::robust_cv(&d),
            vmtax_stats::mad(&d),
            vmtax_stats::quantile(&d, alpha),
            vmtax_stats::effective_size(&d),
            vmtax_stats::mser(&d).map(|cut| cut.score),
            trend.map(|trend| trend.tau),
            halves_differ(&d),
            variance_reduction(&d, &d, &d),
            level_drop(&d, alpha).map(|drop| drop.after),
        ] {
            prop_assert!(value.is_none_or(f64::is_finite));
        }
        vmtax_stats::holm(&d);
        vmtax_stats::benjamini_hochberg(&d);
    }
}
