//! `vmtax clean`: removes what a killed vmtax left behind, and says what.

use crate::cli::Clean;
use machines::cache::Cache;
use probes::Root;
use std::process::ExitCode;

/// Sweeps leases, half-made files of the cache, and guests whose controller is gone.
pub fn clean(args: &Clean) -> anyhow::Result<ExitCode> {
    let cache = Cache::open(args.cache.clone())?;
    let mut text = String::new();
    let mut left = false;

    for vm in probes::virtual_machines::running(&Root::live(), &[]) {
        let Some(owner) = vm.name.as_deref().and_then(owner_of) else { continue };
        if std::path::Path::new(&format!("/proc/{owner}")).exists() {
            continue;
        }
        if let Some(pid) = rustix::process::Pid::from_raw(vm.pid as i32) {
            match rustix::process::kill_process(pid, rustix::process::Signal::KILL) {
                Ok(()) => text.push_str(&format!("Ended the guest of a dead vmtax (process {})\n", vm.pid)),
                Err(e) => {
                    left = true;
                    text.push_str(&format!("Could not end the guest of a dead vmtax (process {}): {e}\n", vm.pid));
                }
            }
        }
    }
    let released = machines::lease::sweep(&crate::workshop::leases(&cache));
    for path in released.removed.iter().chain(&cache.sweep_partial()?) {
        text.push_str(&format!("Removed {}\n", path.display()));
    }
    for (path, why) in &released.left {
        left = true;
        text.push_str(&format!("Could not remove {}: {why}\n", path.display()));
    }
    super::print(if text.is_empty() { "Nothing was left behind\n" } else { &text })?;
    Ok(if left { ExitCode::from(crate::exit::FAILED) } else { ExitCode::SUCCESS })
}

/// The controller's process id in a guest's name.
fn owner_of(name: &str) -> Option<u32> {
    name.strip_prefix(machines::lease::PREFIX)?.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_names_that_vmtax_gives_have_an_owner() {
        assert_eq!(super::owner_of("vmtax-123-trial"), Some(123));
        assert_eq!(super::owner_of("web-server"), None);
        assert_eq!(super::owner_of("vmtax-mine"), None);
    }
}
