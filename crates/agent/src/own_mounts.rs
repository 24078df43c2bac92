//! What only the agent and its children see: a scratch folder on a tmpfs with the same options on every machine, so that file workloads
//! meet the same file system, and a /proc with the process ids that they know.

use std::path::Path;

/// Options of the tmpfs: room for two files of 32 MB and their like, no huge pages.
#[cfg(target_os = "linux")]
const OPTIONS: &std::ffi::CStr = c"size=160m,huge=never,mode=0700";

/// Mounts both in a mount namespace of this process's own: nobody else sees them, and they go with the process.
#[cfg(target_os = "linux")]
pub fn make(scratch: &Path) -> std::io::Result<()> {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    // SAFETY: the process has one thread yet, and only its view of mounts changes.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS)? };
    // A guest's initramfs is no mount that could be shared with anybody.
    match mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC) {
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(e) => return Err(e.into()),
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    // On the host the agent lives in the keeper's PID namespace, and the system's /proc has other ids for it and its children: their
    // counters would be read from strangers.
    let own_id = std::process::id().to_string();
    if std::fs::read_link("/proc/self").is_ok_and(|link| link.as_os_str() != own_id.as_str()) {
        mount("proc", "/proc", "proc", flags, None)?;
    }
    match mount("tmpfs", scratch, "tmpfs", flags, Some(OPTIONS)) {
        // Kernels without shmem huge pages do not know the option; there it has no meaning either.
        Err(rustix::io::Errno::INVAL) => mount("tmpfs", scratch, "tmpfs", flags, Some(c"size=160m,mode=0700"))?,
        other => other?,
    }
    Ok(())
}

/// Elsewhere the folder is used as it is.
#[cfg(not(target_os = "linux"))]
pub fn make(_scratch: &Path) -> std::io::Result<()> {
    Ok(())
}
