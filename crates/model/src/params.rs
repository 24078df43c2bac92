//! Parameters of a benchmark: declared with kind, default and doc; read by key; stored in canonical order.

use crate::nearest::hint;
use crate::quantity::{QuantityError, parse_duration, parse_size};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One parameter value in base units: bytes, seconds, counts, or a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// Bytes or a count.
    Integer(u64),
    /// Seconds.
    Number(f64),
    /// A word.
    Text(String),
}

impl std::fmt::Display for ParamValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParamValue::Integer(v) => write!(f, "{v}"),
            ParamValue::Number(v) => write!(f, "{v}"),
            ParamValue::Text(v) => f.write_str(v),
        }
    }
}

/// What a parameter accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamKind {
    /// A size, stored in bytes.
    Size,
    /// A duration, stored in seconds.
    Duration,
    /// A whole number of at least one.
    Count,
    /// A whole number; zero is no limit.
    Limit,
    /// One of these words.
    Choice(Vec<String>),
}

/// A declared parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParamSpec {
    /// Key on the command line and in plans.
    pub key: String,
    /// What it accepts.
    pub kind: ParamKind,
    /// Value where none is given.
    pub default: ParamValue,
    /// One sentence for `vmtax list` and the docs.
    pub doc: String,
}

impl ParamSpec {
    /// A size parameter; `default` in bytes.
    pub fn size(key: &str, default: u64, doc: &str) -> Self {
        Self::new(key, ParamKind::Size, ParamValue::Integer(default), doc)
    }

    /// A duration parameter; `default` in seconds.
    pub fn duration(key: &str, default: f64, doc: &str) -> Self {
        Self::new(key, ParamKind::Duration, ParamValue::Number(default), doc)
    }

    /// A count parameter.
    pub fn count(key: &str, default: u64, doc: &str) -> Self {
        Self::new(key, ParamKind::Count, ParamValue::Integer(default), doc)
    }

    /// An upper limit; none unless one is given.
    pub fn limit(key: &str, doc: &str) -> Self {
        Self::new(key, ParamKind::Limit, ParamValue::Integer(0), doc)
    }

    /// A choice; the first word is the default.
    pub fn choice(key: &str, words: &[&str], doc: &str) -> Self {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        let default = ParamValue::Text(words.first().cloned().unwrap_or_default());
        Self::new(key, ParamKind::Choice(words), default, doc)
    }

    fn new(key: &str, kind: ParamKind, default: ParamValue, doc: &str) -> Self {
        ParamSpec { key: key.to_owned(), kind, default, doc: doc.to_owned() }
    }

    /// The same parameter with another default.
    pub fn with_default(mut self, default: ParamValue) -> Self {
        self.default = default;
        self
    }

    /// Reads `text` as this parameter's kind.
    pub fn parse(&self, text: &str) -> Result<ParamValue, ParamError> {
        match &self.kind {
            ParamKind::Size => match parse_size(text)? {
                0 => Err(ParamError::Zero { key: self.key.clone() }),
                bytes => Ok(ParamValue::Integer(bytes)),
            },
            ParamKind::Duration => match parse_duration(text)? {
                0.0 => Err(ParamError::Zero { key: self.key.clone() }),
                seconds => Ok(ParamValue::Number(seconds)),
            },
            ParamKind::Count => match text.parse::<u64>() {
                Ok(n) if n >= 1 => Ok(ParamValue::Integer(n)),
                _ => Err(ParamError::Count { key: self.key.clone(), value: text.to_owned() }),
            },
            ParamKind::Limit => match text.parse() {
                Ok(n) => Ok(ParamValue::Integer(n)),
                Err(_) => Err(ParamError::Limit { key: self.key.clone(), value: text.to_owned() }),
            },
            ParamKind::Choice(words) => {
                if words.iter().any(|w| w == text) {
                    Ok(ParamValue::Text(text.to_owned()))
                } else {
                    Err(ParamError::Choice {
                        key: self.key.clone(),
                        value: text.to_owned(),
                        words: words.join(", "),
                        hint: hint(text, words.iter().map(String::as_str)),
                    })
                }
            }
        }
    }
}

/// Why a parameter could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// Not a size or duration.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// Zero where something is needed.
    #[error("{key} must be more than zero")]
    Zero {
        /// The parameter.
        key: String,
    },
    /// Not a count.
    #[error("{key} must be a whole number of at least 1, not '{value}'")]
    Count {
        /// The parameter.
        key: String,
        /// What was given.
        value: String,
    },
    /// Not a limit.
    #[error("{key} must be a whole number, or 0 for no limit, not '{value}'")]
    Limit {
        /// The parameter.
        key: String,
        /// What was given.
        value: String,
    },
    /// Right by itself, and impossible beside the other parameters.
    #[error("{key}={value} does not fit: {why}")]
    Unfit {
        /// The parameter.
        key: String,
        /// What was given.
        value: String,
        /// What it does not fit, and what would.
        why: String,
    },
    /// A benchmark of the data disk was given none.
    #[error("There is no data disk to work on: it must be made first")]
    NoDisk,
    /// Not one of the words.
    #[error("{key} cannot be '{value}': it is one of {words}{hint}")]
    Choice {
        /// The parameter.
        key: String,
        /// What was given.
        value: String,
        /// What would be right.
        words: String,
        /// The nearest, or nothing.
        hint: String,
    },
    /// The receiver of a run needs a parameter that was not sent, or sent with another type.
    #[error("Parameter '{0}' is missing or has the wrong type: both sides must come from the same build")]
    Missing(String),
}

/// Parameter values by key, in the canonical (sorted) order that makes a cell's identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, ParamValue>);

impl Params {
    /// The defaults of `specs`.
    pub fn defaults(specs: &[ParamSpec]) -> Self {
        Params(specs.iter().map(|s| (s.key.clone(), s.default.clone())).collect())
    }

    /// A size in bytes or a count.
    pub fn integer(&self, key: &str) -> Result<u64, ParamError> {
        match self.0.get(key) {
            Some(ParamValue::Integer(v)) => Ok(*v),
            _ => Err(ParamError::Missing(key.to_owned())),
        }
    }

    /// Seconds.
    pub fn seconds(&self, key: &str) -> Result<f64, ParamError> {
        match self.0.get(key) {
            Some(ParamValue::Number(v)) => Ok(*v),
            Some(ParamValue::Integer(v)) => Ok(*v as f64),
            _ => Err(ParamError::Missing(key.to_owned())),
        }
    }

    /// A word.
    pub fn text(&self, key: &str) -> Result<&str, ParamError> {
        match self.0.get(key) {
            Some(ParamValue::Text(v)) => Ok(v),
            _ => Err(ParamError::Missing(key.to_owned())),
        }
    }

    /// Sets one value.
    pub fn set(&mut self, key: &str, value: ParamValue) {
        self.0.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_word_names_the_right_ones() {
        let spec = ParamSpec::choice("engine", &["auto", "io_uring", "libaio"], "");
        let error = spec.parse("iouring").unwrap_err().to_string();
        assert!(error.contains("auto, io_uring, libaio") && error.contains("did you mean 'io_uring'"), "{error}");
        assert!(ParamSpec::count("jobs", 1, "").parse("0").is_err());
        assert_eq!(ParamSpec::limit("rate", "").parse("0"), Ok(ParamValue::Integer(0)));
        assert!(ParamSpec::limit("rate", "").parse("-1").unwrap_err().to_string().contains("0 for no limit"));
        assert!(ParamSpec::size("size", 1, "").parse("0").is_err());
    }
}
