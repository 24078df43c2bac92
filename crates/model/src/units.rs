//! Units. On disk every value is in a base unit (bytes, seconds, operations per second); a [`Scale`] is applied only
//! when a value is shown, so that no stored figure depends on a prefix (style rule 2).

use serde::{Deserialize, Serialize};

/// Base unit of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
    /// Operations (I/Os, loops, requests) per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Whetstone instructions per second (1 MWIPS = 1e6 of them).
    #[serde(rename = "WI/s")]
    WhetstonePerSecond,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// A pure number.
    #[serde(rename = "1")]
    One,
}

impl Unit {
    /// The symbol as it stands in the study folder.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::BytesPerSecond => "B/s",
            Unit::PerSecond => "1/s",
            Unit::WhetstonePerSecond => "WI/s",
            Unit::Seconds => "s",
            Unit::Bytes => "B",
            Unit::One => "1",
        }
    }
}

/// How a stored value is shown: `value / factor`, followed by `symbol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The unit that a reader sees, for example `MiB/s` or `MWIPS`.
    pub symbol: String,
    /// Base units in one shown unit, for example 1048576 for MiB/s.
    pub factor: f64,
}

impl Scale {
    /// A scale of `factor` base units.
    pub fn new(symbol: &str, factor: f64) -> Self {
        Scale { symbol: symbol.to_owned(), factor }
    }

    /// The value as a reader sees it.
    pub fn apply(&self, value: f64) -> f64 {
        value / self.factor
    }
}

/// `value` with about four significant digits and thousands separators, as tables print it.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = value.abs();
    let decimals = if magnitude >= 1000.0 || magnitude == 0.0 {
        0
    } else if magnitude >= 100.0 {
        1
    } else if magnitude >= 10.0 {
        2
    } else if magnitude >= 1.0 {
        3
    } else {
        // Leading zeros do not count as significant.
        (3 - magnitude.log10().floor() as i32).clamp(3, 12) as usize
    };
    let plain = format!("{value:.decimals$}");
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(c);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_significant_digits_with_separators() {
        for (value, text) in [
            (0.0, "0"),
            (1234567.8, "1,234,568"),
            (999.96, "1,000.0"),
            (123.456, "123.5"),
            (12.3456, "12.35"),
            (1.23456, "1.235"),
            (0.012345, "0.01235"),
            (-1234.0, "-1,234"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
