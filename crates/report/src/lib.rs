//! Reports from a study folder's manifest and journal. PURE: data in, text out; no I/O, no clock, no randomness.
//!
//! [`analyse`] computes every figure once; [`text()`], [`html()`] and [`json`] only show them, so that no two reports of a
//! study can disagree. Whatever comes from a machine or a tool is escaped on its way out.

pub mod analysis;
mod answer;
mod figures;
mod html;
mod locale;
pub mod selftest;
mod text;

pub use analysis::{Analysis, analyse};
pub use html::html;
pub use locale::{Lang, Words};
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
}

/// The JSON report; see [`Analysis`] for its fields.
pub fn json(analysis: &Analysis) -> Result<String, ReportError> {
    let mut text = serde_json::to_string_pretty(analysis)?;
    text.push('\n');
    Ok(text)
}
