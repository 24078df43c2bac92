//! The small formats that /proc and /sys share.

/// The value of `key` in lines of `key: value`, `key<tab>: value` (/proc/cpuinfo) or `key value` (memory.stat).
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        rest.starts_with([':', ' ', '\t']).then(|| rest.trim_start_matches([':', ' ', '\t']).trim_end())
    })
}

/// The value of `key` in lines such as `VmRSS:   1748 kB`, bytes.
pub fn kilobytes(text: &str, key: &str) -> Option<u64> {
    field(text, key)?.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The word in brackets of `always [madvise] never`; the only word where there are no brackets.
pub fn chosen(text: &str) -> Option<&str> {
    let words = || text.split_whitespace();
    words().find_map(|w| w.strip_prefix('[')?.strip_suffix(']')).or_else(|| {
        let mut all = words();
        all.next().filter(|_| all.next().is_none())
    })
}

/// Numbers of a list such as `0-3,8`, as the kernel writes CPU and node sets; none where it is no such list.
pub fn numbers(list: &str) -> Option<Vec<u32>> {
    /// The kernel's own bound on CPUs (NR_CPUS of x86-64) is 8192.
    const LARGEST: u32 = 1 << 16;
    let mut all = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        if first > last || last > LARGEST || all.len() > LARGEST as usize {
            return None;
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// A cache size such as `32768K`, bytes.
pub fn cache_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_of_all_three_layouts_are_found() {
        assert_eq!(field("VmRSSX: 1\nVmRSS:\t  12 kB\n", "VmRSS"), Some("12 kB"));
        assert_eq!(field("model name\t: EPYC : 2\n", "model name"), Some("EPYC : 2"));
        assert_eq!(field("flags\t\t: fpu\n", "flags"), Some("fpu"));
        assert_eq!(field("inactive_file 4096\n", "inactive_file"), Some("4096"));
        assert_eq!(field("some", "some"), None);
        assert_eq!(kilobytes("MemTotal:  2 kB", "MemTotal"), Some(2048));
        assert_eq!(kilobytes("MemTotal:  99999999999999999999 kB", "MemTotal"), None);
    }

    #[test]
    fn the_chosen_word_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber\n"), Some("mq-deadline"));
        assert_eq!(chosen("none\n"), Some("none"));
        assert_eq!((chosen("always never"), chosen("")), (None, None));
    }

    #[test]
    fn lists_are_expanded_and_absurd_ones_refused() {
        assert_eq!(numbers("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        for bad in ["", "3-1", "a", "0-4294967295", "1,,2", "-"] {
            assert_eq!(numbers(bad), None, "{bad}");
        }
    }

    #[test]
    fn cache_sizes_have_a_suffix() {
        assert_eq!(
            (cache_size("32768K"), cache_size("4M"), cache_size("64")),
            (Some(32 << 20), Some(4 << 20), Some(64))
        );
        assert_eq!((cache_size("K"), cache_size("1Q"), cache_size("é")), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}", list in "[0-9,\\-]{0,30}") {
            let _ = (field(&text, "a"), chosen(&text), numbers(&text), numbers(&list), cache_size(&text));
        }
    }
}
