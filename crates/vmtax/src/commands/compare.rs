//! `vmtax compare`: did it get better or worse between two studies?

use super::report::{analyse, language, put, style};
use crate::cli::{Compare, CompareFormat};
use crate::exit::{DONE, INCOMPLETE, REGRESSION, Usage};
use anyhow::Context;
use report::compare::{CompareError, Decision};
use report::{Analysis, Words};
use std::path::Path;
use std::process::ExitCode;
use store::StudyFolder;

/// Prints or writes the comparison, and says with its exit code what it came to.
pub fn compare(args: &Compare) -> anyhow::Result<ExitCode> {
    let a = open("A", &args.a)?;
    let b = open("B", &args.b)?;
    let fresh = args.confirm.as_deref().map(|path| open("C", path)).transpose()?;
    let margin = args.margin.map(|percent| percent / 100.0);
    let gate = report::compare::compare(&a, &b, fresh.as_ref(), margin).map_err(|error| match error {
        CompareError::Margin(_) => Usage(format!("--margin: {error}")).into(),
        CompareError::NotFresh(_) => Usage(format!("--confirm: {error}")).into(),
        CompareError::NothingInCommon { .. } => anyhow::Error::from(error),
    })?;
    let words = Words::new(language(args.lang));
    let text = match args.format {
        CompareFormat::Text => report::compare::text(&gate, &style(args.output.is_none()), &words),
        CompareFormat::Markdown => report::compare::markdown(&gate, &words),
        CompareFormat::Json => report::compare::json(&gate)?,
        CompareFormat::Junit => report::compare::junit(&gate, &words)?,
    };
    put(&text, args.output.as_deref())?;
    Ok(ExitCode::from(match gate.decision {
        Decision::NoRegression => DONE,
        Decision::Undecided => INCOMPLETE,
        Decision::Regression => REGRESSION,
    }))
}

/// Reads one of the studies; errors say which one it is.
fn open(which: &str, path: &Path) -> anyhow::Result<Analysis> {
    let analysis = StudyFolder::open(path).map_err(anyhow::Error::from).and_then(|folder| analyse(&folder));
    let analysis = analysis.with_context(|| format!("Study {which} cannot be compared"))?;
    Ok(Analysis { folder: Some(path.display().to_string()), ..analysis })
}
