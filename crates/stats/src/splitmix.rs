//! The random numbers of permutation tests: SplitMix64 (Steele, Lea & Flood 2014), so that the same data with the same
//! seed give the same answer on every machine.

/// The state of the generator: start it with any seed.
pub(crate) struct SplitMix(pub u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Puts the values into random order (Fisher & Yates). Its bias is below `len / 2^64`.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            let chosen = (u128::from(self.next()) * (end as u128 + 1)) >> 64;
            values.swap(end, chosen as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_has_its_published_sequence() {
        let mut random = SplitMix(1_234_567);
        let found: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn every_order_comes_equally_often() {
        let mut random = SplitMix(1);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut values = [1, 2, 3];
            random.shuffle(&mut values);
            *counts.entry(values).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (880..=1120).contains(count)), "{counts:?}");
    }
}
