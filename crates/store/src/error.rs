//! What can go wrong with a study folder, and what to do then.

use std::io;
use std::path::PathBuf;

/// Why a study folder could not be made, read or written. The cause is in `source` and not repeated in the text.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A new study never mixes with what is there.
    #[error(
        "{} already holds files. Name a new folder for a new study or, if they are a study, go on with it: vmtax resume {}",
        path.display(), path.display()
    )]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The folder could not be made.
    #[error("Could not create the study folder {}. Name one on a disk that can be written and is not full", path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// No such folder.
    #[error("There is no study folder {}", path.display())]
    Missing {
        /// What was asked for.
        path: PathBuf,
    },
    /// Somebody else writes.
    #[error("Another vmtax is using {}. Wait until it is done or stop it; a report can be made meanwhile", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The lock could not be tried.
    #[error("Could not lock {}, which going on with a study needs. Copy the study to a local disk that can be written", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// A folder without the file that makes it a study.
    #[error(
        "{} has no manifest.json: it is not a study, or the study was stopped before anything was measured. Begin a new one with vmtax run, in another folder",
        path.display()
    )]
    NoManifest {
        /// The folder.
        path: PathBuf,
    },
    /// Manifests are written once.
    #[error("{} is there already and is never replaced", path.display())]
    ManifestExists {
        /// The manifest.
        path: PathBuf,
    },
    /// A study of a future vmtax.
    #[error(
        "{} was written by vmtax {vmtax} in format {format}, and this vmtax reads formats up to {known}. Use vmtax {vmtax} or a newer one; the tools' own outputs in raw/ can be read without it",
        path.display()
    )]
    NewerFormat {
        /// The manifest.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// Who wrote it.
        vmtax: String,
        /// The newest format that this build reads.
        known: u32,
    },
    /// A manifest that is none.
    #[error("{} is damaged at {at}. Restore it from a copy; the journal and raw/ beside it can still be read", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Path inside the JSON.
        at: String,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// A file could not be read.
    #[error("Could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// A file other than the journal could not be written.
    #[error("Could not write {}. If its disk is full, make room", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// The journal could not be written.
    #[error(
        "Could not add to {}. What was measured before is kept. If its disk is full, make room, then go on with: vmtax resume {}",
        path.display(), folder.display()
    )]
    Append {
        /// The journal.
        path: PathBuf,
        /// The study folder.
        folder: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// Data that would not come back from the file as it is: JSON has no NaN and no infinity.
    #[error("Did not write to {} what could not be read back from it (not a finite number): {what}", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The data.
        what: String,
    },
    /// A raw output that is not in the study folder.
    #[error("The raw output '{name}' is no file inside {}: nothing else is read", folder.display())]
    Outside {
        /// The study folder.
        folder: PathBuf,
        /// What was asked for.
        name: String,
    },
}
