//! Sizes and durations as people write them: `4k`, `1m`, `2g` (powers of 1024) and `500ms`, `30s`, `10m`, `2h`.

/// Why a size or duration could not be read. The text says what would have been right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// Not a size.
    #[error("'{0}' is not a size: write a number of bytes, or one with k, m, g or t (powers of 1024), such as 64m")]
    Size(String),
    /// Not a duration.
    #[error("'{0}' is not a duration: write a number with ms, s, m or h, such as 30s or 10m")]
    Duration(String),
}

fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text.split_at(end)
}

/// A size in bytes. Accepts `4096`, `4k`, `4K`, `4KiB`, `1.5g`; prefixes are powers of 1024.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let bad = || QuantityError::Size(text.to_owned());
    let (digits, unit) = split_unit(text.trim());
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(bad()),
    };
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(bad);
    }
    let number: f64 = digits.parse().map_err(|_| bad())?;
    let bytes = number * (1u64 << shift) as f64;
    if !bytes.is_finite() || bytes < 0.0 || bytes >= 2f64.powi(63) {
        return Err(bad());
    }
    Ok(bytes.round() as u64)
}

/// A duration in seconds. A bare number is seconds.
pub fn parse_duration(text: &str) -> Result<f64, QuantityError> {
    let bad = || QuantityError::Duration(text.to_owned());
    let (digits, unit) = split_unit(text.trim());
    let number: f64 = digits.parse().map_err(|_| bad())?;
    let factor = match unit.trim() {
        "ms" => 0.001,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(bad()),
    };
    let seconds = number * factor;
    if !seconds.is_finite() || seconds > 1e9 {
        return Err(bad());
    }
    Ok(seconds)
}

/// Bytes in the largest binary prefix that keeps at most one decimal: `1 GiB`, `84.3 MiB`.
pub fn show_size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 { format!("{value:.0} {}", units[unit]) } else { format!("{value:.1} {}", units[unit]) }
}

/// Seconds as a person says them: `8 s`, `2 min 30 s`, `1 h 5 min`.
pub fn show_duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "–".to_owned();
    }
    if seconds < 9.95 {
        return format!("{:.1} s", seconds.max(0.0));
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole % 3600 / 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(parse_size("4k"), Ok(4096));
        assert_eq!(parse_size("1.5g"), Ok(1_610_612_736));
        assert_eq!(parse_size("64MiB"), Ok(64 << 20));
        assert_eq!(parse_size("512"), Ok(512));
        for bad in ["", "k", "4x", "-1", "1e999", "99999999999t", "4 4k"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_need_a_known_unit() {
        assert_eq!(parse_duration("500ms"), Ok(0.5));
        assert_eq!(parse_duration("10m"), Ok(600.0));
        assert_eq!(parse_duration("2"), Ok(2.0));
        for bad in ["", "m", "10 parsecs", "-3s", "1e9h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = (parse_size(&text), parse_duration(&text));
        }
    }
}
