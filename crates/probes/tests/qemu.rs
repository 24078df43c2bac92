//! A real QEMU is read: the names of its threads, how it has its disk open, and that it is a virtual machine.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // clippy.toml allows it in tests, but does not see that these functions only serve tests

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vmtax_probes::watch::ProcessReading;
use vmtax_probes::{Root, backing, open_files, process, qemu_cost, virtual_machines};

/// QEMU with one emulated vCPU that runs the firmware, and one disk; killed in the end.
struct Qemu(Child);

impl Qemu {
    fn start(disk: &Path, cache: &str) -> Self {
        let drive = format!("file={},format=raw,if=none,id=data,cache={cache},aio=threads", disk.display());
        let child = Command::new("qemu-system-x86_64")
            .args(["-accel", "tcg", "-name", "guest=probed,debug-threads=on", "-m", "96M", "-nodefaults"])
            .args(["-display", "none", "-object", "iothread,id=io0", "-drive", &drive])
            .args(["-device", "virtio-blk-pci,drive=data,iothread=io0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("qemu-system-x86_64 must be installed to test how it is read: apt-get install qemu-system-x86");
        Qemu(child)
    }

    /// Waits for threads and disk to be there.
    fn ready(&self, disk: &Path) {
        let (root, pid) = (Root::live(), self.0.id());
        let deadline = Instant::now() + Duration::from_secs(20);
        let is_ready = || {
            let threads = process::threads(&root, pid).unwrap_or_default();
            let names = |role| threads.iter().any(|t| qemu_cost::role(&t.name) == role);
            let roles = names(qemu_cost::Role::Vcpu) && names(qemu_cost::Role::Io);
            roles && open_files::is_direct(&root, pid, disk).is_some()
        };
        while !is_ready() {
            assert!(Instant::now() < deadline, "QEMU is not ready: {:?}", process::threads(&root, pid));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A disk image, not on tmpfs, which may refuse O_DIRECT.
fn disk() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("disk.raw");
    std::fs::write(&path, vec![0; 1 << 20]).unwrap();
    (folder, path)
}

#[test]
fn its_cost_is_told_by_role_and_its_disk_as_direct() {
    let (_folder, path) = disk();
    let qemu = Qemu::start(&path, "none");
    let (root, pid) = (Root::live(), qemu.0.id());
    qemu.ready(&path);
    assert_eq!(open_files::is_direct(&root, pid, &path), Some(true));
    assert_eq!(open_files::kvm(&root, pid), Some(open_files::Kvm { device: false, vcpus: 0 }), "it is emulated");

    let before = qemu_cost::guest_cost(&root, pid).unwrap();
    let watched = ProcessReading::read(&root, pid);
    let deadline = Instant::now() + Duration::from_secs(20);
    let cost = loop {
        std::thread::sleep(Duration::from_millis(50));
        let after = qemu_cost::guest_cost(&root, pid).unwrap();
        let cost = before.until(&after);
        // Its code buffer is larger, and must not be taken for the guest's memory.
        let memory = backing::largest_mapping_backing(&root, pid).unwrap();
        assert_eq!(memory.bytes, 96 << 20, "{memory:?}");
        if cost.vcpu_seconds > 0.02 && memory.backing.resident > 0 {
            assert!(memory.backing.resident <= memory.bytes && memory.backing.huge_share().is_some(), "{memory:?}");
            assert!(before.vcpu_wait_seconds(&after).is_some_and(|wait| wait <= cost.wall_seconds));
            break cost;
        }
        assert!(Instant::now() < deadline, "the firmware takes no CPU time or memory: {cost:?} {memory:?}");
    };
    let change = watched.until(&ProcessReading::read(&root, pid));
    assert!(change.run_queue_wait_seconds.is_some() && change.wall_seconds > 0.0, "{change:?}");
    assert!(cost.cpu_seconds() <= 4.0 * cost.wall_seconds && cost.resident_bytes > 1 << 20, "{cost:?}");
}

#[test]
fn a_disk_behind_the_page_cache_is_told_and_the_machine_is_seen_by_its_name() {
    let (_folder, path) = disk();
    let qemu = Qemu::start(&path, "writeback");
    let (root, pid) = (Root::live(), qemu.0.id());
    qemu.ready(&path);
    assert_eq!(open_files::is_direct(&root, pid, &path), Some(false));

    let seen = virtual_machines::running(&root, &[]);
    let this = seen.iter().find(|vm| vm.pid == pid).unwrap();
    assert_eq!((this.program.as_str(), this.name.as_deref()), ("qemu-system-x86_64", Some("probed")));
    assert!(!virtual_machines::running(&root, &[pid]).iter().any(|vm| vm.pid == pid));
}
