//! Everything that [`model::Facts`] holds, read in one go. `clock.read_seconds` is left to the agent, which measures it.

mod cpu;
mod disks;

use crate::Root;
use crate::text::{chosen, kilobytes};
use model::Facts;
use model::facts::ClockFacts;
use std::collections::BTreeMap;

/// The facts of the machine at `root`. What cannot be read is absent, or empty where the type has no room for that.
pub fn facts(root: &Root) -> Facts {
    let (kernel_release, kernel_version, architecture) = kernel(root);
    let memory = root.read("proc/meminfo").unwrap_or_default();
    let word = |path: &str| Some(chosen(&root.line(path)?)?.to_owned());
    Facts {
        hostname: root.line("proc/sys/kernel/hostname").unwrap_or_default(),
        kernel_release,
        kernel_version,
        architecture,
        os: root.read("etc/os-release").ok().and_then(|text| pretty_name(&text)),
        kernel_command_line: root.line("proc/cmdline"),
        cpu: cpu::facts(root),
        memory_total: kilobytes(&memory, "MemTotal").unwrap_or(0),
        memory_available: kilobytes(&memory, "MemAvailable").unwrap_or(0),
        clock: clock(root),
        thp_enabled: word("sys/kernel/mm/transparent_hugepage/enabled"),
        thp_defrag: word("sys/kernel/mm/transparent_hugepage/defrag"),
        io_uring: io_uring(root),
        vulnerabilities: vulnerabilities(root),
        disks: disks::facts(root),
        product: root.line("sys/class/dmi/id/product_name"),
        load_average: root.line("proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
    }
}

/// Release, version and architecture.
fn kernel(root: &Root) -> (String, String, String) {
    #[cfg(target_os = "linux")]
    if root.is_live() {
        let name = rustix::system::uname();
        let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
        return (text(name.release()), text(name.version()), text(name.machine()));
    }
    let line = |name: &str| root.line(format!("proc/sys/kernel/{name}")).unwrap_or_default();
    (line("osrelease"), line("version"), line("arch"))
}

/// PRETTY_NAME, without its quotes (os-release(5)).
fn pretty_name(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    let value = value.trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

fn clock(root: &Root) -> ClockFacts {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let available = root.line(format!("{folder}/available_clocksource")).unwrap_or_default();
    ClockFacts {
        source: root.line(format!("{folder}/current_clocksource")),
        available: available.split_whitespace().map(str::to_owned).collect(),
        read_seconds: None,
    }
}

/// Whether io_uring_setup(2) works: asked of a live kernel, because seccomp and old kernels leave no trace in /proc; else by
/// kernel.io_uring_disabled (1 allows it to some users only, so it decides nothing).
fn io_uring(root: &Root) -> Option<bool> {
    #[cfg(target_os = "linux")]
    if root.is_live() {
        use rustix::io::Errno;
        let mut params = rustix::io_uring::io_uring_params::default();
        // SAFETY: the ring is closed again without a submission, and nothing is mapped; `params` outlives the call.
        return match unsafe { rustix::io_uring::io_uring_setup(1, &mut params) } {
            Ok(_closed) => Some(true),
            Err(Errno::NOSYS | Errno::PERM | Errno::ACCESS | Errno::INVAL) => Some(false),
            // Short of descriptors or memory: that says nothing about the kernel.
            Err(_) => None,
        };
    }
    match root.number("proc/sys/kernel/io_uring_disabled") {
        Some(0) => Some(true),
        Some(2) => Some(false),
        _ => None,
    }
}

fn vulnerabilities(root: &Root) -> BTreeMap<String, String> {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    let names = root.list(folder).unwrap_or_default();
    names
        .into_iter()
        .filter_map(|name| Some((root.line(format!("{folder}/{name}"))?, name)))
        .map(|(v, n)| (n, v))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    #[test]
    fn a_made_up_machine_is_read_completely() {
        let (_folder, root) = tree(&[
            ("proc/sys/kernel/hostname", "alpha\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-9-amd64\n"),
            ("proc/sys/kernel/version", "#1 SMP\n"),
            ("proc/sys/kernel/arch", "x86_64\n"),
            ("proc/sys/kernel/io_uring_disabled", "2\n"),
            ("proc/cmdline", "quiet console=ttyS0\n"),
            ("proc/meminfo", "MemTotal:  2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n"),
            ("proc/loadavg", "0.66 0.37 0.21 2/92 10387\n"),
            ("etc/os-release", "NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise madvise [never]\n"),
            ("sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n"),
            ("sys/devices/system/clocksource/clocksource0/available_clocksource", "kvm-clock tsc acpi_pm \n"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
            ("sys/class/dmi/id/product_name", "Standard PC\n"),
        ]);
        let facts = facts(&root);
        let expected = Facts {
            hostname: "alpha".to_owned(),
            kernel_release: "6.1.0-9-amd64".to_owned(),
            kernel_version: "#1 SMP".to_owned(),
            architecture: "x86_64".to_owned(),
            os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
            kernel_command_line: Some("quiet console=ttyS0".to_owned()),
            memory_total: 2 << 20,
            memory_available: 1 << 20,
            clock: ClockFacts {
                source: Some("kvm-clock".to_owned()),
                available: ["kvm-clock", "tsc", "acpi_pm"].map(str::to_owned).to_vec(),
                read_seconds: None,
            },
            thp_enabled: Some("madvise".to_owned()),
            thp_defrag: Some("never".to_owned()),
            io_uring: Some(false),
            vulnerabilities: BTreeMap::from([("meltdown".to_owned(), "Not affected".to_owned())]),
            product: Some("Standard PC".to_owned()),
            load_average: Some(0.66),
            ..Facts::default()
        };
        assert_eq!(facts, expected);
    }

    #[test]
    fn nothing_readable_is_nothing_known() {
        let (_folder, root) = tree(&[]);
        assert_eq!(facts(&root), Facts::default());
    }

    #[test]
    fn a_switch_that_depends_on_the_user_decides_nothing() {
        let (_folder, root) = tree(&[("proc/sys/kernel/io_uring_disabled", "1\n")]);
        assert_eq!(io_uring(&root), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_is_read() {
        let facts = facts(&Root::live());
        assert!(!facts.kernel_release.is_empty() && !facts.architecture.is_empty() && !facts.hostname.is_empty());
        assert!(facts.memory_total > facts.memory_available && facts.memory_available > 0);
        assert!(facts.cpu.online >= 1 && facts.io_uring.is_some() && facts.load_average.is_some());
        assert_eq!(facts.clock.read_seconds, None);
        assert_eq!(Some(facts.kernel_release), Root::live().line("proc/sys/kernel/osrelease"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_garbage_panics(text in "(\\PC|\n|\\[|\\]|[0-9]|:|,|-){0,60}") {
            let paths = [
                "proc/meminfo", "proc/loadavg", "proc/cpuinfo", "proc/cmdline", "etc/os-release",
                "sys/kernel/mm/transparent_hugepage/enabled", "sys/devices/system/cpu/online",
                "sys/devices/system/node/online", "sys/devices/system/cpu/cpu0/topology/core_id",
                "sys/devices/system/cpu/cpu0/cache/index0/level", "sys/devices/system/cpu/cpu0/cache/index0/size",
                "sys/block/vda/size", "sys/block/vda/serial", "sys/block/vda/queue/scheduler",
                "sys/block/vda/queue/read_ahead_kb", "proc/sys/kernel/io_uring_disabled",
            ];
            let (_folder, root) = tree(&paths.map(|path| (path, text.as_str())));
            let _ = facts(&root);
        }
    }
}
