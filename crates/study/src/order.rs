//! Random orders that never change: a seed gives the same study with every build, so that it can be told again.
//!
//! That is why the generator is written down here instead of being a library's. xoshiro256** (Blackman and Vigna,
//! "Scrambled linear pseudorandom number generators", ACM TOMS 2021), its state filled by SplitMix64 as they advise
//! (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014); bounded integers without bias
//! (Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019); Fisher-Yates in Durstenfeld's form
//! (CACM 1964). The tests hold fixed vectors.

/// The blocks of one attempt at a round in the order in which they are made, the same for all machines.
pub fn block_order<T: Clone>(seed: u64, round: u32, attempt: u32, benchmarks: &[T]) -> Vec<T> {
    shuffled(&[seed, 1, round.into(), attempt.into()], benchmarks)
}

/// The machines in the order in which they take their turns in block number `block` (from 0).
pub fn turn_order<T: Clone>(seed: u64, round: u32, attempt: u32, block: u32, machines: &[T]) -> Vec<T> {
    shuffled(&[seed, 2, round.into(), attempt.into(), block.into()], machines)
}

/// `things` shuffled by a stream of its own for each key.
fn shuffled<T: Clone>(key: &[u64], things: &[T]) -> Vec<T> {
    let mut random = Xoshiro::from_key(key);
    let mut things = things.to_vec();
    for last in (1..things.len()).rev() {
        things.swap(last, random.below(last as u64 + 1) as usize);
    }
    things
}

/// The next output of SplitMix64 whose state is `state`.
fn split_mix(state: u64) -> u64 {
    let z = state.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 2^64 divided by the golden ratio: SplitMix64's step.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// xoshiro256**.
struct Xoshiro([u64; 4]);

impl Xoshiro {
    /// A stream for this key. Each word goes through a bijection of 64 bits before the next comes, so keys that differ in
    /// one word never share a stream.
    fn from_key(key: &[u64]) -> Self {
        let state = key.iter().fold(0, |state, word| split_mix(state ^ word));
        Xoshiro([0, 1, 2, 3].map(|n: u64| split_mix(state.wrapping_add(n.wrapping_mul(GOLDEN)))))
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in 0..n; `n` is at least 1.
    fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.next()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_generators_give_their_authors_numbers() {
        // SplitMix64 from 1234567 and xoshiro256** from 1, 2, 3, 4: the reference C programs at prng.di.unimi.it.
        let outputs = [0, 1, 2, 3].map(|n: u64| split_mix(1234567u64.wrapping_add(n.wrapping_mul(GOLDEN))));
        assert_eq!(outputs, [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]);
        let mut random = Xoshiro([1, 2, 3, 4]);
        let outputs = [(); 6].map(|()| random.next());
        assert_eq!(outputs, [11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600]);
    }

    /// A quarter of all draws falls into the part of 2^64 that this bound does not divide evenly and is drawn again.
    #[test]
    fn draws_that_would_make_some_numbers_likelier_are_drawn_again() {
        let mut random = Xoshiro([1, 2, 3, 4]);
        let drawn = [(); 4].map(|()| random.below(3 << 62));
        assert_eq!(drawn, [12129692233975919718, 7946335754698169082, 12396538069003663325, 6619619641581164]);
    }

    /// The numbers come from a second implementation of the module's head, in Python.
    #[test]
    fn orders_never_change() {
        let letters: Vec<char> = ('a'..='l').collect();
        let blocks = |seed, round, attempt| String::from_iter(block_order(seed, round, attempt, &letters));
        assert_eq!(blocks(0, 1, 1), "gfldikajebhc");
        assert_eq!(blocks(20261121, 1, 1), "fkdahgciebjl");
        assert_eq!(blocks(20261121, 2, 1), "kcdfiajgbhle");
        assert_eq!(blocks(20261121, 1, 2), "dajklebcfigh");
        assert_eq!(blocks(i64::MAX as u64, 1000, 3), "fdibclekahgj");
        let turns = |block| String::from_iter(turn_order(20261121, 1, 1, block, &['h', 'g']));
        assert_eq!((0..16).map(turns).collect::<Vec<_>>().join(" "), "hg gh gh gh gh gh gh gh hg hg hg hg gh hg hg gh");
        assert_eq!(turn_order(20261121, 3, 2, 5, &['a', 'b', 'c', 'd']), ['a', 'c', 'b', 'd']);
    }

    #[test]
    fn every_order_is_as_likely_as_every_other() {
        let mut counts = std::collections::BTreeMap::<String, u32>::new();
        for round in 1..=24_000 {
            *counts.entry(String::from_iter(block_order(7, round, 1, &['a', 'b', 'c', 'd']))).or_default() += 1;
        }
        assert_eq!(counts.len(), 24);
        // Chi-square with 23 degrees of freedom: 99.9 % of fair shuffles stay below 49.7; the seed is fixed.
        let chi_square: f64 = counts.values().map(|n| (f64::from(*n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 49.7, "{chi_square}");
    }

    #[test]
    fn each_machine_goes_first_in_half_of_the_blocks_whatever_its_neighbours_did() {
        let first = |seed, round, block| turn_order(seed, round, 1, block, &["host", "guest"])[0] == "host";
        let (mut hosts, mut same_as_before, mut same_as_above, mut all) = (0, 0, 0, 0);
        for seed in 0..20 {
            for round in 1..=100 {
                for block in 0..14 {
                    all += 1;
                    hosts += u32::from(first(seed, round, block));
                    same_as_before += u32::from(first(seed, round, block) == first(seed, round, block + 1));
                    same_as_above += u32::from(first(seed, round, block) == first(seed, round + 1, block));
                }
            }
        }
        // Four standard errors of a fair coin.
        let bound = 2.0 * f64::from(all).sqrt();
        for count in [hosts, same_as_before, same_as_above] {
            assert!((f64::from(count) - f64::from(all) / 2.0).abs() < bound, "{count} of {all}");
        }
    }

    proptest! {
        #[test]
        fn an_order_holds_everything_once(seed: u64, round: u32, attempt: u32, n in 0u32..40) {
            let things: Vec<u32> = (0..n).collect();
            let mut order = block_order(seed, round, attempt, &things);
            prop_assert_eq!(&order, &block_order(seed, round, attempt, &things));
            order.sort_unstable();
            prop_assert_eq!(order, things);
        }

        #[test]
        fn bounded_numbers_are_in_bounds(seed: u64, n in 1u64..) {
            prop_assert!(Xoshiro::from_key(&[seed]).below(n) < n);
        }
    }
}
