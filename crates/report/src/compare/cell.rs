//! Which cells of two studies are the same, and why the others are not.

use super::{Change, Which};
use crate::analysis::{Analysis, BenchmarkReport, Comparison};
use model::record::Manifest;
use model::{Benchmark, Params, Runner};
use serde::Serialize;
use std::collections::BTreeSet;

/// Something that was not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// The benchmark's id.
    pub benchmark: String,
    /// The metric's id, where it is not the whole benchmark.
    pub metric: Option<String>,
    /// Why.
    pub reason: Reason,
}

/// Why something was not compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Reason {
    /// The other study did not plan it.
    OnlyIn {
        /// Who has it.
        study: Which,
    },
    /// Planned, and never measured on both sides.
    NotMeasured {
        /// In which study.
        study: Which,
    },
    /// Its figures are not what it is about.
    Invalid {
        /// In which study.
        study: Which,
    },
    /// Parameters differ.
    Parameters {
        /// Those that do.
        differing: Vec<ParamDifference>,
    },
    /// The builtin workload or the tool is another one.
    Version {
        /// In A.
        a: String,
        /// In the other study.
        b: String,
    },
    /// The builtin workloads used other instructions.
    InstructionSet {
        /// In A.
        a: String,
        /// In the other study.
        b: String,
    },
    /// The metric has another unit, or another direction is better.
    Metric,
}

/// A parameter that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParamDifference {
    /// Its key.
    pub key: String,
    /// In A; none where it has none.
    pub a: Option<String>,
    /// In the other study.
    pub b: Option<String>,
}

/// Every metric of every cell that `a` and `other` share, and what they do not share.
pub(super) fn pair(a: &Analysis, other: &Analysis, which: Which, margin: Option<f64>) -> (Vec<Change>, Vec<LeftOut>) {
    let mut changes = Vec::new();
    let mut left_out = Vec::new();
    let find = |study: &'_ Analysis, id: &str| study.benchmarks.iter().position(|b| b.id == id);
    for benchmark in &a.benchmarks {
        let mut leave = |metric: Option<&Comparison>, reason| {
            let metric = metric.map(|m| m.metric.id.clone());
            left_out.push(LeftOut { benchmark: benchmark.id.clone(), metric, reason });
        };
        let Some(twin) = find(other, &benchmark.id).map(|place| &other.benchmarks[place]) else {
            leave(None, Reason::OnlyIn { study: Which::A });
            continue;
        };
        if let Some(reason) = unlike(&a.manifest, &other.manifest, &benchmark.id)
            .or_else(|| unfit(benchmark, Which::A))
            .or_else(|| unfit(twin, which))
        {
            leave(None, reason);
            continue;
        }
        for metric in &benchmark.metrics {
            let Some(same) = twin.metrics.iter().find(|m| m.metric.id == metric.metric.id) else {
                leave(Some(metric), Reason::NotMeasured { study: which });
                continue;
            };
            if (metric.metric.unit, metric.metric.direction) != (same.metric.unit, same.metric.direction) {
                leave(Some(metric), Reason::Metric);
                continue;
            }
            changes.extend(Change::new(benchmark, metric, same, margin.unwrap_or(benchmark.area.margin())));
        }
        for metric in &twin.metrics {
            if !benchmark.metrics.iter().any(|m| m.metric.id == metric.metric.id) {
                leave(Some(metric), Reason::NotMeasured { study: Which::A });
            }
        }
    }
    let strangers = other.benchmarks.iter().filter(|b| find(a, &b.id).is_none());
    left_out.extend(strangers.map(|b| LeftOut {
        benchmark: b.id.clone(),
        metric: None,
        reason: Reason::OnlyIn { study: which },
    }));
    (changes, left_out)
}

/// Why the figures of one study are of no use, if they are.
fn unfit(benchmark: &BenchmarkReport, study: Which) -> Option<Reason> {
    if benchmark.invalid {
        Some(Reason::Invalid { study })
    } else if benchmark.primary().next().is_none() {
        Some(Reason::NotMeasured { study })
    } else {
        None
    }
}

/// What makes two cells of one name different, if anything does. (The configuration is what may differ: it is the environment.)
fn unlike(a: &Manifest, b: &Manifest, id: &str) -> Option<Reason> {
    let nothing = Params::default();
    let params = |manifest: &'_ Manifest| manifest.plan.cell(id).map_or(nothing.clone(), |cell| cell.params.clone());
    let (of_a, of_b) = (params(a), params(b));
    let keys: BTreeSet<&String> = of_a.0.keys().chain(of_b.0.keys()).collect();
    let value = |params: &Params, key: &str| params.0.get(key).map(ToString::to_string);
    let differing: Vec<ParamDifference> = keys
        .into_iter()
        .map(|key| ParamDifference { key: key.clone(), a: value(&of_a, key), b: value(&of_b, key) })
        .filter(|d| d.a != d.b)
        .collect();
    if !differing.is_empty() {
        return Some(Reason::Parameters { differing });
    }
    let (runs_a, runs_b) = (runner(a, id), runner(b, id));
    if runs_a != runs_b {
        return Some(Reason::Version { a: runs_a, b: runs_b });
    }
    let (isa_a, isa_b) = (a.isa.name(), b.isa.name());
    (isa_a != isa_b).then(|| Reason::InstructionSet { a: isa_a.to_owned(), b: isa_b.to_owned() })
}

/// Who does the work, with its version.
fn runner(manifest: &Manifest, id: &str) -> String {
    match manifest.benchmarks.iter().find(|b| b.id == id) {
        Some(Benchmark { runner: Runner::Workload { name, version }, .. }) => format!("{name} {version}"),
        Some(Benchmark { runner: Runner::Tool { driver }, .. }) => {
            let tool = manifest.tools.iter().find(|tool| tool.name == *driver);
            tool.map_or_else(|| driver.clone(), |tool| tool.version.clone())
        }
        None => String::new(),
    }
}
