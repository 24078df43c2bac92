//! The study folder: what a study was, what happened in it, and what the tools said.
//!
//! ```text
//! manifest.json    what holds for the whole study; written once, whole or not at all
//! journal.jsonl    one event a line, synced before the study goes on; only ever appended to
//! raw/             tool outputs and guest consoles; never overwritten
//! lock             held by the one vmtax that writes
//! ```
//!
//! Touches nothing outside the folder that it is given. [`StudyFolder`] only reads (reports, also from a read-only
//! file system); [`StudyWriter`] is the one writer. The types of the files are in `model::record`.

#![forbid(unsafe_code)]

mod error;
mod folder;
mod journal;
mod manifest;
mod raw;

pub use error::StoreError;
pub use folder::{StudyFolder, StudyWriter};
pub use journal::{Journal, Skipped};
pub use raw::raw_name;
