//! From spawning QEMU to a guest that answers, against the same kernel with an init that does nothing.

use crate::idle_init;
use anyhow::Context;
use machines::cache::Cache;
use machines::guest::{Guest, Recipe};
use machines::keeper::Nursery;
use machines::kernel::{self, KernelRequest};
use machines::lease::Lease;
use machines::qemu::{Wiring, arguments};
use machines::toolbox::Toolbox;
use model::Accelerator;
use model::messages::{Reply, Request};
use model::wire::{self, Decoder};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for a guest.
const PATIENCE: Duration = Duration::from_secs(60);
/// Seconds that a guest may take longer than a kernel with an init that does nothing: without tools, with the toolbox.
const LIMITS: [f64; 2] = [0.7, 1.0];

/// The kinds of boot, in the order of their figures.
#[derive(Clone, Copy, Debug)]
enum Arm {
    Idle,
    Plain,
    Toolbox,
}

const ARMS: [Arm; 3] = [Arm::Idle, Arm::Plain, Arm::Toolbox];
/// All orders of the three, one a round, so that each follows each equally often.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0], [0, 2, 1], [1, 0, 2]];

struct Bench {
    nursery: Nursery,
    /// Without tools.
    recipe: Recipe,
    toolbox: Toolbox,
    /// With the init that does nothing.
    idle_initramfs: tempfile::NamedTempFile,
}

/// Boots each kind `rounds` times, in all orders, and prints what came of it.
pub fn measure(rounds: usize) -> anyhow::Result<()> {
    let bench = Bench::prepare()?;
    let mut seconds = [const { Vec::new() }; ARMS.len()];
    for round in 0..rounds {
        for arm in ORDERS[round % ORDERS.len()] {
            seconds[arm].push(bench.boot(ARMS[arm])?);
        }
    }
    let [idle, guests @ ..] = &seconds;
    println!(
        "Guest ready: seconds from spawning QEMU ({}), median and range of {rounds}",
        bench.recipe.accelerator.name()
    );
    println!("  an init that does nothing  {}", spread(idle));
    for ((name, guest), limit) in
        ["vmtax, without tools     ", "vmtax, fio's toolbox     "].iter().zip(guests).zip(LIMITS)
    {
        let longer: Vec<f64> = guest.iter().zip(idle).map(|(guest, idle)| guest - idle).collect();
        let interval = stats::hodges_lehmann(&longer, 0.05).map_or_else(
            || "no interval from so few".to_owned(),
            |i| format!("typically {:.2} (95 %: {:.2} to {:.2})", i.estimate, i.low, i.high),
        );
        println!("  {name}  {}  longer by {}, {interval}, limit {limit}", spread(guest), spread(&longer));
    }
    println!();
    Ok(())
}

fn spread(values: &[f64]) -> String {
    crate::spread(values, 2)
}

impl Bench {
    fn prepare() -> anyhow::Result<Self> {
        let program = crate::vmtax();
        let qemu = machines::elf::find_program("qemu-system-x86_64").context("There is no qemu-system-x86_64")?;
        let cache = Cache::open(None)?;
        let kernel = kernel::find(&KernelRequest::default(), Path::new("/boot"), Path::new("/lib/modules"), &cache)?;
        let modules = machines::modules::load_order(&kernel.modules_dir, machines::modules::OF_EVERY_GUEST)?;
        let mut idle_initramfs = tempfile::NamedTempFile::with_prefix_in("vmtax-idle-", cache.dir())?;
        idle_initramfs.write_all(&idle_init::initramfs()?)?;
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let (spec, _) = model::settings::configure(cpus, [])?;
        let lease = Lease::open(&cache.dir().join("leases"))?;
        let mut bench = Bench {
            nursery: Nursery::open(program, lease.file())?,
            recipe: Recipe {
                qemu,
                spec,
                accelerator: Accelerator::Kvm,
                kernel: kernel::boot_image(&kernel, &cache)?,
                initramfs: machines::initramfs::build(program, &modules, &cache)?,
                toolbox: None,
                data: None,
                cpu_set: Vec::new(),
                build: build_id(program)?,
                kernel_words: String::new(),
            },
            toolbox: Toolbox::build(&["fio".to_owned()], &[], &cache)?,
            idle_initramfs,
        };
        // As vmtax does: KVM counts only when a guest has booted with it.
        let kvm = Path::new("/dev/kvm").exists()
            && Guest::boot(&bench.nursery, &name(), &bench.recipe, Duration::from_secs(8), &|| false).is_ok();
        if !kvm {
            bench.recipe.accelerator = Accelerator::Tcg;
        }
        Ok(bench)
    }

    /// Seconds from spawning QEMU to the sign of life of one guest.
    fn boot(&self, arm: Arm) -> anyhow::Result<f64> {
        let mut recipe = self.recipe.clone();
        match arm {
            Arm::Idle => return self.boot_idle(),
            Arm::Plain => {}
            Arm::Toolbox => {
                recipe.toolbox = Some(self.toolbox.image.clone());
                recipe.kernel_words = "vmtax.toolbox".to_owned();
            }
        }
        Ok(Guest::boot(&self.nursery, &name(), &recipe, PATIENCE, &|| false)?.ready_seconds)
    }

    /// The same QEMU without any device but the serial console.
    fn boot_idle(&self) -> anyhow::Result<f64> {
        let (mut console, theirs) = UnixStream::pair()?;
        console.set_read_timeout(Some(PATIENCE))?;
        // Unlike the original a duplicate outlives exec.
        let inherited = rustix::io::dup(OwnedFd::from(theirs))?;
        let wiring = Wiring {
            name: &name(),
            accelerator: self.recipe.accelerator,
            kernel: &self.recipe.kernel,
            initramfs: self.idle_initramfs.path(),
            toolbox: None,
            data_fd: None,
            console_fd: inherited.as_raw_fd(),
            qmp_fd: -1,
            agent_fd: -1,
            kernel_words: &self.recipe.kernel_words,
        };
        let mut args = arguments(&self.recipe.spec, &wiring);
        let devices = args.iter().position(|arg| arg.starts_with("socket,id=qmp"));
        args.truncate(devices.context("QEMU's arguments have no QMP socket, after which the devices come")? - 1);
        let mut command = Command::new(&self.recipe.qemu);
        command.args(&args).stdin(Stdio::null()).stdout(Stdio::null()).env_clear();

        let start = Instant::now();
        let mut qemu = self.nursery.spawn(command)?;
        drop(inherited);
        let heard = hear(&mut console, idle_init::WORD);
        let seconds = start.elapsed().as_secs_f64();
        qemu.kill()?;
        qemu.wait()?;
        heard.context("The kernel with an idle init did not come up")?;
        Ok(seconds)
    }
}

/// Reads until a word comes.
fn hear(console: &mut impl Read, word: &[u8]) -> std::io::Result<()> {
    let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
    while !heard.windows(word.len()).any(|part| part == word) {
        match console.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => heard.extend_from_slice(&buffer[..n]),
        }
    }
    Ok(())
}

fn name() -> String {
    format!("{}{}-bench", machines::lease::PREFIX, std::process::id())
}

/// The build id of the binary, by its own agent's word.
fn build_id(program: &Path) -> anyhow::Result<String> {
    let scratch = tempfile::tempdir()?;
    let mut agent = Command::new(program);
    agent.arg("agent").arg("--scratch").arg(scratch.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.spawn().context("Could not start the agent")?;
    let hello = Request::Hello { nonce: String::new(), build: String::new() };
    agent.stdin.take().context("The agent has no standard input")?.write_all(&wire::encode(&hello)?)?;
    let mut said = Vec::new();
    agent.stdout.take().context("The agent has no standard output")?.read_to_end(&mut said)?;
    agent.wait()?;
    let mut decoder = Decoder::default();
    decoder.push(&said);
    match decoder.next_frame()?.context("The agent said nothing")?.message()? {
        Reply::Hello { build, .. } => Ok(build),
        other => anyhow::bail!("The agent answered {other:?}"),
    }
}
