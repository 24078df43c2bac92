//! Exit codes (also in docs/exit-codes.md).

use std::process::ExitCode;

/// Everything was done.
pub const DONE: u8 = 0;
/// It failed.
pub const FAILED: u8 = 1;
/// The command line or plan is wrong; nothing was started. (clap uses the same number.)
pub const USAGE: u8 = 2;
/// The study finished, but some of its cells are missing or not to be trusted; or two studies leave it open whether one is worse.
pub const INCOMPLETE: u8 = 3;
/// The second of two studies is worse than the first.
pub const REGRESSION: u8 = 4;
/// The user stopped it (128 + SIGINT).
pub const INTERRUPTED: u8 = 130;

/// An error that the user can only mend by asking differently.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The user stopped it.
#[derive(Debug, thiserror::Error)]
#[error("Stopped by the user")]
pub struct Interrupted;

/// The exit code that an error deserves.
pub fn code_of(error: &anyhow::Error) -> ExitCode {
    let usage = error.chain().any(|cause| cause.is::<Usage>() || cause.is::<model::plan::PlanError>());
    let interrupted = error.chain().any(|cause| cause.is::<Interrupted>());
    ExitCode::from(match (usage, interrupted) {
        (_, true) => INTERRUPTED,
        (true, _) => USAGE,
        _ => FAILED,
    })
}
