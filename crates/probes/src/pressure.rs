//! Pressure stall information: how long some task waited for a resource (Documentation/accounting/psi.rst).

use crate::{Root, difference};

/// Time since boot during which at least one task waited, seconds; none where the kernel does not say (CONFIG_PSI off, psi=0, or
/// older than 4.20).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// For a CPU.
    pub cpu_seconds: Option<f64>,
    /// For I/O.
    pub io_seconds: Option<f64>,
    /// For memory.
    pub memory_seconds: Option<f64>,
}

impl Pressure {
    /// Reads it.
    pub fn read(root: &Root) -> Self {
        let some = |resource: &str| total(&root.read(format!("proc/pressure/{resource}")).ok()?);
        Pressure { cpu_seconds: some("cpu"), io_seconds: some("io"), memory_seconds: some("memory") }
    }

    /// What was added from `self` to `later`.
    pub fn until(&self, later: &Pressure) -> Pressure {
        Pressure {
            cpu_seconds: difference::seconds(self.cpu_seconds, later.cpu_seconds),
            io_seconds: difference::seconds(self.io_seconds, later.io_seconds),
            memory_seconds: difference::seconds(self.memory_seconds, later.memory_seconds),
        }
    }
}

/// `total` of the `some` line, which is in microseconds.
fn total(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let microseconds: u64 = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()?;
    Some(microseconds as f64 * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    #[test]
    fn the_some_line_counts_and_what_is_absent_stays_unknown() {
        let lines = "some avg10=0.61 avg60=1.12 avg300=0.80 total=19248832\nfull avg10=0.00 total=7\n";
        let (_folder, root) = tree(&[("proc/pressure/cpu", lines), ("proc/pressure/io", "full total=1\n")]);
        let before = Pressure::read(&root);
        assert_eq!(before, Pressure { cpu_seconds: Some(19.248832), io_seconds: None, memory_seconds: None });
        std::fs::write(root.path("proc/pressure/cpu"), "some total=20248832\n").unwrap();
        let added = before.until(&Pressure::read(&root));
        assert!((added.cpu_seconds.unwrap() - 1.0).abs() < 1e-9 && added.io_seconds.is_none());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(some |total=|[0-9]{0,22}|\n|\\PC){0,12}") {
            let _ = total(&text);
        }
    }
}
