//! The order of kernel releases.

use std::cmp::Ordering;

/// Compares releases as `sort -V` does in essence: runs of digits as numbers, everything else as text.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (text_a, rest_a) = split(a, |c| !c.is_ascii_digit());
        let (text_b, rest_b) = split(b, |c| !c.is_ascii_digit());
        let (number_a, next_a) = split(rest_a, |c| c.is_ascii_digit());
        let (number_b, next_b) = split(rest_b, |c| c.is_ascii_digit());
        let order = text_a.cmp(text_b).then_with(|| {
            let (x, y) = (number_a.trim_start_matches('0'), number_b.trim_start_matches('0'));
            // Of numbers without leading zeros the longer is the larger; so no size overflows.
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        });
        if order != Ordering::Equal || (next_a.is_empty() && next_b.is_empty()) {
            return order;
        }
        (a, b) = (next_a, next_b);
    }
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_count_as_numbers() {
        let mut releases = vec![
            "6.1.0-56-cloud-amd64",
            "6.1.0-9-cloud-amd64",
            "5.14.0-362.8.1.el9_3.x86_64",
            "6.10.3-1",
            "5.14.0-70.el9.x86_64",
            "6.9.7-1",
        ];
        releases.sort_by(|a, b| compare(a, b));
        assert_eq!(
            releases,
            [
                "5.14.0-70.el9.x86_64",
                "5.14.0-362.8.1.el9_3.x86_64",
                "6.1.0-9-cloud-amd64",
                "6.1.0-56-cloud-amd64",
                "6.9.7-1",
                "6.10.3-1"
            ]
        );
    }

    proptest! {
        #[test]
        fn it_is_an_order(a in "[0-9a.-]{0,12}", b in "[0-9a.-]{0,12}", c in "[0-9a.-]{0,12}") {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b) != Ordering::Greater && compare(&b, &c) != Ordering::Greater {
                prop_assert_ne!(compare(&a, &c), Ordering::Greater);
            }
        }
    }
}
