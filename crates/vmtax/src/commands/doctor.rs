//! `vmtax doctor`: what works on this machine, what is missing, and how noisy it is. Takes at most about 15 seconds.

use crate::cli::Doctor;
use crate::signals::Stop;
use crate::workshop::{Sources, Workshop, find_kernel, find_qemu};
use crate::{exit, host, trial};
use machines::cache::Cache;
use machines::guest::{Guest, GuestError};
use machines::local::{Local, Scratch};
use model::quantity::show_size;
use model::{Accelerator, Facts};
use probes::Root;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long a trial guest may take under KVM, so that the whole visit stays short.
const KVM_PATIENCE: Duration = Duration::from_secs(7);
/// How long the machine is watched at rest.
const WATCH: Duration = Duration::from_millis(1500);
/// A share of busy CPUs at rest above which figures suffer (statistics.md 5, "Other load").
const BUSY: f64 = 0.02;

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Good,
    Warn,
    Bad,
}

/// The visit: findings are printed as they come.
struct Visit {
    worst: Mark,
}

impl Visit {
    fn note(&mut self, mark: Mark, what: &str, detail: &str) -> anyhow::Result<()> {
        let word = match mark {
            Mark::Good => "ok     ",
            Mark::Warn => "warning",
            Mark::Bad => "missing",
        };
        let mut lines = detail.lines();
        let mut text = format!("{word}  {what:<13} {}\n", lines.next().unwrap_or_default());
        for line in lines {
            text.push_str(&format!("{:24}{line}\n", ""));
        }
        if mark == Mark::Bad || (mark == Mark::Warn && self.worst == Mark::Good) {
            self.worst = mark;
        }
        super::print(&text)
    }

    fn result<T, E: Into<anyhow::Error>>(
        &mut self,
        what: &str,
        found: Result<T, E>,
        show: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<Option<T>> {
        match found {
            Ok(found) => {
                self.note(Mark::Good, what, &show(&found))?;
                Ok(Some(found))
            }
            Err(error) => {
                self.note(Mark::Bad, what, &format!("{:#}", error.into()))?;
                Ok(None)
            }
        }
    }
}

/// Looks at everything that a study needs.
pub fn doctor(args: &Doctor) -> anyhow::Result<ExitCode> {
    let stop = Stop::install()?;
    let sources = &args.sources;
    let mut visit = Visit { worst: Mark::Good };
    let facts = probes::facts::facts(&Root::live());
    machine(&mut visit, &facts)?;
    let root = visit.result("root", host::require_root(), |()| "yes".to_owned())?.is_some();
    let qemu = visit.result("QEMU", find_qemu(sources.qemu.as_deref()), |path| path.display().to_string())?.is_some();
    for (program, package) in [("fio", "fio"), ("mke2fs", "e2fsprogs")] {
        let found = machines::elf::find_program(program)
            .ok_or_else(|| anyhow::anyhow!("not found; install it (Debian: apt-get install {package})"));
        visit.result(program, found, |path| path.display().to_string())?;
    }
    let cache = visit.result("cache", Cache::open(sources.cache.clone()), |c| c.dir().display().to_string())?;
    let kernel = match &cache {
        Some(cache) => visit.result("guest kernel", find_kernel(sources, cache), |k| {
            format!("{} ({})", k.release, k.image.display())
        })?,
        None => None,
    };
    disk(&mut visit, &args.work_dir)?;
    neighbours(&mut visit, &facts)?;
    if root && qemu && kernel.is_some() {
        guests(&mut visit, sources, &stop)?;
    } else {
        visit.note(Mark::Warn, "guests", "not tried: something that they need is missing")?;
    }
    super::print(match visit.worst {
        Mark::Good => "\nThis machine is ready: vmtax run\n",
        Mark::Warn => "\nvmtax run works here; read the warnings before you believe the figures\n",
        Mark::Bad => "\nvmtax run cannot work here until what is missing is there\n",
    })?;
    Ok(ExitCode::from(if visit.worst == Mark::Bad { exit::FAILED } else { exit::DONE }))
}

fn machine(visit: &mut Visit, facts: &Facts) -> anyhow::Result<()> {
    let cpu = &facts.cpu;
    visit.note(
        Mark::Good,
        "machine",
        &format!(
            "{}, {} CPUs, {}, Linux {}",
            cpu.model,
            cpu.online,
            show_size(facts.memory_total),
            facts.kernel_release
        ),
    )?;
    match &cpu.hypervisor {
        None => visit.note(Mark::Good, "bare metal", "yes"),
        Some(signature) => visit.note(
            Mark::Warn,
            "bare metal",
            &format!("no: this host is itself a VM ({signature}).\nWhat its own hypervisor takes is in every figure, and steals time from both sides"),
        ),
    }
}

fn disk(visit: &mut Visit, work_dir: &Path) -> anyhow::Result<()> {
    visit.result("work folder", host::require_real_disk(work_dir), |system| {
        format!("{} is on {} ({})", work_dir.display(), system.kind, system.device)
    })?;
    Ok(())
}

fn neighbours(visit: &mut Visit, facts: &Facts) -> anyhow::Result<()> {
    match host::require_quiet(false) {
        Ok(()) => visit.note(Mark::Good, "other VMs", "none")?,
        Err(error) => visit.note(Mark::Warn, "other VMs", &error.to_string())?,
    }
    let reference = model::settings::reference(facts.cpu.online);
    visit.result("memory", host::require_memory(reference.memory), |()| {
        format!("{} available", show_size(facts.memory_available))
    })?;
    let before = probes::cpu_times::CpuTimes::read(&Root::live());
    std::thread::sleep(WATCH);
    let after = probes::cpu_times::CpuTimes::read(&Root::live());
    let (Ok(before), Ok(after)) = (before, after) else {
        return visit.note(Mark::Warn, "noise", "/proc/stat cannot be read");
    };
    let watched = before.until(&after);
    let (busy, steal) = (watched.busy_share().unwrap_or(0.0), watched.steal_share().unwrap_or(0.0));
    let text =
        format!("at rest the CPUs are {:.1} % busy, {:.1} % stolen by a hypervisor above", 100.0 * busy, 100.0 * steal);
    visit.note(if busy > BUSY || steal > 0.01 { Mark::Warn } else { Mark::Good }, "noise", &text)
}

/// Boots a guest with each accelerator.
fn guests(visit: &mut Visit, sources: &Sources, stop: &Stop) -> anyhow::Result<()> {
    let Some(mut workshop) =
        visit.result("guest files", Workshop::open(sources), |w| w.boot_image.display().to_string())?
    else {
        return Ok(());
    };
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let spec = model::settings::reference(cpus);
    let cpu_set = host::cpu_set(spec.cpus)?;
    let scratch = Scratch::make(&mut workshop.lease)?;
    let boot = |accelerator, patience| {
        let recipe = workshop.recipe(&spec, accelerator, &cpu_set);
        Guest::boot(&workshop.nursery, &workshop.guest_name("doctor"), &recipe, patience, &|| stop.asked())
    };
    let ready = |guest: &Guest| format!("a guest answered {:.1} s after its start", guest.ready_seconds);
    match trial::kvm_device() {
        Err(why) => visit.note(Mark::Warn, "KVM", &format!("{why}.\nGuests will be emulated: not what KVM would cost"))?,
        Ok(()) => match boot(Accelerator::Kvm, KVM_PATIENCE) {
            Ok(guest) => visit.note(Mark::Good, "KVM", &ready(&guest))?,
            Err(GuestError::Stopped) => return Err(exit::Interrupted.into()),
            Err(error) => visit.note(
                Mark::Warn,
                "KVM",
                &format!("/dev/kvm opens, but no guest boots with it.\n{error}\nGuests will be emulated: not what KVM would cost"),
            )?,
        },
    }
    match boot(Accelerator::Tcg, trial::PATIENCE) {
        Ok(mut guest) => {
            visit.note(Mark::Good, "emulation", &ready(&guest))?;
            let inside = guest.agent.facts()?;
            let mut local =
                Local::start(&workshop.nursery, &workshop.program, scratch.path(), &cpu_set, &workshop.build)?;
            clocks(visit, &local.agent.facts()?, &inside)?;
            engines(visit, &local.agent.facts()?, &inside)
        }
        Err(GuestError::Stopped) => Err(exit::Interrupted.into()),
        Err(error) => visit.note(Mark::Bad, "emulation", &error.to_string()),
    }
}

fn clocks(visit: &mut Visit, host: &Facts, guest: &Facts) -> anyhow::Result<()> {
    let show = |facts: &Facts| {
        let cost = facts.clock.read_seconds.map_or_else(|| "?".to_owned(), |s| format!("{:.0} ns", s * 1e9));
        format!("{} ({cost} a read)", facts.clock.source.as_deref().unwrap_or("?"))
    };
    visit.note(Mark::Good, "clocks", &format!("host {}, guest {}", show(host), show(guest)))
}

fn engines(visit: &mut Visit, host: &Facts, guest: &Facts) -> anyhow::Result<()> {
    match (host.io_uring, guest.io_uring) {
        (Some(true), Some(true)) => visit.note(Mark::Good, "io_uring", "host and guest allow it"),
        _ => visit.note(Mark::Good, "io_uring", "not on both sides: fio will use libaio on both"),
    }
}
