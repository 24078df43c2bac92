//! How figures are printed, the same way in all reports.

use crate::analysis::IntervalFigures;
use model::units::significant;

/// A number without its sign: one decimal below 100, none from there on, separators from 10,000 on.
fn magnitude(value: f64) -> String {
    let value = value.abs();
    if !value.is_finite() {
        "∞".to_owned()
    } else if value < 99.95 {
        format!("{value:.1}")
    } else if value < 9_999.5 {
        format!("{value:.0}")
    } else {
        significant(value)
    }
}

/// A signed number of percent, without the symbol: `+4.2`, `−0.3`, `0.0`, `+1626`.
pub(crate) fn signed(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    let text = magnitude(value);
    match text.as_str() {
        "0.0" => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// A signed percentage: `+4.2 %`.
pub(crate) fn percent(value: f64) -> String {
    format!("{} %", signed(value))
}

/// A percentage that has no sign: `93.1 %`.
pub(crate) fn percent_unsigned(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{} %", magnitude(value)) }
}

/// `[+3.1, +5.6]`.
pub(crate) fn brackets(interval: &IntervalFigures) -> String {
    format!("[{}, {}]", signed(interval.low_percent), signed(interval.high_percent))
}

/// `17.3 ×`, with three significant digits.
pub(crate) fn factor(value: f64) -> String {
    let text = if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        magnitude(value)
    };
    format!("{text} ×")
}

/// A share of one as percent without decimals, for splits and margins: `98 %`.
pub(crate) fn share(value: f64) -> String {
    if value.is_finite() { format!("{:.0} %", 100.0 * value) } else { "–".to_owned() }
}

/// Values of one row in one common prefix: where the largest is a million or more, in millions (`M`) or thousands (`k`),
/// by the smallest.
pub(crate) fn row(values: &[f64]) -> Vec<String> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let (factor, prefix) = match (least, most) {
        (l, _) if l >= 1e6 => (1e6, "M"),
        (l, m) if l >= 1e4 && m >= 1e6 => (1e3, "k"),
        _ => (1.0, ""),
    };
    values.iter().map(|v| format!("{}{prefix}", significant(v / factor))).collect()
}

/// A round number of a chart's axis without the decimals that it does not need: `500`, `55.5M`.
pub(crate) fn tick(text: &str) -> String {
    let prefix = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let number = text.strip_suffix(prefix).unwrap_or(text);
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{prefix}")
}

/// Times of one row in one common unit, chosen by the shortest that is not zero.
pub(crate) fn times(seconds: &[f64]) -> (Vec<String>, &'static str) {
    let shortest = seconds.iter().copied().filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
    let (unit, factor) = match shortest {
        s if s < 1e-6 => ("ns", 1e9),
        s if s < 1e-3 => ("µs", 1e6),
        s if s < 1.0 => ("ms", 1e3),
        _ => ("s", 1.0),
    };
    (seconds.iter().map(|s| significant(s * factor)).collect(), unit)
}

/// `± 2.1 %`.
pub(crate) fn plus_minus(percent: f64) -> String {
    format!("± {}", percent_unsigned(percent))
}

/// A date and time in UTC, from seconds since 1970.
pub(crate) fn date(seconds: f64) -> String {
    jiff::Timestamp::from_second(seconds as i64)
        .map_or_else(|_| "–".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// A command line as one can paste it into a POSIX shell.
pub(crate) fn shell(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%".contains(c);
    let quoted = argv.iter().map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_a_sign_and_no_more_digits_than_they_deserve() {
        for (value, text) in [
            (4.23, "+4.2"),
            (-0.31, "−0.3"),
            (0.04, "0.0"),
            (-0.04, "0.0"),
            (99.96, "+100"),
            (1626.4, "+1626"),
            (12_345.6, "+12,346"),
            (f64::INFINITY, "+∞"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(signed(value), text);
        }
        assert_eq!(percent_unsigned(34.0), "34.0 %");
        assert_eq!(share(0.02), "2 %");
        assert_eq!(factor(17.26), "17.3 ×");
    }

    #[test]
    fn a_row_has_one_prefix_and_one_unit() {
        assert_eq!(row(&[55_432_100.0, 3_211_000.0]), ["55.43M", "3.211M"]);
        assert_eq!(row(&[5_543_210.0, 21_000.0]), ["5,543k", "21.00k"]);
        assert_eq!(times(&[0.00041, 0.0123]), (vec!["410.0".to_owned(), "12,300".to_owned()], "µs"));
        assert_eq!(times(&[0.0, 0.5]).1, "ms");
        assert_eq!(["500.0", "55.50M", "1,000", "0"].map(tick), ["500", "55.5M", "1,000", "0"]);
    }

    #[test]
    fn a_pasted_command_is_the_same_command() {
        let argv = ["fio", "--name=a b", "it's", ""].map(str::to_owned);
        assert_eq!(shell(&argv), r"fio '--name=a b' 'it'\''s' ''");
    }

    #[test]
    fn dates_are_utc_and_nonsense_does_not_panic() {
        assert_eq!(date(1_795_294_260.0), "2026-11-21 20:51 UTC");
        assert_eq!(date(f64::MAX), "–");
    }
}
