//! Reports from a study folder's manifest and journal. PURE: data in, text out; no I/O, no clock, no randomness.
//!
//! [`analyse`] computes every figure once; [`text()`], [`html()`], [`json`], [`csv()`] and [`markdown()`] only show them, so that no
//! two reports of a study can disagree. All words stand in `locales/` ([`Words`]). Whatever comes from a machine or a tool is
//! escaped on its way out.

pub mod analysis;
mod answer;
pub mod compare;
mod csv;
mod figures;
mod findings;
mod html;
mod locale;
mod markdown;
mod schema;
#[cfg(test)]
mod schema_types;
pub mod selftest;
mod text;
mod wording;

pub use analysis::{Analysis, Raws, analyse};
pub use csv::csv;
pub use html::html;
pub use locale::{Lang, Words};
pub use markdown::markdown;
pub use schema::JSON_SCHEMA;
pub use text::{Style, text};

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The page.
    #[error("Could not lay out the HTML report")]
    Html(#[from] askama::Error),
    /// The JSON report.
    #[error("Could not write the JSON report")]
    Json(#[from] serde_json::Error),
    /// The JUnit report of a comparison.
    #[error("Could not write the JUnit report")]
    Junit(#[from] quick_junit::SerializeError),
}

/// The JSON report; see [`Analysis`] for its fields and [`JSON_SCHEMA`] for its schema.
pub fn json(analysis: &Analysis) -> Result<String, ReportError> {
    let mut text = serde_json::to_string_pretty(analysis)?;
    text.push('\n');
    Ok(text)
}
