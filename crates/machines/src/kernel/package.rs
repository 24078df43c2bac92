//! Unpacks a Debian kernel package into the cache. Nothing is installed and /boot is not touched: on a hypervisor that
//! could change what boots next.

use super::{Kernel, KernelError, Origin};
use crate::cache::{Cache, make_folder, sync_folder};
use crate::file_error::FileError;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks `deb` (a linux-image package) to `<cache>/kernels/<release>/{vmlinuz,modules/}`, in place of what is there for
/// this release.
pub fn unpack_package(deb: &Path, cache: &Cache) -> Result<Kernel, KernelError> {
    let work = cache.partial_folder()?;
    let (tree, ready) = (work.path().join("tree"), work.path().join("ready"));
    extract(deb, &tree)?;
    let not_kernel = |why: &str| KernelError::Package { deb: deb.to_owned(), why: why.to_owned() };
    let image = only_entry(&tree.join("boot"), "vmlinuz-").ok_or_else(|| not_kernel("it holds no boot/vmlinuz-*"))?;
    let modules = ["lib/modules", "usr/lib/modules"]
        .iter()
        .find_map(|dir| only_entry(&tree.join(dir), ""))
        .ok_or_else(|| not_kernel("it holds no lib/modules/*"))?;

    make_folder(&ready)?;
    rename(&image, &ready.join("vmlinuz"))?;
    rename(&modules, &ready.join("modules"))?;
    let readable = Permissions::from_mode(0o644);
    fs::set_permissions(ready.join("vmlinuz"), readable).map_err(FileError::on("write", &ready))?;
    let unpacked = Kernel::open(&ready.join("vmlinuz"), &ready.join("modules"), Origin::Cache)?;

    make_folder(&cache.kernels())?;
    let place = cache.kernels().join(&unpacked.release);
    if place.exists() {
        rename(&place, &work.path().join("replaced"))?;
    }
    rename(&ready, &place)?;
    sync_folder(&cache.kernels())?;
    Kernel::open(&place.join("vmlinuz"), &place.join("modules"), Origin::Cache)
}

fn extract(deb: &Path, tree: &Path) -> Result<(), KernelError> {
    let failed = |why: String| KernelError::Package { deb: deb.to_owned(), why };
    fs::metadata(deb).map_err(FileError::on("read", deb))?;
    let output = Command::new("dpkg-deb")
        .arg("-x")
        .args([deb, tree])
        .output()
        .map_err(|e| failed(format!("dpkg-deb (package dpkg) cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(format!("dpkg-deb says: {}", model::text::last_lines(&String::from_utf8_lossy(&output.stderr), 3))))
}

/// The one entry of `dir` whose name begins with `prefix`.
fn only_entry(dir: &Path, prefix: &str) -> Option<PathBuf> {
    let mut found =
        fs::read_dir(dir).ok()?.flatten().filter(|e| e.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()));
    let first = found.next()?;
    found.next().is_none().then(|| first.path())
}

fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::on("create", to))
}
