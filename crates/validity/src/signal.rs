//! From what was read to a status. A number that cannot be one (negative, not finite) counts as not read.

use model::check::{Check, Fact, Status, Threat};
use model::{Benchmark, RunRecord};

/// A quantity that cannot be negative.
pub(crate) fn known(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite() && *value >= 0.0)
}

/// A quantity that cannot be zero either.
pub(crate) fn positive(value: Option<f64>) -> Option<f64> {
    known(value).filter(|value| *value > 0.0)
}

/// `part / whole`, where both are known.
pub(crate) fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    known(Some(known(part)? / positive(whole)?))
}

/// The status of a number that should be small: it warns from `warn` on and rejects from `invalid` on.
pub(crate) fn grade(value: f64, warn: f64, invalid: f64) -> Status {
    if value >= invalid {
        Status::Invalid
    } else if value >= warn {
        Status::Warn
    } else {
        Status::Pass
    }
}

/// [`Status::Warn`] or [`Status::Pass`].
pub(crate) fn warn_if(wrong: bool) -> Status {
    if wrong { Status::Warn } else { Status::Pass }
}

/// A check whose signal could not be read.
pub(crate) fn unknown(threat: Threat) -> Check {
    shaped(threat, Status::Unknown, "unknown")
}

/// A check that says which of several things was seen: the texts have one sentence for each shape.
pub(crate) fn shaped(threat: Threat, status: Status, shape: &str) -> Check {
    Check::new(threat, status).with("shape", shape)
}

/// A number that a check of this run saw.
pub(crate) fn seen(run: &RunRecord, threat: Threat, key: &str) -> Option<f64> {
    let check = run.checks.iter().find(|check| check.threat == threat)?;
    match check.evidence.get(key)? {
        Fact::Number(number) => known(Some(*number)),
        Fact::Word(_) => None,
    }
}

/// The default of the parameter `time`, seconds.
pub(crate) fn default_seconds(benchmark: &Benchmark) -> Option<f64> {
    let default = &benchmark.params.iter().find(|spec| spec.key == "time")?.default;
    match default {
        model::ParamValue::Number(seconds) => positive(Some(*seconds)),
        model::ParamValue::Integer(seconds) => Some(*seconds as f64),
        model::ParamValue::Text(_) => None,
    }
}
