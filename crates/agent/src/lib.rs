//! The side inside a machine: PID 1 duties in a guest, then messages in and bytes out.
//!
//! Mounts and spawns inside its own machine only. On the host it lives in a mount namespace of its own. Nothing is sent while
//! a workload is being timed; every run is a fresh process, so that it starts from the same memory state and can be ended.

#[cfg(target_os = "linux")]
pub mod init;
pub mod own_mounts;
pub mod process;

pub mod serve;
pub mod task;
pub mod worker;

/// Hidden subcommand of the binary that serves a pipe.
pub const AGENT_SUBCOMMAND: &str = "agent";
/// Hidden subcommand of the binary that runs one workload.
pub const WORKER_SUBCOMMAND: &str = "worker";
