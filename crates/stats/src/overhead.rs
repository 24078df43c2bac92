//! From paired runs to the numbers of the report: the log cost ratio of a round, and the overhead over all rounds.

use crate::{
    interval::Interval,
    serial::{Serial, serial},
    signed_rank::{hodges_lehmann, pseudomedian},
    student::mean_t,
};

/// From so many rounds on the interval is the signed-rank interval of a full study.
pub const STUDY_ROUNDS: usize = 8;
/// From so many rounds on there is an interval at all.
pub const INDICATIVE_ROUNDS: usize = 3;
/// The level that is reported.
pub const REPORTED_LEVEL: f64 = 0.95;
/// Its complement, for the geometric mean and for indicative intervals.
const REPORTED_ALPHA: f64 = 0.05;
/// The alpha that is used for it in a study: nominally 97 %, so that 95 % remain when stopping on width.
pub const STUDY_ALPHA: f64 = 0.03;

/// Which values of a metric are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Better {
    /// Time, latency: the value is the cost.
    Lower,
    /// Throughput, operations per second: the cost is its inverse.
    Higher,
}

/// How much the number of rounds lets one say, and by which method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// Fewer than three rounds: an estimate and no interval.
    PointOnly,
    /// Three to seven rounds: Student's t interval of the mean. Too narrow if only one side has a tail; to be
    /// labelled INDICATIVE.
    Indicative,
    /// Eight rounds or more: the exact signed-rank interval about the pseudomedian.
    Study,
}

impl Strength {
    /// The strength of so many rounds.
    pub fn of(rounds: usize) -> Strength {
        match rounds {
            STUDY_ROUNDS.. => Strength::Study,
            INDICATIVE_ROUNDS.. => Strength::Indicative,
            _ => Strength::PointOnly,
        }
    }
}

/// The overhead of one metric over all rounds. All numbers are log cost ratios; see [`percent`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overhead {
    /// How many rounds (replication units) it was made from.
    pub n: usize,
    /// The typical overhead: the pseudomedian (Hodges-Lehmann).
    pub typical: f64,
    /// The interval to report as 95 %. With [`Strength::Study`] it lies about `typical`, with
    /// [`Strength::Indicative`] about the mean.
    pub interval: Option<Interval>,
    /// How the interval was made, and how much it is worth.
    pub strength: Strength,
    /// The mean of the log ratios, that is the geometric mean of the ratios, with its t interval. From two rounds on.
    pub geometric_mean: Option<Interval>,
    /// The two estimates differ by more than the interval's half-width: one side has a tail of rare slow runs, which
    /// the typical overhead does not show. Only known with [`Strength::Study`].
    pub tail_shift: bool,
    /// The serial correlation of the rounds. With [`Strength::Study`] the interval is stretched by its factor.
    pub serial: Serial,
    /// At least half of the rounds (of two or more) repeat another round's value exactly: rounds were entered twice,
    /// or the tool rounds its numbers.
    pub repeated: bool,
}

/// The log cost ratio `d = ln(cost in the guest / cost on the host)` of one round: positive when the guest is slower.
///
/// Both values in the same unit. `None` unless both are positive and finite.
pub fn log_cost_ratio(host: f64, guest: f64, better: Better) -> Option<f64> {
    if !(host > 0.0 && guest > 0.0 && host.is_finite() && guest.is_finite()) {
        return None;
    }
    let d = guest.ln() - host.ln();
    Some(match better {
        Better::Lower => d,
        Better::Higher => 0.0 - d,
    })
}

/// The overhead in percent, `100 (e^d - 1)`: how much more the same work costs.
pub fn percent(d: f64) -> f64 {
    100.0 * d.exp_m1()
}

/// The guest's throughput as a fraction of the host's, `e^-d`.
pub fn throughput_ratio(d: f64) -> f64 {
    (-d).exp()
}

/// The lost throughput in percent, `100 (1 - e^-d)`. A loss of 50 % is an overhead of 100 %: never in one column.
pub fn loss_percent(d: f64) -> f64 {
    -100.0 * (-d).exp_m1()
}

/// The overhead from the log cost ratios of the rounds, in time order.
///
/// From eight rounds on the interval is the exact signed-rank interval at `alpha` 0.03, stretched by the factor of
/// the serial correlation, and has nominally 95 %: it was calibrated for looks at the schedule of [`crate::looks`] and
/// stopping on width. `None` if there is no round or a ratio is not finite.
pub fn overhead(d: &[f64]) -> Option<Overhead> {
    let typical = pseudomedian(d)?;
    let serial = serial(d, typical)?;
    let strength = Strength::of(d.len());
    let geometric_mean = mean_t(d, REPORTED_ALPHA);
    let interval = match strength {
        Strength::PointOnly => None,
        Strength::Indicative => geometric_mean,
        Strength::Study => hodges_lehmann(d, STUDY_ALPHA)
            .map(|exact| Interval { level: REPORTED_LEVEL, ..exact.stretched(serial.factor) })
            .and_then(Interval::finite),
    };
    let tail_shift = match (strength, interval, geometric_mean) {
        (Strength::Study, Some(interval), Some(mean)) => (mean.estimate - typical).abs() > interval.half_width(),
        _ => false,
    };
    let repeated = mostly_repeated(d);
    Some(Overhead { n: d.len(), typical, interval, strength, geometric_mean, tail_shift, serial, repeated })
}

/// The overhead of a suite: the mean of `d` over the benchmarks in each round (the geometric mean of the ratios),
/// then [`overhead`] over the rounds.
///
/// `rounds` holds the complete rounds in time order, each with the same benchmarks in the same order. `None` if
/// there is none, one is incomplete, or a ratio is not finite.
pub fn suite<Round: AsRef<[f64]>>(rounds: &[Round]) -> Option<Overhead> {
    let benchmarks = rounds.first()?.as_ref().len();
    let means: Option<Vec<f64>> = rounds
        .iter()
        .map(|round| {
            let round = round.as_ref();
            (round.len() == benchmarks).then(|| round.iter().sum::<f64>() / round.len() as f64)
        })
        .collect();
    overhead(&means?)
}

/// Whether at least half of the values have an exact twin.
fn mostly_repeated(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let repeated: usize = sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).filter(|&equal| equal > 1).sum();
    repeated > 0 && 2 * repeated >= values.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: [f64; 10] = [0.0953, 0.1044, 0.0862, 0.1103, 0.0917, 0.0998, 0.1270, 0.0841, 0.1011, 0.0960];

    fn close(found: f64, known: f64) {
        assert!((found - known).abs() < 1e-12, "{found} is not {known}");
    }

    #[test]
    fn a_study_has_the_stretched_signed_rank_interval() {
        let found = overhead(&D).unwrap();
        let interval = found.interval.unwrap();
        assert_eq!((found.n, found.strength), (10, Strength::Study));
        close(found.typical, 0.0982);
        close(interval.estimate, 0.0982);
        let f = found.serial.factor;
        close(interval.low, 0.0982 - f * (0.0982 - 0.09005));
        close(interval.high, 0.0982 + f * (0.11115 - 0.0982));
        assert_eq!(interval.level, 0.95);
        let mean = found.geometric_mean.unwrap();
        assert!((mean.estimate - 0.09959).abs() < 1e-12);
        assert!(!found.tail_shift && !found.repeated && !found.serial.quantised);
    }

    #[test]
    fn three_to_seven_rounds_have_the_t_interval_and_are_indicative() {
        for n in 3..=7 {
            let found = overhead(&D[..n]).unwrap();
            assert_eq!(found.strength, Strength::Indicative);
            assert_eq!(found.interval, mean_t(&D[..n], 0.05));
            assert_eq!(Some(found.typical), pseudomedian(&D[..n]));
        }
    }

    #[test]
    fn one_or_two_rounds_have_an_estimate_only_and_none_nothing() {
        for n in 1..=2 {
            let found = overhead(&D[..n]).unwrap();
            assert_eq!((found.strength, found.interval), (Strength::PointOnly, None));
        }
        assert_eq!(overhead(&D[..1]).unwrap().geometric_mean, None);
        assert_eq!(overhead(&[]), None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(overhead(&[0.1, bad, 0.2]), None);
        }
    }

    #[test]
    fn a_rare_stall_shifts_the_mean_and_is_flagged() {
        let mut d: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20) / 1000.0).collect();
        assert!(!overhead(&d).unwrap().tail_shift);
        d[13] = 3.0;
        let found = overhead(&d).unwrap();
        assert!(found.tail_shift);
        assert!(percent(found.typical) < 2.0);
    }

    #[test]
    fn rounds_that_were_entered_twice_are_flagged() {
        assert!(overhead(&[D, D].concat()).unwrap().repeated);
        let each_twice: Vec<f64> = D.iter().flat_map(|&d| [d, d]).collect();
        assert!(overhead(&each_twice).unwrap().repeated);
        assert!(!overhead(&[D[0], D[1], D[2], D[0], D[4]]).unwrap().repeated);
        assert!(!overhead(&D[..1]).unwrap().repeated);
    }

    #[test]
    fn mostly_equal_rounds_are_quantised() {
        let found = overhead(&[0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.1]).unwrap();
        assert!(found.serial.quantised && found.repeated);
        assert_eq!(found.serial.factor, 1.0);
    }

    #[test]
    fn the_cost_of_a_throughput_is_its_inverse() {
        close(log_cost_ratio(10.0, 20.0, Better::Lower).unwrap(), 2.0_f64.ln());
        close(log_cost_ratio(10.0, 20.0, Better::Higher).unwrap(), -(2.0_f64.ln()));
        close(log_cost_ratio(1e-300, 1e300, Better::Lower).unwrap(), 600.0 * 10.0_f64.ln());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(log_cost_ratio(bad, 1.0, Better::Lower), None);
            assert_eq!(log_cost_ratio(1.0, bad, Better::Higher), None);
        }
    }

    #[test]
    fn half_the_throughput_is_twice_the_time() {
        let d = log_cost_ratio(200.0, 100.0, Better::Higher).unwrap();
        close(percent(d), 100.0);
        close(throughput_ratio(d), 0.5);
        close(loss_percent(d), 50.0);
        assert_eq!(percent(0.0), 0.0);
        assert_eq!(loss_percent(0.0), 0.0);
    }

    #[test]
    fn a_suite_is_the_overhead_of_its_round_means() {
        let rounds: Vec<[f64; 3]> = D.iter().map(|&d| [d - 0.01, d + 0.02, d - 0.01]).collect();
        let (of_suite, of_means) = (suite(&rounds).unwrap(), overhead(&D).unwrap());
        close(of_suite.typical, of_means.typical);
        close(of_suite.interval.unwrap().low, of_means.interval.unwrap().low);
    }

    #[test]
    fn a_suite_with_an_incomplete_round_has_no_overhead() {
        assert_eq!(suite(&[vec![0.1, 0.2], vec![0.1]]), None);
        assert_eq!(suite::<[f64; 0]>(&[]), None);
        assert_eq!(suite(&[[0.0; 0]; 9]), None);
    }
}
