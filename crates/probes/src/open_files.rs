//! How a process has a file open: with O_DIRECT or through the page cache. The difference between a disk's figures and memory's.

use crate::Root;
use crate::text::field;
use std::fs::Metadata;
use std::io;
use std::path::Path;

/// A descriptor on the file that was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// Its number.
    pub descriptor: u32,
    /// O_DIRECT: reads and writes go around the page cache.
    pub direct: bool,
    /// Open for writing.
    pub writable: bool,
}

/// The descriptors of `pid` that are open on the file at `path`: by the name that /proc gives, or as the same inode of the same device (a
/// descriptor can be handed over, or the name can have changed).
pub fn open_files(root: &Root, pid: u32, path: &Path) -> io::Result<Vec<OpenFile>> {
    let folder = Path::new("proc").join(pid.to_string());
    let wanted = std::fs::metadata(root.path(path)).ok();
    let mut found = Vec::new();
    for name in root.list(folder.join("fd"))? {
        let link = root.path(folder.join("fd").join(&name));
        let by_name = std::fs::read_link(&link).is_ok_and(|target| target == path);
        // Opening or stating the link would follow it out of a made-up root.
        let by_inode = || {
            root.is_live()
                && wanted.as_ref().is_some_and(|wanted| std::fs::metadata(&link).is_ok_and(|m| is_same(wanted, &m)))
        };
        if !by_name && !by_inode() {
            continue;
        }
        // The descriptor may be closed by now: then it is none.
        let flags = root.read(folder.join("fdinfo").join(&name)).ok().and_then(|text| parse_flags(&text));
        if let (Some(flags), Ok(descriptor)) = (flags, name.parse()) {
            found.push(OpenFile { descriptor, direct: flags & DIRECT != 0, writable: flags & ACCESS_MODE != 0 });
        }
    }
    Ok(found)
}

/// True where every descriptor of `pid` on that file is O_DIRECT, false where one is not; none where it has none open, or may not
/// be looked at.
pub fn is_direct(root: &Root, pid: u32, path: &Path) -> Option<bool> {
    let files = open_files(root, pid, path).ok()?;
    (!files.is_empty()).then(|| files.iter().all(|file| file.direct))
}

/// What a process has open of KVM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kvm {
    /// /dev/kvm itself.
    pub device: bool,
    /// Virtual CPUs, which the kernel runs for it: none of them means that the guest is emulated, whatever was asked for.
    pub vcpus: u32,
}

/// The descriptors on KVM of `pid`; none where it has ended or may not be looked at.
pub fn kvm(root: &Root, pid: u32) -> Option<Kvm> {
    let folder = Path::new("proc").join(pid.to_string()).join("fd");
    let mut kvm = Kvm::default();
    for name in root.list(&folder).ok()? {
        // The descriptor may be closed by now.
        let Ok(target) = std::fs::read_link(root.path(folder.join(name))) else { continue };
        let target = target.to_string_lossy();
        kvm.device |= target == "/dev/kvm";
        kvm.vcpus += u32::from(target.starts_with("anon_inode:kvm-vcpu:") || target == "anon_inode:kvm-vcpu");
    }
    Some(kvm)
}

/// O_WRONLY or O_RDWR.
const ACCESS_MODE: u32 = 0o3;

/// The architecture's O_DIRECT (040000 on x86, 0200000 on arm64).
#[cfg(target_os = "linux")]
const DIRECT: u32 = rustix::fs::OFlags::DIRECT.bits();
#[cfg(not(target_os = "linux"))]
const DIRECT: u32 = 0o40000;

/// `flags:` of an fdinfo file (octal; proc_pid_fdinfo(5)).
fn parse_flags(text: &str) -> Option<u32> {
    u32::from_str_radix(field(text, "flags")?, 8).ok()
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;
    use rustix::fs::{Mode, OFlags};

    #[test]
    fn descriptors_are_found_by_name_in_a_made_up_process() {
        let (_folder, root) = tree(&[
            ("proc/7/fdinfo/3", &format!("pos:\t0\nflags:\t0{:o}\nmnt_id:\t27\n", DIRECT | 0o100_002)),
            ("proc/7/fdinfo/4", "pos:\t0\nflags:\t0100000\n"),
            ("proc/7/fdinfo/5", "pos:\t0\nflags:\t0100000\n"),
            ("proc/7/fd/.keep", ""),
        ]);
        for (number, target) in
            [("3", "/data/disk.raw"), ("4", "/data/disk.raw"), ("5", "/dev/null"), ("6", "/data/disk.raw")]
        {
            std::os::unix::fs::symlink(target, root.path("proc/7/fd").join(number)).unwrap();
        }
        let disk = Path::new("/data/disk.raw");
        assert_eq!(
            open_files(&root, 7, disk).unwrap(),
            [
                OpenFile { descriptor: 3, direct: true, writable: true },
                OpenFile { descriptor: 4, direct: false, writable: false },
            ]
        );
        assert_eq!(is_direct(&root, 7, disk), Some(false), "one buffered descriptor is enough");
        assert_eq!(is_direct(&root, 7, Path::new("/data/other.raw")), None);
        assert_eq!(is_direct(&root, 8, disk), None);
    }

    #[test]
    fn virtual_cpus_of_kvm_are_counted() {
        let (_folder, root) = tree(&[("proc/7/fd/.keep", ""), ("proc/8/fd/.keep", "")]);
        for (number, target) in [
            ("3", "/dev/kvm"),
            ("4", "anon_inode:kvm-vm"),
            ("5", "anon_inode:kvm-vcpu:0"),
            ("6", "anon_inode:kvm-vcpu:1"),
        ] {
            std::os::unix::fs::symlink(target, root.path("proc/7/fd").join(number)).unwrap();
        }
        assert_eq!(kvm(&root, 7), Some(Kvm { device: true, vcpus: 2 }));
        assert_eq!(kvm(&root, 8), Some(Kvm { device: false, vcpus: 0 }), "emulated");
        assert_eq!(kvm(&root, 9), None);
    }

    #[test]
    fn a_live_descriptor_is_found_even_after_its_file_was_renamed() {
        // Not in the temporary folder: tmpfs may refuse O_DIRECT.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let open = |flags| rustix::fs::open(&old, flags | OFlags::CREATE, Mode::RUSR | Mode::WUSR).unwrap();
        let (root, pid) = (Root::live(), std::process::id());
        let direct = open(OFlags::RDWR | OFlags::DIRECT);
        assert_eq!(is_direct(&root, pid, &old), Some(true));
        std::fs::rename(&old, &new).unwrap();
        std::fs::hard_link(&new, &old).unwrap();
        assert_eq!(is_direct(&root, pid, &old), Some(true));
        let buffered = open(OFlags::RDONLY);
        assert_eq!(is_direct(&root, pid, &new), Some(false));
        drop((direct, buffered));
        assert_eq!(is_direct(&root, pid, &new), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(flags:|[0-9]{0,14}|\t|\n|\\PC){0,10}") {
            let _ = parse_flags(&text);
        }
    }
}
