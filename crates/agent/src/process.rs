//! Child processes: what they used, how they ended, and how they are ended with everything that they started.

use serde::{Deserialize, Serialize};

/// CPU time and context switches (getrusage(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// User mode, seconds.
    pub user_seconds: f64,
    /// System mode, seconds.
    pub system_seconds: f64,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
}

impl Usage {
    /// The difference to an earlier reading.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            user_seconds: self.user_seconds - earlier.user_seconds,
            system_seconds: self.system_seconds - earlier.system_seconds,
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
        }
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exit {
    /// Exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it and its children used.
    pub usage: Usage,
    /// Bytes that it really read from storage.
    pub read_bytes: Option<u64>,
    /// Bytes that it really caused to be written.
    pub write_bytes: Option<u64>,
}

#[cfg(unix)]
mod imp {
    use super::{Exit, Usage};
    use std::process::Child;

    fn usage(raw: &libc::rusage) -> Usage {
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
        Usage {
            user_seconds: seconds(raw.ru_utime),
            system_seconds: seconds(raw.ru_stime),
            context_switches: (raw.ru_nvcsw + raw.ru_nivcsw).max(0) as u64,
        }
    }

    /// What this process has used so far.
    pub fn own_usage() -> Usage {
        // SAFETY: an all-zero rusage is valid, and the kernel writes no further than its size.
        let raw = unsafe {
            let mut raw: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut raw);
            raw
        };
        usage(&raw)
    }

    /// Waits until a child has ended, but leaves it unreaped, so that its id stays its own and its counters can be read.
    pub fn wait_for_end(child: &Child) {
        let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) else { return };
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(rustix::process::WaitId::Pid(pid), options) {}
    }

    /// Reaps a child that has ended. `child` must not be waited for again.
    pub fn reap(child: &Child) -> Exit {
        let io = probes::process::io(&probes::Root::live(), child.id()).ok();
        let mut status = 0;
        // SAFETY: an all-zero rusage is valid, and both pointers live through the call.
        let (ended, raw) = unsafe {
            let mut raw: libc::rusage = std::mem::zeroed();
            let ended = libc::wait4(child.id() as i32, &mut status, 0, &mut raw);
            (ended, raw)
        };
        if ended != child.id() as i32 {
            return Exit::default();
        }
        Exit {
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            usage: usage(&raw),
            read_bytes: io.as_ref().map(|io| io.read_bytes),
            write_bytes: io.as_ref().map(|io| io.write_bytes),
        }
    }

    /// Ends a process group whose leader has not been reaped.
    pub fn kill_group(leader: u32) {
        if let Some(pid) = rustix::process::Pid::from_raw(leader as i32) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use super::{Exit, Usage};
    use std::process::Child;

    /// Not read on this system.
    pub fn own_usage() -> Usage {
        Usage::default()
    }

    /// Ending is found by [`reap`].
    pub fn wait_for_end(_child: &Child) {}

    /// Not read on this system.
    pub fn reap(_child: &Child) -> Exit {
        Exit::default()
    }

    /// Not done on this system.
    pub fn kill_group(_leader: u32) {}
}

pub use imp::{kill_group, own_usage, reap, wait_for_end};
