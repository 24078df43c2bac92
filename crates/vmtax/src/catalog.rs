//! The catalog of this build: the loads of both rooms, and the suites.

use model::Catalog;
use model::benchmark::Load;
use model::catalog::Suite;

/// The suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "quick",
        doc: "CPU, memory and disk in minutes: Dhrystone, Whetstone and File Copy of UnixBench; the three methods of mbw; \
              the six fio scenarios of a private cloud's VM test (4 KiB random and sequential at depth 16, 1 MiB sequential).",
        benchmarks: &[
            "cpu.dhrystone",
            "cpu.whetstone",
            "cpu.file-copy",
            "memory.memcpy",
            "memory.dumb",
            "memory.mcblock",
            "disk.randread-4k",
            "disk.randwrite-4k",
            "disk.read-4k",
            "disk.write-4k",
            "disk.read-1m",
            "disk.write-1m",
        ],
    },
    Suite {
        name: "cpu",
        doc: "The CPU rows of the quick suite.",
        benchmarks: &["cpu.dhrystone", "cpu.whetstone", "cpu.file-copy"],
    },
    Suite {
        name: "memory",
        doc: "The memory rows of the quick suite.",
        benchmarks: &["memory.memcpy", "memory.dumb", "memory.mcblock"],
    },
    Suite {
        name: "disk",
        doc: "The disk rows of the quick suite.",
        benchmarks: &[
            "disk.randread-4k",
            "disk.randwrite-4k",
            "disk.read-4k",
            "disk.write-4k",
            "disk.read-1m",
            "disk.write-1m",
        ],
    },
];

/// All loads of this build, as the catalog knows them.
pub fn catalog() -> Catalog {
    let workloads = workloads::ALL.iter().map(|w| *w as &dyn Load);
    let drivers = drivers::ALL.iter().map(|d| *d as &dyn Load);
    Catalog::new(workloads.chain(drivers), SUITES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_names_only_benchmarks_that_exist() {
        let catalog = catalog();
        for suite in SUITES {
            for id in suite.benchmarks {
                assert!(catalog.benchmark(id).is_some(), "{id} in suite {}", suite.name);
            }
        }
    }

    #[test]
    fn every_benchmark_has_a_primary_metric_a_doc_and_readable_defaults() {
        for benchmark in catalog().benchmarks() {
            assert!(benchmark.primary_metrics().count() >= 1, "{}", benchmark.id);
            assert!(benchmark.doc.len() > 40, "{}", benchmark.id);
            assert!(benchmark.id.starts_with(benchmark.area.name()), "{}", benchmark.id);
        }
    }
}
