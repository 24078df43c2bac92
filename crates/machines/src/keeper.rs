//! The keeper: process 1 of a PID namespace in which everything that a controller starts lives. When the controller dies, however it
//! dies, the keeper's pipe closes; it removes what the lease lists and ends, and the kernel ends all others in the namespace
//! (pid_namespaces(7)). So a `kill -9` leaves nothing.
//!
//! Children enter the namespace because a thread that called `unshare(CLONE_NEWPID)` has all its later children there; that thread
//! ([`Nursery`]) does nothing but spawn. The controller itself stays outside and sees its children under their ordinary ids.

use rustix::thread::UnshareFlags;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

/// The hidden subcommand that [`guard`] runs as.
pub const SUBCOMMAND: &str = "keeper";

/// Why there is no keeper.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// Not permitted.
    #[error(
        "Could not make a process namespace, which guarantees that nothing is left behind. Run vmtax as root (sudo vmtax …); in a container it needs CAP_SYS_ADMIN"
    )]
    Namespace(#[source] std::io::Error),
    /// The keeper did not start.
    #[error("Could not start the keeper process")]
    Start(#[source] std::io::Error),
    /// The spawning thread is gone.
    #[error("The thread that starts processes has ended")]
    Gone,
}

type Order = (Command, mpsc::SyncSender<std::io::Result<Child>>);

/// Starts processes inside the keeper's namespace.
#[derive(Debug)]
pub struct Nursery {
    orders: mpsc::Sender<Order>,
    /// Closing it ends the keeper and with it everything else.
    _life: OwnedFd,
}

impl Nursery {
    /// Starts a keeper that will release `lease` at the end. `program` is this binary.
    pub fn open(program: &Path, lease: &Path) -> Result<Self, KeeperError> {
        let (watched, life) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(|e| KeeperError::Start(std::io::Error::from(e)))?;
        let (orders, inbox) = mpsc::channel::<Order>();
        let (told, started) = mpsc::sync_channel(1);
        let mut keeper = Command::new(program);
        keeper.arg(SUBCOMMAND).arg(lease).stdin(Stdio::from(watched)).stdout(Stdio::null()).process_group(0);
        let thread = std::thread::Builder::new().name("nursery".to_owned());
        thread
            .spawn(move || {
                // SAFETY: only this thread's own view of namespaces for children changes; no file descriptor table is unshared.
                let entered = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) };
                if let Err(e) = entered {
                    let _ = told.send(Err(KeeperError::Namespace(e.into())));
                    return;
                }
                let started = keeper.spawn().map(|_| ()).map_err(KeeperError::Start);
                let failed = started.is_err();
                let _ = told.send(started);
                if failed {
                    return;
                }
                for (mut command, reply) in inbox {
                    let _ = reply.send(command.spawn());
                }
            })
            .map_err(KeeperError::Start)?;
        started.recv().map_err(|_| KeeperError::Gone)??;
        Ok(Nursery { orders, _life: life })
    }

    /// Starts `command` in the namespace, in a process group of its own so that a Ctrl-C reaches only the controller.
    pub fn spawn(&self, mut command: Command) -> std::io::Result<Child> {
        command.process_group(0);
        let (reply, child) = mpsc::sync_channel(1);
        let gone = || std::io::Error::other(KeeperError::Gone);
        self.orders.send((command, reply)).map_err(|_| gone())?;
        child.recv().map_err(|_| gone())?
    }
}

/// What the keeper process does: reaps, waits for the controller's end, ends everybody else, releases the lease.
pub fn guard(lease: &Path) {
    // Orphans of the namespace become children of its process 1; without this they would stay as zombies.
    let reaper = std::thread::Builder::new().name("reaper".to_owned()).spawn(|| {
        loop {
            if rustix::process::wait(rustix::process::WaitOptions::empty()).is_err() {
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
        }
    });
    drop(reaper);
    let mut byte = [0; 64];
    // Nothing is ever written: a read returns at the end of the controller's life.
    while !matches!(std::io::stdin().read(&mut byte), Ok(0)) {}
    if rustix::process::getpid().is_init() {
        // Only inside a namespace of its own does "everybody" mean what this controller started.
        let _ = rustix::process::kill_process_group(rustix::process::Pid::INIT, rustix::process::Signal::KILL);
    }
    crate::lease::release_abandoned(lease);
}
