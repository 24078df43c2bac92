//! The scratch folder: a tmpfs with the same options on every machine, so that file workloads meet the same file system.

use std::path::Path;

/// Options of the tmpfs: room for two files of 32 MB and their like, no huge pages.
#[cfg(target_os = "linux")]
const OPTIONS: &std::ffi::CStr = c"size=160m,huge=never,mode=0700";

/// Mounts a tmpfs on `folder` in a mount namespace of this process's own: nobody else sees it, and it goes with the process.
#[cfg(target_os = "linux")]
pub fn mount(folder: &Path) -> std::io::Result<()> {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    // SAFETY: the process has one thread yet, and only its view of mounts changes.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS)? };
    // A guest's initramfs is no mount that could be shared with anybody.
    match mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC) {
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(e) => return Err(e.into()),
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    match mount("tmpfs", folder, "tmpfs", flags, Some(OPTIONS)) {
        // Kernels without shmem huge pages do not know the option; there it has no meaning either.
        Err(rustix::io::Errno::INVAL) => mount("tmpfs", folder, "tmpfs", flags, Some(c"size=160m,mode=0700"))?,
        other => other?,
    }
    Ok(())
}

/// Elsewhere the folder is used as it is.
#[cfg(not(target_os = "linux"))]
pub fn mount(_folder: &Path) -> std::io::Result<()> {
    Ok(())
}
