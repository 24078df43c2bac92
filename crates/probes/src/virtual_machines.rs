//! Other virtual machines that run on this host: they disturb what is measured.

use crate::Root;
use std::path::{Path, PathBuf};

/// A virtual machine monitor at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningVm {
    /// Its process.
    pub pid: u32,
    /// Its program, for example `qemu-system-x86_64`.
    pub program: String,
    /// The name that it gave the machine, where its command line has one.
    pub name: Option<String>,
}

/// Programs that run one virtual machine per process. (Names longer than 15 bytes are cut where only the kernel's name of the process can be
/// read.)
const MONITORS: &[&str] = &[
    "qemu-kvm",
    "kvm",
    "cloud-hypervisor",
    "cloud-hyperviso",
    "firecracker",
    "crosvm",
    "VBoxHeadless",
    "VirtualBoxVM",
    "vmware-vmx",
];

/// The monitors among the live processes, by pid, without those of `exclude`.
pub fn running(root: &Root, exclude: &[u32]) -> Vec<RunningVm> {
    let names = root.list("proc").unwrap_or_default();
    let mut pids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    pids.into_iter().filter(|pid| !exclude.contains(pid)).filter_map(|pid| monitor(root, pid)).collect()
}

fn monitor(root: &Root, pid: u32) -> Option<RunningVm> {
    let folder = PathBuf::from(format!("proc/{pid}"));
    let program = program(root, &folder)?;
    let is_monitor = program.starts_with("qemu-system-") || MONITORS.contains(&program.as_str());
    if !is_monitor {
        return None;
    }
    // Kernel threads (one is called kvm-…) and the dead have no command line.
    let command = root.read(folder.join("cmdline")).ok().filter(|line| !line.is_empty())?;
    let arguments: Vec<&str> = command.split('\0').collect();
    let name =
        arguments.windows(2).find(|pair| matches!(pair[0], "-name" | "--name")).and_then(|pair| guest_name(pair[1]));
    Some(RunningVm { pid, program, name })
}

/// The file that the process executes, else what the kernel calls it.
fn program(root: &Root, folder: &Path) -> Option<String> {
    let executed = std::fs::read_link(root.path(folder.join("exe"))).ok();
    let name = executed.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    match name {
        // The program was replaced while it ran.
        Some(name) => Some(name.strip_suffix(" (deleted)").unwrap_or(name).to_owned()),
        None => root.line(folder.join("comm")),
    }
}

/// The name in QEMU's `-name [guest=]NAME[,…]`, in which a comma of the name is doubled.
fn guest_name(value: &str) -> Option<String> {
    let mut options = vec![String::new()];
    let mut rest = value.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, options.last_mut()) {
            (',', Some(option)) if rest.peek() == Some(&',') => option.extend(rest.next()),
            (',', _) => options.push(String::new()),
            (c, Some(option)) => option.push(c),
            (_, None) => {}
        }
    }
    let explicit = options.iter().find_map(|option| option.strip_prefix("guest="));
    let name = explicit.or_else(|| options.first().map(String::as_str).filter(|first| !first.contains('=')));
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    #[cfg(unix)]
    #[test]
    fn monitors_are_found_and_those_of_our_own_left_out() {
        let (_folder, root) = tree(&[
            ("proc/10/cmdline", "/usr/bin/qemu-system-x86_64\0-name\0guest=web,debug-threads=on\0-smp\0"),
            ("proc/10/comm", "qemu-system-x86\n"),
            ("proc/11/cmdline", "cloud-hypervisor\0--kernel\0x\0"),
            ("proc/11/comm", "cloud-hyperviso\n"),
            ("proc/12/cmdline", ""),
            ("proc/12/comm", "kvm\n"),
            ("proc/13/cmdline", "vim\0qemu-system-x86_64\0"),
            ("proc/13/comm", "vim\n"),
            ("proc/9/cmdline", "/usr/bin/kvm\0-name\0db\0"),
            ("proc/9/comm", "kvm\n"),
            ("proc/self/comm", "kvm\n"),
        ]);
        std::os::unix::fs::symlink("/usr/bin/qemu-system-x86_64 (deleted)", root.path("proc/10/exe")).unwrap();
        let vm = |pid, program: &str, name: Option<&str>| RunningVm {
            pid,
            program: program.to_owned(),
            name: name.map(str::to_owned),
        };
        let others = [vm(9, "kvm", Some("db")), vm(11, "cloud-hyperviso", None)];
        assert_eq!(running(&root, &[10]), others);
        assert_eq!(running(&root, &[9, 11]), [vm(10, "qemu-system-x86_64", Some("web"))]);
    }

    #[test]
    fn names_are_read_as_qemu_reads_them() {
        assert_eq!(guest_name("db").as_deref(), Some("db"));
        assert_eq!(guest_name("guest=a,,b,debug-threads=on").as_deref(), Some("a,b"));
        assert_eq!(guest_name("debug-threads=on,guest=c").as_deref(), Some("c"));
        assert_eq!((guest_name("debug-threads=on"), guest_name("")), (None, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(text in "(,|=|guest|\\PC){0,12}", command in "(-name|\0|,|\\PC){0,12}") {
            let _ = guest_name(&text);
            let (_folder, root) = tree(&[("proc/1/comm", "kvm"), ("proc/1/cmdline", &command)]);
            let _ = running(&root, &[]);
        }
    }
}
