//! Plans: what the user asked for ([`Request`], from a TOML file and flags), and every choice made explicit ([`Plan`]).
//!
//! [`Plan::resolve`] makes all checks that need no machine and does nothing else.

use crate::benchmark::Needs;
use crate::catalog::{Catalog, CatalogError, matches};
use crate::limits::{LimitError, Limits};
use crate::machine::MachineSpec;
use crate::nearest::hint;
use crate::params::{ParamError, Params};
use crate::quantity::{QuantityError, parse_duration};
use crate::settings::{Configuration, SettingError, configure};
use serde::{Deserialize, Serialize};

/// Fewest rounds of a study where the user names no number (statistics.md 2.3: the first look).
pub const FIRST_LOOK: u32 = 8;
/// Most rounds where the user names no number: what the quick suite makes in half an hour.
pub const DEFAULT_MAX_ROUNDS: u32 = 20;
/// Most rounds that a plan may ask for.
pub const MAX_ROUNDS: u32 = 1000;

/// Where a word of the request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A command-line flag, for example `--set`.
    Flag(&'static str),
    /// A plan file and a line in it, from 1.
    File {
        /// As the user gave it.
        path: String,
        /// From 1.
        line: usize,
    },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Flag(name) => f.write_str(name),
            Origin::File { path, line } => write!(f, "{path}:{line}"),
        }
    }
}

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The word.
    pub value: T,
    /// Its place.
    pub origin: Origin,
}

impl<T> Located<T> {
    /// A word given by a flag.
    pub fn flag(name: &'static str, value: T) -> Self {
        Located { value, origin: Origin::Flag(name) }
    }
}

/// Which accelerator the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AcceleratorChoice {
    /// KVM if a guest really boots with it, else TCG.
    #[default]
    Auto,
    /// KVM or an error.
    Kvm,
    /// Emulation.
    Tcg,
}

impl AcceleratorChoice {
    /// The words that it takes.
    pub const WORDS: [&'static str; 3] = ["auto", "kvm", "tcg"];

    fn parse(word: &str) -> Option<Self> {
        match word {
            "auto" => Some(AcceleratorChoice::Auto),
            "kvm" => Some(AcceleratorChoice::Kvm),
            "tcg" => Some(AcceleratorChoice::Tcg),
            _ => None,
        }
    }
}

/// What the user asked for, unchecked, each word with its place. A later word for the same thing wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Suites.
    pub suites: Vec<Located<String>>,
    /// Benchmark patterns.
    pub benchmarks: Vec<Located<String>>,
    /// `key`, `value` of settings.
    pub settings: Vec<Located<(String, String)>>,
    /// `[benchmark:]key`, `value` of parameters.
    pub params: Vec<Located<(String, String)>>,
    /// `key`, `value` of the checks' limits.
    pub limits: Vec<Located<(String, String)>>,
    /// Rounds, exactly so many.
    pub rounds: Option<Located<String>>,
    /// Most rounds, where the precision decides.
    pub max_rounds: Option<Located<String>>,
    /// Half-width at which a metric is precise enough, percent.
    pub precision: Option<Located<String>>,
    /// Seed of the random orders.
    pub seed: Option<Located<String>>,
    /// Longest time for the study.
    pub budget: Option<Located<String>>,
    /// Accelerator.
    pub accel: Option<Located<String>>,
}

/// One benchmark of a plan with every parameter set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Id of the benchmark.
    pub benchmark: String,
    /// Its parameters.
    pub params: Params,
    /// What it needs.
    pub needs: Needs,
}

/// When a benchmark is precise enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// At the half-width of its area ([`crate::Area::precision`]).
    ByArea,
    /// At this half-width, as a fraction.
    HalfWidth(f64),
}

impl Precision {
    /// The half-width for an area, as a fraction.
    pub fn of(self, area: crate::Area) -> f64 {
        match self {
            Precision::ByArea => area.precision(),
            Precision::HalfWidth(fraction) => fraction,
        }
    }
}

/// A study with every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Names of the suites that it came from.
    pub suites: Vec<String>,
    /// The benchmarks.
    pub cells: Vec<Cell>,
    /// The guest's settings.
    pub configuration: Configuration,
    /// The guest that they make.
    pub machine: MachineSpec,
    /// Rounds: so many, or with a `precision` at most so many.
    pub rounds: u32,
    /// What a metric must reach before its benchmark may leave; none where all rounds are made whatever they say.
    #[serde(default)]
    pub precision: Option<Precision>,
    /// Where checks begin to warn and to reject.
    #[serde(default)]
    pub limits: Limits,
    /// Seed of the random orders.
    pub seed: u64,
    /// Longest time for the study, seconds.
    pub budget_seconds: Option<f64>,
    /// The accelerator asked for.
    pub accelerator: AcceleratorChoice,
}

/// Why a request makes no plan. Each text begins with the place of the word that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// Where.
        origin: Origin,
        /// The parser's words.
        message: String,
    },
    /// A key that plans do not have.
    #[error("{origin}: There is no plan key '{key}'{hint}; plans have {known}")]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// What was written.
        key: String,
        /// The nearest, or nothing.
        hint: String,
        /// All of them.
        known: String,
    },
    /// A value of another type.
    #[error("{origin}: {key} must be {want}")]
    Type {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// What would be right.
        want: &'static str,
    },
    /// Unknown benchmark or suite.
    #[error("{origin}: {source}")]
    Catalog {
        /// Where.
        origin: Origin,
        /// What is unknown.
        source: CatalogError,
    },
    /// A setting that does not exist or cannot be so.
    #[error("{origin}: {source}")]
    Setting {
        /// Where.
        origin: Origin,
        /// What is wrong.
        source: SettingError,
    },
    /// A parameter that no chosen benchmark has.
    #[error("{origin}: None of the chosen benchmarks has a parameter '{key}'{hint}")]
    UnknownParam {
        /// Where.
        origin: Origin,
        /// What was asked for.
        key: String,
        /// The nearest, or nothing.
        hint: String,
    },
    /// A parameter value that is wrong.
    #[error("{origin}: {source}")]
    Param {
        /// Where.
        origin: Origin,
        /// What is wrong.
        source: ParamError,
    },
    /// A limit that no check has, or that is no number.
    #[error("{origin}: {source}")]
    Limit {
        /// Where.
        origin: Origin,
        /// What is wrong.
        source: LimitError,
    },
    /// A duration that is none.
    #[error("{origin}: {source}")]
    Quantity {
        /// Where.
        origin: Origin,
        /// What is wrong.
        source: QuantityError,
    },
    /// A number or word out of its range.
    #[error("{origin}: {key} cannot be '{value}': {want}")]
    Range {
        /// Where.
        origin: Origin,
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// What would be right.
        want: String,
    },
    /// More memory than the guest has.
    #[error(
        "{benchmark} touches {needs} of memory, and the guest has {has}: give it more (--set vm.memory=…) or make the benchmark smaller (--param {benchmark}:size=…)"
    )]
    GuestMemory {
        /// The benchmark.
        benchmark: String,
        /// What it touches.
        needs: String,
        /// What there is.
        has: String,
    },
}

/// Share of the guest's memory that is left to its kernel and the agent, bytes.
const GUEST_RESERVE: u64 = 128 << 20;

impl Request {
    /// Reads a plan file's text. `path` is only for messages.
    pub fn from_toml(text: &str, path: &str) -> Result<Self, PlanError> {
        let at = |offset: usize| Origin::File {
            path: path.to_owned(),
            line: text.as_bytes().iter().take(offset).filter(|b| **b == b'\n').count() + 1,
        };
        let table = toml::de::DeTable::parse(text).map_err(|e| PlanError::Syntax {
            origin: at(e.span().map_or(0, |s| s.start)),
            message: e.message().to_owned(),
        })?;
        const KNOWN: [&str; 11] = [
            "suite",
            "benchmarks",
            "rounds",
            "max-rounds",
            "precision",
            "seed",
            "budget",
            "accel",
            "settings",
            "params",
            "limits",
        ];
        let mut request = Request::default();
        let mut entries: Vec<_> = table.into_inner().into_iter().collect();
        // A table sorts its keys; later words win, so keep the order of the file.
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let origin = at(key.span().start);
            let name = key.get_ref().to_string();
            match name.as_str() {
                "suite" => request.suites = words(&name, value.get_ref(), &origin)?,
                "benchmarks" => request.benchmarks = words(&name, value.get_ref(), &origin)?,
                "rounds" => request.rounds = Some(Located { value: scalar(&name, value.get_ref(), &origin)?, origin }),
                "seed" => request.seed = Some(Located { value: scalar(&name, value.get_ref(), &origin)?, origin }),
                "budget" => request.budget = Some(Located { value: scalar(&name, value.get_ref(), &origin)?, origin }),
                "accel" => request.accel = Some(Located { value: scalar(&name, value.get_ref(), &origin)?, origin }),
                "max-rounds" => {
                    request.max_rounds = Some(Located { value: scalar(&name, value.get_ref(), &origin)?, origin });
                }
                "precision" => {
                    request.precision = Some(Located { value: scalar(&name, value.get_ref(), &origin)?, origin });
                }
                "settings" | "params" | "limits" => {
                    let Some(table) = value.get_ref().as_table() else {
                        return Err(PlanError::Type { origin, key: name, want: "a table" });
                    };
                    let mut pairs = Vec::new();
                    for (key, value) in table {
                        let origin = at(key.span().start);
                        let pair = (key.get_ref().to_string(), scalar(key.get_ref(), value.get_ref(), &origin)?);
                        pairs.push((key.span().start, Located { value: pair, origin }));
                    }
                    pairs.sort_by_key(|(start, _)| *start);
                    let pairs = pairs.into_iter().map(|(_, pair)| pair).collect();
                    match name.as_str() {
                        "settings" => request.settings = pairs,
                        "params" => request.params = pairs,
                        _ => request.limits = pairs,
                    }
                }
                _ => {
                    let known = KNOWN.join(", ");
                    return Err(PlanError::UnknownKey { origin, hint: hint(&name, KNOWN), key: name, known });
                }
            }
        }
        Ok(request)
    }

    /// The accelerator asked for.
    pub fn accelerator(&self) -> Result<AcceleratorChoice, PlanError> {
        let Some(word) = &self.accel else { return Ok(AcceleratorChoice::Auto) };
        AcceleratorChoice::parse(&word.value).ok_or_else(|| PlanError::Range {
            origin: word.origin.clone(),
            key: "accel",
            value: word.value.clone(),
            want: format!(
                "it is one of {}{}",
                AcceleratorChoice::WORDS.join(", "),
                hint(&word.value, AcceleratorChoice::WORDS)
            ),
        })
    }

    /// This request with the words of `other` (the flags) over it.
    pub fn overlaid(mut self, other: Request) -> Self {
        if !other.suites.is_empty() || !other.benchmarks.is_empty() {
            self.suites = other.suites;
            self.benchmarks = other.benchmarks;
        }
        self.settings.extend(other.settings);
        self.params.extend(other.params);
        self.limits.extend(other.limits);
        // A number of rounds and a rule for it exclude each other; what the flags say of either is the last word on both.
        if other.rounds.is_some() || other.max_rounds.is_some() || other.precision.is_some() {
            self.rounds = other.rounds;
            self.max_rounds = other.max_rounds;
            self.precision = other.precision;
        }
        self.seed = other.seed.or(self.seed);
        self.budget = other.budget.or(self.budget);
        self.accel = other.accel.or(self.accel);
        self
    }
}

fn scalar(key: &str, value: &toml::de::DeValue<'_>, origin: &Origin) -> Result<String, PlanError> {
    use toml::de::DeValue;
    match value {
        DeValue::String(s) => Ok(s.to_string()),
        DeValue::Integer(i) => Ok(i.to_string()),
        DeValue::Float(x) => Ok(x.to_string()),
        DeValue::Boolean(b) => Ok(if *b { "on" } else { "off" }.to_owned()),
        _ => Err(PlanError::Type { origin: origin.clone(), key: key.to_owned(), want: "a word or a number" }),
    }
}

fn words(key: &str, value: &toml::de::DeValue<'_>, origin: &Origin) -> Result<Vec<Located<String>>, PlanError> {
    use toml::de::DeValue;
    let located = |value: String| Located { value, origin: origin.clone() };
    let wrong = || PlanError::Type { origin: origin.clone(), key: key.to_owned(), want: "a word or a list of words" };
    match value {
        DeValue::String(s) => Ok(vec![located(s.to_string())]),
        DeValue::Array(items) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(s) => Ok(located(s.to_string())),
                _ => Err(wrong()),
            })
            .collect(),
        _ => Err(wrong()),
    }
}

impl Plan {
    /// Checks a request against the catalog and makes every choice explicit. `host_cpus` bounds the default number of
    /// vCPUs; `seed` is used where the request has none.
    pub fn resolve(request: &Request, catalog: &Catalog, host_cpus: u32, seed: u64) -> Result<Self, PlanError> {
        let cells = cells(request, catalog)?;
        let (machine, configuration) = guest(request, host_cpus)?;
        for cell in &cells {
            if cell.needs.memory + GUEST_RESERVE > machine.memory {
                return Err(PlanError::GuestMemory {
                    benchmark: cell.benchmark.clone(),
                    needs: crate::quantity::show_size(cell.needs.memory),
                    has: crate::quantity::show_size(machine.memory),
                });
            }
        }
        let (rounds, precision) = rounds(request)?;
        let suites: Vec<String> = request.suites.iter().map(|s| s.value.clone()).collect();
        let suites = if suites.is_empty() && request.benchmarks.is_empty() { vec!["quick".to_owned()] } else { suites };
        Ok(Plan {
            suites,
            cells,
            configuration,
            machine,
            rounds,
            precision,
            limits: limits(&request.limits)?,
            // TOML and JSON readers agree on integers below 2^63 only.
            seed: number("seed", request.seed.as_ref(), 0..=i64::MAX as u64)?.unwrap_or(seed & i64::MAX as u64),
            budget_seconds: match &request.budget {
                None => None,
                Some(text) => Some(
                    parse_duration(&text.value)
                        .map_err(|source| PlanError::Quantity { origin: text.origin.clone(), source })?,
                ),
            },
            accelerator: request.accelerator()?,
        })
    }

    /// The cell of a benchmark.
    pub fn cell(&self, benchmark: &str) -> Option<&Cell> {
        self.cells.iter().find(|c| c.benchmark == benchmark)
    }

    /// The largest data disk that any cell needs, bytes.
    pub fn disk_bytes(&self) -> u64 {
        self.cells.iter().map(|c| c.needs.disk).max().unwrap_or(0)
    }

    /// The tools that the cells need, each once, in order of name.
    pub fn tools(&self) -> Vec<String> {
        let mut tools: Vec<String> = self.cells.iter().flat_map(|c| c.needs.tools.iter().cloned()).collect();
        tools.sort();
        tools.dedup();
        tools
    }
}

fn number(
    key: &'static str,
    text: Option<&Located<String>>,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u64>, PlanError> {
    let Some(text) = text else { return Ok(None) };
    match text.value.parse::<u64>() {
        Ok(n) if range.contains(&n) => Ok(Some(n)),
        _ => Err(PlanError::Range {
            origin: text.origin.clone(),
            key,
            value: text.value.clone(),
            want: format!("it is a whole number from {} to {}", range.start(), range.end()),
        }),
    }
}

/// How many rounds at most, and what ends them sooner.
fn rounds(request: &Request) -> Result<(u32, Option<Precision>), PlanError> {
    let fixed = number("rounds", request.rounds.as_ref(), 1..=u64::from(MAX_ROUNDS))?;
    let most = number("max-rounds", request.max_rounds.as_ref(), u64::from(FIRST_LOOK)..=u64::from(MAX_ROUNDS))?;
    let precision = request.precision.as_ref().map(half_width).transpose()?;
    if let (Some(fixed), Some(rule)) = (fixed, request.max_rounds.as_ref().or(request.precision.as_ref())) {
        return Err(PlanError::Range {
            origin: rule.origin.clone(),
            key: "rounds",
            value: fixed.to_string(),
            want: "a fixed number of rounds goes with neither precision nor max-rounds, which leave it open".to_owned(),
        });
    }
    Ok(match fixed {
        Some(rounds) => (rounds as u32, None),
        None => (most.map_or(DEFAULT_MAX_ROUNDS, |n| n as u32), Some(precision.unwrap_or(Precision::ByArea))),
    })
}

/// A half-width in percent, with or without the sign.
fn half_width(text: &Located<String>) -> Result<Precision, PlanError> {
    let number = text.value.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.01..=1000.0).contains(&percent) => Ok(Precision::HalfWidth(percent / 100.0)),
        _ => Err(PlanError::Range {
            origin: text.origin.clone(),
            key: "precision",
            value: text.value.clone(),
            want: "it is a half-width in percent, from 0.01 to 1000, for example 3".to_owned(),
        }),
    }
}

fn limits(words: &[Located<(String, String)>]) -> Result<Limits, PlanError> {
    let mut limits = Limits::default();
    for Located { value: (key, value), origin } in words {
        limits.set(key, value).map_err(|source| PlanError::Limit { origin: origin.clone(), source })?;
    }
    Ok(limits)
}

fn cells(request: &Request, catalog: &Catalog) -> Result<Vec<Cell>, PlanError> {
    let mut chosen = Vec::new();
    let mut add = |origin: &Origin, pattern: &str| -> Result<(), PlanError> {
        let found = catalog.select(pattern).map_err(|source| PlanError::Catalog { origin: origin.clone(), source })?;
        for benchmark in found {
            if !chosen.iter().any(|b: &&crate::Benchmark| b.id == benchmark.id) {
                chosen.push(benchmark);
            }
        }
        Ok(())
    };
    let quick = [Located::flag("--suite", "quick".to_owned())];
    let suites: &[Located<String>] =
        if request.suites.is_empty() && request.benchmarks.is_empty() { &quick } else { &request.suites };
    for name in suites {
        let suite =
            catalog.suite(&name.value).map_err(|source| PlanError::Catalog { origin: name.origin.clone(), source })?;
        for id in suite.benchmarks {
            add(&name.origin, id)?;
        }
    }
    for pattern in &request.benchmarks {
        add(&pattern.origin, &pattern.value)?;
    }

    let mut all_params: Vec<Params> = chosen.iter().map(|b| Params::defaults(&b.params)).collect();
    for Located { value: (name, text), origin } in &request.params {
        let (pattern, key) = name.rsplit_once(':').map_or(("*", name.as_str()), |(p, k)| (p, k));
        let mut used = false;
        for (benchmark, params) in chosen.iter().zip(&mut all_params) {
            if !matches(pattern, benchmark) {
                continue;
            }
            if let Some(spec) = benchmark.params.iter().find(|s| s.key == key) {
                let value = spec.parse(text).map_err(|source| PlanError::Param { origin: origin.clone(), source })?;
                params.set(key, value);
                used = true;
            }
        }
        if !used {
            if pattern != "*" {
                catalog.select(pattern).map_err(|source| PlanError::Catalog { origin: origin.clone(), source })?;
            }
            let names = chosen.iter().flat_map(|b| b.params.iter().map(|s| s.key.as_str()));
            return Err(PlanError::UnknownParam {
                origin: origin.clone(),
                key: key.to_owned(),
                hint: hint(key, names),
            });
        }
    }

    chosen
        .into_iter()
        .zip(all_params)
        .map(|(benchmark, params)| {
            let needs = catalog.needs(&benchmark.id, &params).unwrap_or(Ok(Needs::default()));
            let needs = needs.map_err(|source| PlanError::Param { origin: Origin::Flag("--param"), source })?;
            Ok(Cell { benchmark: benchmark.id.clone(), params, needs })
        })
        .collect()
}

fn guest(request: &Request, host_cpus: u32) -> Result<(MachineSpec, Configuration), PlanError> {
    // One at a time first, so that an error carries the place of its word; conflicts belong to the last word given.
    for Located { value: (key, value), origin } in &request.settings {
        let checked = crate::settings::find(key).and_then(|s| crate::settings::check_value(s, value));
        checked.map_err(|source| PlanError::Setting { origin: origin.clone(), source })?;
    }
    let pairs = request.settings.iter().map(|s| (s.value.0.as_str(), s.value.1.as_str()));
    configure(host_cpus, pairs).map_err(|source| PlanError::Setting {
        origin: request.settings.last().map_or(Origin::Flag("--set"), |s| s.origin.clone()),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Suite;
    use crate::{Area, Benchmark, Load, ParamSpec, ParamValue, Runner};
    use proptest::prelude::*;

    struct Fake;

    impl Load for Fake {
        fn benchmarks(&self) -> Vec<Benchmark> {
            ["disk.randread-4k", "disk.read-1m"]
                .map(|id| Benchmark {
                    id: id.to_owned(),
                    title: id.to_owned(),
                    doc: String::new(),
                    area: Area::Disk,
                    runner: Runner::Tool { driver: "fio".to_owned() },
                    params: vec![ParamSpec::size("size", 1 << 20, ""), ParamSpec::duration("time", 5.0, "")],
                    metrics: Vec::new(),
                    kernel_bound: false,
                })
                .to_vec()
        }

        fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
            Ok(Needs { disk: params.integer("size")?, ..Needs::default() })
        }
    }

    const SUITES: &[Suite] = &[Suite { name: "quick", doc: "", benchmarks: &["disk.randread-4k"] }];

    fn resolve(text: &str) -> Result<Plan, PlanError> {
        let catalog = Catalog::new([&Fake as &dyn Load], SUITES);
        Plan::resolve(&Request::from_toml(text, "p.toml")?, &catalog, 4, 7)
    }

    fn message(text: &str) -> String {
        resolve(text).unwrap_err().to_string()
    }

    #[test]
    fn an_empty_plan_is_the_quick_suite_with_all_defaults_spelled_out() {
        let plan = resolve("").unwrap();
        assert_eq!((plan.suites.as_slice(), plan.rounds, plan.seed), (["quick".to_owned()].as_slice(), 20, 7));
        assert_eq!(plan.cells[0].params.integer("size"), Ok(1 << 20));
        assert_eq!(plan.configuration.settings.len(), crate::settings::ALL.len());
        assert_eq!(plan.disk_bytes(), 1 << 20);
    }

    #[test]
    fn errors_name_the_file_the_line_and_the_nearest_name() {
        assert!(
            message("suite = \"quick\"\nrouns = 3")
                .starts_with("p.toml:2: There is no plan key 'rouns'; did you mean 'rounds'?")
        );
        assert!(
            message("\n\nbenchmarks = [\"disk.randred-4k\"]")
                .contains("p.toml:3: There is no benchmark 'disk.randred-4k'; did you mean 'disk.randread-4k'")
        );
        assert!(message("suite = \"quik\"").contains("did you mean 'quick'"));
        assert!(
            message("[settings]\n\"disk.cach\" = \"none\"")
                .contains("p.toml:2: There is no setting 'disk.cach'; did you mean 'disk.cache'")
        );
        assert!(message("[params]\nsise = \"4k\"").contains("did you mean 'size'"));
        assert!(message("[params]\n\n\"disk:size\" = \"4q\"").contains("p.toml:3: '4q' is not a size"));
        assert!(message("budget = \"soon\"").contains("p.toml:1: 'soon' is not a duration"));
        assert!(message("rounds = 0").contains("from 1 to 1000"));
        assert!(message("accel = \"kwm\"").contains("did you mean 'kvm'"));
        assert!(message("rounds = [").starts_with("p.toml:1:"));
        assert!(message("[settings]\n\"disk.cache\" = [1]").contains("p.toml:2"));
    }

    #[test]
    fn flags_win_over_the_file() {
        let file = Request::from_toml("rounds = 3\nsuite = \"quick\"", "p.toml").unwrap();
        let flags = Request {
            rounds: Some(Located::flag("--rounds", "5".to_owned())),
            benchmarks: vec![Located::flag("--bench", "disk.read-1m".to_owned())],
            params: vec![Located::flag("--param", ("disk.read-1m:size".to_owned(), "2m".to_owned()))],
            ..Request::default()
        };
        let catalog = Catalog::new([&Fake as &dyn Load], SUITES);
        let plan = Plan::resolve(&file.overlaid(flags), &catalog, 4, 7).unwrap();
        assert_eq!(plan.rounds, 5);
        assert_eq!(plan.cells.len(), 1);
        assert_eq!(plan.cells[0].params.0["size"], ParamValue::Integer(2 << 20));
    }

    #[test]
    fn rounds_are_a_number_or_a_rule() {
        let of = |text: &str| resolve(text).map(|plan| (plan.rounds, plan.precision));
        assert_eq!(of(""), Ok((20, Some(Precision::ByArea))));
        assert_eq!(of("rounds = 3"), Ok((3, None)));
        assert_eq!(of("precision = \"1.5 %\"\nmax-rounds = 64"), Ok((64, Some(Precision::HalfWidth(0.015)))));
        assert_eq!(Precision::ByArea.of(Area::Disk), 0.05);
        assert!(message("rounds = 3\nprecision = 2").contains("p.toml:2: rounds cannot be '3': a fixed number"));
        assert!(message("max-rounds = 7").contains("from 8 to 1000"));
        assert!(message("precision = 0").contains("half-width in percent"));
        assert!(message("precision = \"nan\"").contains("half-width in percent"));
        assert!(message("[limits]\nsteal-wran = 1").contains("did you mean 'steal-warn'"));
        assert_eq!(resolve("[limits]\nsteal-warn = 0.2").map(|p| p.limits.steal_warn), Ok(0.2));
    }

    #[test]
    fn a_plan_survives_the_round_trip() {
        let plan = resolve("rounds = 3").unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }

    proptest! {
        #[test]
        fn no_plan_text_panics(text in "(suite|rounds|\\[settings\\]|\\[params\\]|\"disk.cache\"|=|\"|[a-z0-9. \\[\\]\n]){0,30}") {
            let _ = resolve(&text);
        }
    }
}
