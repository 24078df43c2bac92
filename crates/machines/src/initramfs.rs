//! The guest's root file system: this program as /init, and the kernel modules that it loads.
//!
//! Layout: folders /dev (with console and null), /proc, /sys, /run, /tmp, /modules and /tools; `/init`, byte for byte the
//! given program (controller and agent compare hashes of their own executable); `/modules/NNN-<name>.ko` in load order, so
//! that PID 1 loads them in the order of their names. Uncompressed: unpacking would cost the guest more than reading.

use crate::cache::{Cache, Kind, hex_digest};
use crate::cpio::Writer;
use crate::file_error::FileError;
use crate::modules::Module;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Raised when the layout changes, so that files of an older one are not found.
const LAYOUT: u32 = 1;
/// Mount points for PID 1.
pub(crate) const FOLDERS: [&str; 7] = ["dev", "proc", "sys", "run", "tmp", "modules", "tools"];

/// The initramfs with `binary` as /init and these modules, in the cache.
pub fn build(binary: &Path, modules: &[Module], cache: &Cache) -> Result<PathBuf, FileError> {
    let expected = key(&cache.sha256(binary)?, modules);
    if let Some(path) = cache.get(Kind::Initramfs, &expected) {
        return Ok(path);
    }
    let init = fs::read(binary).map_err(FileError::on("read", binary))?;
    // By what was read now: the file may have been replaced meanwhile.
    cache.put(Kind::Initramfs, &key(&hex_digest(&init), modules), |file, path| {
        let mut out = BufWriter::new(file);
        archive(&mut out, &init, modules).and_then(|()| out.flush()).map_err(FileError::on("write", path))
    })
}

fn archive(out: &mut impl Write, init: &[u8], modules: &[Module]) -> io::Result<()> {
    let mut writer = Writer::new(out);
    for folder in FOLDERS {
        writer.directory(folder, 0o755)?;
    }
    writer.device("dev/console", 0o600, 5, 1)?;
    writer.device("dev/null", 0o666, 1, 3)?;
    writer.file("init", 0o755, init)?;
    for (i, module) in modules.iter().enumerate() {
        writer.file(&format!("modules/{i:03}-{}.ko", module.name), 0o644, &module.bytes)?;
    }
    writer.finish()?;
    Ok(())
}

fn key(binary_sha256: &str, modules: &[Module]) -> String {
    let mut text = format!("initramfs {LAYOUT}\n{binary_sha256}\n");
    for module in modules {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} {}", module.name, hex_digest(&module.bytes));
    }
    hex_digest(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpio::tests::read;
    use std::process::{Command, Stdio};

    fn modules(names: &[&str]) -> Vec<Module> {
        names.iter().map(|name| Module { name: (*name).to_owned(), bytes: name.repeat(3).into_bytes() }).collect()
    }

    #[test]
    fn init_is_unaltered_and_modules_sort_in_load_order() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(dir.path().join("cache"))).unwrap();
        let binary = dir.path().join("binary");
        fs::write(&binary, b"\x7fELF and more").unwrap();
        let path = build(&binary, &modules(&["virtio", "a_block"]), &cache).unwrap();

        let entries = read(&fs::read(&path).unwrap());
        let init = entries.iter().find(|e| e.name == "init").unwrap();
        assert_eq!((init.mode, init.contents.as_slice()), (0o100_755, b"\x7fELF and more".as_slice()));
        let mut names: Vec<&str> =
            entries.iter().map(|e| e.name.as_str()).filter(|n| n.starts_with("modules/")).collect();
        let written = names.clone();
        names.sort_unstable();
        assert_eq!(names, ["modules/000-virtio.ko", "modules/001-a_block.ko"]);
        assert_eq!(names, written);
        let console = entries.iter().find(|e| e.name == "dev/console").unwrap();
        assert_eq!((console.mode, console.device), (0o020_600, (5, 1)));
    }

    #[test]
    fn the_same_contents_give_the_same_bytes_and_others_another_file() {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("binary");
        fs::write(&binary, "one").unwrap();
        let caches = ["a", "b"].map(|name| Cache::open(Some(dir.path().join(name))).unwrap());
        let [a, b] = caches.each_ref().map(|cache| build(&binary, &modules(&["x", "y"]), cache).unwrap());
        assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        assert_eq!(a.file_name(), b.file_name());
        assert_eq!(build(&binary, &modules(&["x", "y"]), &caches[0]).unwrap(), a);
        assert_ne!(build(&binary, &modules(&["y", "x"]), &caches[0]).unwrap(), a);
        fs::write(&binary, "two").unwrap();
        assert_ne!(build(&binary, &modules(&["x", "y"]), &caches[0]).unwrap(), a);
    }

    /// GNU cpio is the reference reader; it is not everywhere, and `read` covers the rest.
    #[test]
    fn gnu_cpio_lists_the_archive_where_it_is_installed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("initramfs");
        let mut file = fs::File::create(&path).unwrap();
        archive(&mut file, b"init", &modules(&["virtio"])).unwrap();
        let cpio = Command::new("cpio")
            .args(["--list", "--quiet"])
            .stdin(fs::File::open(&path).unwrap())
            .stderr(Stdio::inherit())
            .output();
        let Ok(listed) = cpio else { return };
        assert!(listed.status.success());
        let text = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(text.lines().count(), FOLDERS.len() + 4, "{text}");
    }
}
