//! Everything that can be measured: the benchmarks of all rooms and the suites made of them.

use crate::benchmark::{Area, Benchmark, Load, Needs};
use crate::nearest::hint;
use crate::params::{ParamError, Params};

/// A named list of benchmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// What `--suite` takes.
    pub name: &'static str,
    /// What it covers and which published rows it stands for.
    pub doc: &'static str,
    /// Ids of its benchmarks.
    pub benchmarks: &'static [&'static str],
}

/// The benchmarks and suites of this build.
pub struct Catalog {
    entries: Vec<(Benchmark, &'static dyn Load)>,
    suites: &'static [Suite],
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// No such benchmark.
    #[error("There is no benchmark '{name}'{hint} (`vmtax list benchmarks` shows all)")]
    Benchmark {
        /// What was asked for.
        name: String,
        /// The nearest, or nothing.
        hint: String,
    },
    /// No such suite.
    #[error("There is no suite '{name}'{hint} (`vmtax list suites` shows all)")]
    Suite {
        /// What was asked for.
        name: String,
        /// The nearest, or nothing.
        hint: String,
    },
}

impl Catalog {
    /// The catalog of these loads.
    pub fn new(loads: impl IntoIterator<Item = &'static dyn Load>, suites: &'static [Suite]) -> Self {
        let entries =
            loads.into_iter().flat_map(|load| load.benchmarks().into_iter().map(move |b| (b, load))).collect();
        Catalog { entries, suites }
    }

    /// All benchmarks, in the order in which the rooms list them.
    pub fn benchmarks(&self) -> impl Iterator<Item = &Benchmark> {
        self.entries.iter().map(|(b, _)| b)
    }

    /// All suites.
    pub fn suites(&self) -> &'static [Suite] {
        self.suites
    }

    /// The suite called `name`.
    pub fn suite(&self, name: &str) -> Result<&'static Suite, CatalogError> {
        self.suites.iter().find(|s| s.name == name).ok_or_else(|| CatalogError::Suite {
            name: name.to_owned(),
            hint: hint(name, self.suites.iter().map(|s| s.name)),
        })
    }

    /// The benchmarks that `pattern` names: an id, an area (`disk`), or a prefix with `*` (`disk.rand*`).
    pub fn select(&self, pattern: &str) -> Result<Vec<&Benchmark>, CatalogError> {
        let found: Vec<&Benchmark> = self.benchmarks().filter(|b| matches(pattern, b)).collect();
        if found.is_empty() {
            return Err(CatalogError::Benchmark {
                name: pattern.to_owned(),
                hint: hint(pattern, self.benchmarks().map(|b| b.id.as_str())),
            });
        }
        Ok(found)
    }

    /// The benchmark with exactly this id.
    pub fn benchmark(&self, id: &str) -> Option<&Benchmark> {
        self.benchmarks().find(|b| b.id == id)
    }

    /// What a benchmark needs with these parameters; none where the id is unknown.
    pub fn needs(&self, id: &str, params: &Params) -> Option<Result<Needs, ParamError>> {
        self.entries.iter().find(|(b, _)| b.id == id).map(|(_, load)| load.needs(params))
    }
}

/// True where `pattern` names this benchmark.
pub fn matches(pattern: &str, benchmark: &Benchmark) -> bool {
    let area =
        |name: &str| [Area::Cpu, Area::Memory, Area::Disk].iter().any(|a| a.name() == name && *a == benchmark.area);
    pattern == benchmark.id
        || area(pattern)
        || pattern.strip_suffix('*').is_some_and(|prefix| benchmark.id.starts_with(prefix))
}
