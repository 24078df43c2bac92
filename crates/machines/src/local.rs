//! The host's agent: a child process over a socket pair, confined to the CPUs that the guests share, so that the host is measured
//! through the same path as a guest.

use crate::guest::nonce;
use crate::keeper::Nursery;
use crate::lease::{Lease, PREFIX};
use crate::pipe::{AgentPipe, PipeError};
use rustix::thread::CpuSet;
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Why the host's agent did not start.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// It could not be started.
    #[error("Could not start the agent on this host")]
    Spawn(#[source] std::io::Error),
    /// Its folder could not be made.
    #[error("Could not make the agent's folder {path}")]
    Scratch {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: std::io::Error,
    },
    /// It did not answer.
    #[error("The agent on this host did not answer")]
    Silent(#[source] PipeError),
}

/// The agent on this host. Ends when dropped.
#[derive(Debug)]
pub struct Local {
    child: Child,
    /// The conversation with it.
    pub agent: AgentPipe,
}

/// An empty folder on which the host's agent mounts its tmpfs, in a namespace that nobody else sees. Removed when dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder, after it has been written down in `lease`.
    pub fn make(lease: &mut Lease) -> Result<Self, LocalError> {
        let path = std::env::temp_dir().join(format!("{PREFIX}{}-scratch", std::process::id()));
        lease.add(&path).map_err(|e| LocalError::Scratch { path: path.clone(), source: std::io::Error::other(e) })?;
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| LocalError::Scratch { path: path.clone(), source })?;
        Ok(Scratch(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is empty for everybody but the agent. If it cannot be removed, the lease still lists it.
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// A CPU set for sched_setaffinity(2); none for an empty list.
pub fn cpu_set(cpus: &[u32]) -> Option<CpuSet> {
    if cpus.is_empty() {
        return None;
    }
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|c| (**c as usize) < CpuSet::MAX_CPU) {
        set.set(*cpu as usize);
    }
    Some(set)
}

impl Local {
    /// Starts `program agent` (this binary) confined to `cpus`. `scratch` is a folder on which the agent mounts a tmpfs that only it sees.
    pub fn start(
        nursery: &Nursery,
        program: &Path,
        scratch: &Path,
        cpus: &[u32],
        build: &str,
    ) -> Result<Self, LocalError> {
        let (ours, theirs) = UnixStream::pair().map_err(LocalError::Spawn)?;
        let input = OwnedFd::from(theirs);
        let output = input.try_clone().map_err(LocalError::Spawn)?;
        let mut command = Command::new(program);
        command.arg("agent").arg("--scratch").arg(scratch);
        command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::inherit());
        if let Some(set) = cpu_set(cpus) {
            // SAFETY: one system call and no allocation between fork and exec.
            unsafe { command.pre_exec(move || Ok(rustix::thread::sched_setaffinity(None, &set)?)) };
        }
        let child = nursery.spawn(command).map_err(LocalError::Spawn)?;
        let agent = AgentPipe::new("host", ours).map_err(LocalError::Spawn)?;
        // From here on Drop ends the child, also when it does not answer.
        let mut local = Local { child, agent };
        let nonce = nonce().map_err(LocalError::Spawn)?;
        let Local { child, agent } = &mut local;
        agent
            .hello(&nonce, build, Duration::from_secs(10), &mut || !matches!(child.try_wait(), Ok(None)))
            .map_err(LocalError::Silent)?;
        Ok(local)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.agent.shut_down();
        // It ends by itself when the pipe closes; a workload that is still running does not wait for that.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
