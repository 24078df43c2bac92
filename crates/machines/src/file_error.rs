//! What went wrong with which file: the part that all errors about host-side files share.

use std::io;
use std::path::{Path, PathBuf};

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("Could not {act} {path}")]
pub struct FileError {
    /// What was tried, as a verb ("read", "create").
    pub act: &'static str,
    /// On what.
    pub path: PathBuf,
    /// The kernel's answer.
    #[source]
    pub source: io::Error,
}

impl FileError {
    /// For `map_err`: says what was tried on what.
    pub fn on(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        move |source| FileError { act, path: path.to_owned(), source }
    }
}
