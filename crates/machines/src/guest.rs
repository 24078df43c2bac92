//! A guest: QEMU, its console, its QMP session and the agent in it. Booted afresh for every round, gone when dropped.

use crate::keeper::Nursery;
use crate::pipe::{AgentPipe, PipeError};
use crate::qemu::{Wiring, arguments};
use crate::qmp::{Qmp, QmpError};
use model::facts::{HypervisorFacts, OpenDisk};
use model::{Accelerator, MachineSpec};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The user and group that QEMU runs as: nobody and nogroup.
const NOBODY: u32 = 65534;
/// How willingly the kernel ends QEMU when memory runs out (proc(5), oom_score_adj): before anything that matters to the host.
const OOM_SCORE: &str = "800";
/// Bytes of console and of QEMU's own words that are kept.
const TAIL: usize = 256 << 10;

/// What a guest is made of.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// `qemu-system-x86_64`.
    pub qemu: PathBuf,
    /// The specification.
    pub spec: MachineSpec,
    /// Who executes guest instructions.
    pub accelerator: Accelerator,
    /// Kernel image.
    pub kernel: PathBuf,
    /// Initramfs.
    pub initramfs: PathBuf,
    /// Image with the tools.
    pub toolbox: Option<PathBuf>,
    /// Image of the data disk.
    pub data: Option<PathBuf>,
    /// Host CPUs for the whole of QEMU; empty means all.
    pub cpu_set: Vec<u32>,
    /// Build id that the agent must have.
    pub build: String,
    /// Words added to the kernel's command line.
    pub kernel_words: String,
}

/// Why a guest did not come up.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// QEMU could not be started.
    #[error("Could not start {program}. Install it (Debian: qemu-system-x86) or pass --qemu FILE")]
    Spawn {
        /// The program.
        program: String,
        /// The kernel's answer.
        #[source]
        source: std::io::Error,
    },
    /// A file or socket could not be made ready.
    #[error("Could not prepare {what} for the guest")]
    Prepare {
        /// What.
        what: String,
        /// The kernel's answer.
        #[source]
        source: std::io::Error,
    },
    /// It ended or stayed silent.
    #[error("The guest did not come up under {accelerator} (given up after {seconds:.1} s): {autopsy}")]
    Dead {
        /// `kvm` or `tcg`.
        accelerator: &'static str,
        /// Seconds waited.
        seconds: f64,
        /// What QEMU and the console last said.
        autopsy: String,
    },
    /// It came up, but not under KVM.
    #[error(
        "QEMU was told to use KVM, and runs the guest without it: see what stands between vmtax and QEMU (--qemu FILE)"
    )]
    NotAccelerated,
    /// QMP failed.
    #[error(transparent)]
    Qmp(#[from] QmpError),
    /// The user stopped it.
    #[error("Stopped")]
    Stopped,
}

/// The last bytes of a stream.
type Tail = Arc<Mutex<Vec<u8>>>;

fn follow(mut stream: impl Read + Send + 'static, name: &str) -> std::io::Result<Tail> {
    let tail: Tail = Arc::default();
    let shared = Arc::clone(&tail);
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            let Ok(mut kept) = shared.lock() else { return };
            kept.extend_from_slice(&buffer[..n]);
            if kept.len() > 2 * TAIL {
                let cut = kept.len() - TAIL;
                kept.drain(..cut);
            }
        }
    })?;
    Ok(tail)
}

fn text(tail: &Tail) -> String {
    tail.lock().map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default()
}

/// A running guest.
#[derive(Debug)]
pub struct Guest {
    child: Child,
    qmp: Qmp,
    /// The agent.
    pub agent: AgentPipe,
    console: Tail,
    words: Tail,
    spec: MachineSpec,
    data: Option<PathBuf>,
    command_line: Vec<String>,
    /// From spawning QEMU to the agent's hello, seconds.
    pub ready_seconds: f64,
}

/// Ends a child that was started but not yet handed over.
struct Unborn(Option<Child>);

impl Drop for Unborn {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn pair(what: &str) -> Result<(UnixStream, OwnedFd), GuestError> {
    let (ours, theirs) = UnixStream::pair().map_err(|source| GuestError::Prepare { what: what.to_owned(), source })?;
    Ok((ours, OwnedFd::from(theirs)))
}

/// User and group for QEMU: nobody, with the group of /dev/kvm where that is what opens it; none where only root may.
fn identity(accelerator: Accelerator) -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    if accelerator == Accelerator::Tcg {
        return Some((NOBODY, NOBODY));
    }
    let meta = std::fs::metadata("/dev/kvm").ok()?;
    match meta.mode() & 0o066 {
        mode if mode & 0o006 == 0o006 => Some((NOBODY, NOBODY)),
        mode if mode & 0o060 == 0o060 => Some((NOBODY, meta.gid())),
        _ => None,
    }
}

impl Guest {
    /// Boots a guest and waits for its agent's hello, at most `deadline`. `stop` is asked about four times a second.
    pub fn boot(
        nursery: &Nursery,
        name: &str,
        recipe: &Recipe,
        deadline: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, GuestError> {
        let (console, console_end) = pair("the console")?;
        let (monitor, monitor_end) = pair("the QMP socket")?;
        let (port, port_end) = pair("the agent's port")?;
        let data = match &recipe.data {
            None => None,
            Some(path) => {
                let open = File::options().read(true).write(true).open(path);
                Some(open.map_err(|source| GuestError::Prepare { what: path.display().to_string(), source })?)
            }
        };
        let wiring = Wiring {
            name,
            accelerator: recipe.accelerator,
            kernel: &recipe.kernel,
            initramfs: &recipe.initramfs,
            toolbox: recipe.toolbox.as_deref(),
            data_fd: data.as_ref().map(AsRawFd::as_raw_fd),
            console_fd: console_end.as_raw_fd(),
            qmp_fd: monitor_end.as_raw_fd(),
            agent_fd: port_end.as_raw_fd(),
            kernel_words: &recipe.kernel_words,
        };
        let args = arguments(&recipe.spec, &wiring);
        let mut command_line = vec![recipe.qemu.display().to_string()];
        command_line.extend(args.iter().cloned());

        let mut command = Command::new(&recipe.qemu);
        command.args(&args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).env_clear();
        if let Some((user, group)) = identity(recipe.accelerator) {
            command.uid(user).gid(group);
        }
        let inherited: Vec<RawFd> =
            [Some(wiring.console_fd), Some(wiring.qmp_fd), Some(wiring.agent_fd), wiring.data_fd]
                .into_iter()
                .flatten()
                .collect();
        let cpus = crate::local::cpu_set(&recipe.cpu_set);
        let prepare = move || {
            for fd in &inherited {
                // SAFETY: the parent keeps these descriptors open until the child has been spawned.
                let fd = unsafe { BorrowedFd::borrow_raw(*fd) };
                rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?;
            }
            if let Some(cpus) = &cpus {
                rustix::thread::sched_setaffinity(None, cpus)?;
            }
            Ok(())
        };
        // SAFETY: only system calls are made, and nothing is allocated, between fork and exec.
        unsafe { command.pre_exec(prepare) };

        let spawned = Instant::now();
        let child = nursery
            .spawn(command)
            .map_err(|source| GuestError::Spawn { program: recipe.qemu.display().to_string(), source })?;
        let mut unborn = Unborn(Some(child));
        // Our copies of QEMU's ends must go, or its death would not close the pipes.
        drop((console_end, monitor_end, port_end, data));
        let prepare = |what: &str| {
            let what = what.to_owned();
            move |source| GuestError::Prepare { what, source }
        };
        let child = unborn.0.as_mut().ok_or(GuestError::Stopped)?;
        // Best effort: without root the score cannot be written after QEMU has become another user.
        let _ = std::fs::write(format!("/proc/{}/oom_score_adj", child.id()), OOM_SCORE);
        let words =
            child.stderr.take().map(|e| follow(e, "qemu-words")).transpose().map_err(prepare("QEMU's stderr"))?;
        let words = words.unwrap_or_default();
        let console = follow(console, "console").map_err(prepare("the console"))?;
        let mut agent = AgentPipe::new("guest", port).map_err(prepare("the agent's port"))?;

        let nonce = nonce().map_err(prepare("a nonce"))?;
        let mut died = false;
        let greeted = agent.hello(&nonce, &recipe.build, deadline, &mut || {
            died = !matches!(child.try_wait(), Ok(None));
            died || stop()
        });
        let ready_seconds = spawned.elapsed().as_secs_f64();
        if let Err(error) = greeted {
            if matches!(error, PipeError::Stopped) && !died {
                return Err(GuestError::Stopped);
            }
            let autopsy = autopsy(child, &words, &console, Some(&error));
            return Err(GuestError::Dead { accelerator: recipe.accelerator.name(), seconds: ready_seconds, autopsy });
        }
        let qmp = Qmp::open(monitor, Duration::from_secs(10))?;
        let Some(child) = unborn.0.take() else { return Err(GuestError::Stopped) };
        Ok(Guest {
            child,
            qmp,
            agent,
            console,
            words,
            spec: recipe.spec.clone(),
            data: recipe.data.clone(),
            command_line,
            ready_seconds,
        })
    }

    /// QEMU's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything that is kept of the serial console.
    pub fn console(&self) -> String {
        text(&self.console)
    }

    /// Stops all vCPUs, so that an idle guest disturbs nobody.
    pub fn pause(&mut self) -> Result<(), QmpError> {
        self.qmp.ask("stop", &Value::Null).map(|_| ())
    }

    /// Lets the vCPUs go on.
    pub fn go_on(&mut self) -> Result<(), QmpError> {
        self.qmp.ask("cont", &Value::Null).map(|_| ())
    }

    /// True while QEMU lives.
    pub fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What is known about a guest that misbehaved: QEMU's end, its words, the last lines of the console.
    pub fn autopsy(&mut self, error: Option<&PipeError>) -> String {
        autopsy(&mut self.child, &self.words, &self.console, error)
    }

    /// True where QEMU says (`query-kvm`) that this guest runs by hardware virtualization.
    pub fn kvm_enabled(&mut self) -> Result<bool, QmpError> {
        Ok(self.qmp.ask("query-kvm", &Value::Null)?["enabled"].as_bool().unwrap_or(false))
    }

    /// What QEMU says of this guest.
    pub fn hypervisor_facts(&mut self) -> Result<HypervisorFacts, QmpError> {
        let version = self.qmp.ask("query-version", &Value::Null)?;
        let number = |key: &str| version["qemu"][key].as_u64().unwrap_or(0);
        let package = version["package"].as_str().unwrap_or_default().trim();
        let kvm = self.kvm_enabled()?;
        let memory = self.qmp.ask("query-memory-size-summary", &Value::Null)?["base-memory"].as_u64();
        let nodes = self.qmp.ask("query-named-block-nodes", &json!({ "flat": true }))?;
        let iothreads = self.qmp.ask("query-iothreads", &Value::Null)?;
        let mut disks = Vec::new();
        for node in nodes.as_array().into_iter().flatten() {
            let Some(name) = node["node-name"].as_str().filter(|n| matches!(*n, "data" | "tools")) else { continue };
            let write_cache = match name {
                "data" => self
                    .qmp
                    .ask("qom-get", &json!({ "path": "/machine/peripheral/data-disk", "property": "write-cache" }))
                    .map(|v| v == "on" || v == true)?,
                _ => false,
            };
            disks.push(OpenDisk {
                node: name.to_owned(),
                cache_direct: node["cache"]["direct"].as_bool().unwrap_or(false),
                cache_no_flush: node["cache"]["no-flush"].as_bool().unwrap_or(false),
                write_cache,
                // QMP does not tell the AIO mode of a node; QEMU refuses one that it cannot have, so what was asked holds.
                aio: (name == "data").then(|| self.spec.disk.aio.name().to_owned()),
                iothread: name == "data"
                    && self.spec.disk.iothread
                    && iothreads.as_array().is_some_and(|a| !a.is_empty()),
                descriptor_direct: None,
            });
        }
        Ok(HypervisorFacts {
            version: format!("QEMU {}.{}.{} {package}", number("major"), number("minor"), number("micro"))
                .trim()
                .to_owned(),
            kvm,
            memory,
            command_line: self.command_line.clone(),
            disks,
            cpus_allowed: Vec::new(),
        })
    }

    /// The image of the data disk.
    pub fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn autopsy(child: &mut Child, words: &Tail, console: &Tail, error: Option<&PipeError>) -> String {
    // A QEMU that is about to end closes its sockets a moment before: give it that moment, and its last words theirs.
    let limit = Instant::now() + Duration::from_millis(300);
    let mut status = child.try_wait();
    while matches!(status, Ok(None)) && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(20));
        status = child.try_wait();
    }
    let mut parts = Vec::new();
    match (status, error) {
        (Ok(Some(status)), _) => parts.push(format!("QEMU ended ({status})")),
        (_, Some(error)) => parts.push(error.to_string()),
        _ => {}
    }
    let said = model::text::last_lines(&text(words), 3);
    if !said.is_empty() {
        parts.push(format!("QEMU said: {said}"));
    }
    let console = text(console);
    // A panic prints its reason first and pages of registers after it.
    if let Some(reason) = console.lines().find(|line| line.contains("Kernel panic")) {
        parts.push(format!("the guest's kernel panicked: {}", model::text::printable(reason.trim(), 200)));
    }
    let shown = model::text::last_lines(&console, 5);
    parts.push(if shown.is_empty() {
        "the guest's console is empty".to_owned()
    } else {
        format!("last lines of the guest's console:\n{shown}")
    });
    parts.join("; ")
}

/// 128 random bits from the kernel, hexadecimal.
pub fn nonce() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
