//! Is it safe and sensible to measure here? Each refusal says what was found and what to do.

use crate::exit::Usage;
use model::quantity::show_size;
use probes::Root;
use std::path::Path;

/// Refuses without root: the keeper's namespace, the tmpfs of the host's agent and the counters of QEMU need it.
pub fn require_root() -> anyhow::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    anyhow::bail!(
        "vmtax must run as root (sudo vmtax …): it keeps all processes in a namespace of their own, so that nothing is left \
         behind, and reads QEMU's counters. The guest itself runs unprivileged"
    )
}

/// Refuses where the guest would leave the host less memory than it takes.
pub fn require_memory(guest: u64) -> anyhow::Result<()> {
    let root = Root::live();
    let Some(available) = probes::memory::available(&root) else { return Ok(()) };
    if available < 2 * guest {
        anyhow::bail!(
            "Only {} of memory are available on this host, and a guest of {} needs twice as much to be safe. \
             End something, or make the guest smaller (--set vm.memory=…)",
            show_size(available),
            show_size(guest)
        );
    }
    Ok(())
}

/// Refuses where other VMs run, because they would be measured too, and disturbed.
pub fn require_quiet(busy_host: bool) -> anyhow::Result<()> {
    let others = probes::virtual_machines::running(&Root::live(), &[]);
    if others.is_empty() || busy_host {
        return Ok(());
    }
    let names: Vec<String> = others
        .iter()
        .take(5)
        .map(|vm| {
            let name = vm.name.as_deref().map(|n| model::text::printable(n, 40)).unwrap_or_default();
            format!("{} {} (process {})", vm.program, name, vm.pid).replace("  ", " ")
        })
        .collect();
    anyhow::bail!(
        "Other VMs run on this host: {}{}. They would disturb the measurement and be disturbed by it. \
         Stop or move them, or add --busy-host",
        names.join(", "),
        if others.len() > 5 { ", …" } else { "" }
    )
}

/// Refuses a work folder on which a disk figure would be a lie.
pub fn require_real_disk(folder: &Path) -> anyhow::Result<probes::file_system::FileSystem> {
    let system = probes::file_system::of_path(&Root::live(), folder)
        .ok_or_else(|| anyhow::anyhow!("Could not find out which file system {} is on", folder.display()))?;
    if let Some(why) = system.refuses_disk_figures() {
        anyhow::bail!(
            "{} is on {} ({}), where a disk figure would be a lie: {why}. Pass --work-dir DIR with a folder on a real disk, \
             or measure without disk benchmarks (--suite cpu --suite memory)",
            folder.display(),
            system.kind,
            system.mount_point.display()
        );
    }
    Ok(system)
}

/// The CPUs for both sides: as many as the guest has vCPUs, each on a core of its own as long as cores last, all on the node of the
/// first one as long as that has enough.
pub fn cpu_set(vcpus: u32) -> anyhow::Result<Vec<u32>> {
    let chosen = probes::topology::spread_over_cores(&Root::live(), vcpus as usize);
    if chosen.len() < vcpus as usize {
        return Err(Usage(format!(
            "The guest has {vcpus} vCPUs, and vmtax may use only {} CPUs of this host. Make it smaller (--set vm.cpus={})",
            chosen.len(),
            chosen.len().max(1)
        ))
        .into());
    }
    Ok(chosen)
}
