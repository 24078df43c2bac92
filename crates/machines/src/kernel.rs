//! Finds a kernel for guests, and prepares it for QEMU.

pub mod decompress;
pub mod image;
pub mod package;
mod version;

use crate::cache::{Cache, Kind, Stamp, hex_digest};
use crate::file_error::FileError;
use crate::modules;
use image::ImageError;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub use package::unpack_package;

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct KernelRequest {
    /// `--kernel`: a bzImage or an uncompressed vmlinux.
    pub kernel: Option<PathBuf>,
    /// `--modules`: the folder that holds this kernel's `kernel/` and `modules.builtin`.
    pub modules: Option<PathBuf>,
}

/// Where a kernel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user named it.
    Given,
    /// The host runs it.
    Running,
    /// The newest in /boot.
    Boot,
    /// A package that was unpacked into the cache.
    Cache,
}

/// A kernel that guests can boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The bzImage or vmlinux.
    pub image: PathBuf,
    /// The folder with its modules.
    pub modules_dir: PathBuf,
    /// `uname -r` of its guests.
    pub release: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Why there is no kernel to boot.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// None was found.
    #[error(
        "No kernel for guests was found in {boot} or in the cache {cache}{passed_over}. \
         Run ./setup.sh (it downloads and unpacks one, and installs nothing) or pass --kernel FILE --modules DIR"
    )]
    None {
        /// Where the system's kernels were looked for.
        boot: PathBuf,
        /// Where unpacked kernels were looked for.
        cache: PathBuf,
        /// What was found and why it does not serve, as an insertion; or nothing.
        passed_over: String,
    },
    /// Modules without a kernel.
    #[error("--modules {0} says nothing without --kernel FILE: pass both")]
    ModulesAlone(PathBuf),
    /// The file is no kernel.
    #[error("{image} cannot be booted. Pass another kernel with --kernel FILE")]
    Image {
        /// The file.
        image: PathBuf,
        /// Why not.
        #[source]
        source: ImageError,
    },
    /// There are no modules.
    #[error(
        "There are no modules of kernel {release} ({image}) in {modules}. \
         Pass --modules DIR, a folder with this kernel's 'kernel' folder and 'modules.builtin'"
    )]
    NoModules {
        /// The kernel.
        image: PathBuf,
        /// Its release.
        release: String,
        /// Where they were looked for.
        modules: PathBuf,
    },
    /// The modules belong to another kernel, which would refuse them.
    #[error(
        "{image} is kernel {release}, but the modules in {modules} are of {other}. Pass the --modules DIR of {release}"
    )]
    Mismatch {
        /// The kernel.
        image: PathBuf,
        /// Its release.
        release: String,
        /// The modules.
        modules: PathBuf,
        /// Their release.
        other: String,
    },
    /// A package that is none of a kernel.
    #[error("{deb} cannot be unpacked as a Debian kernel package (linux-image-*.deb): {why}")]
    Package {
        /// The package.
        deb: PathBuf,
        /// Why not.
        why: String,
    },
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Kernel {
    /// The kernel in `image` with the modules in `modules_dir`, once both are seen to belong together.
    pub fn open(image: &Path, modules_dir: &Path, origin: Origin) -> Result<Kernel, KernelError> {
        let release = release_of(image)?;
        if !holds_modules(modules_dir) {
            return Err(KernelError::NoModules { image: image.to_owned(), release, modules: modules_dir.to_owned() });
        }
        // Their place says what the modules are for, or else they do themselves.
        let named = modules_dir.file_name().is_some_and(|name| name == release.as_str());
        let other = if named { None } else { modules::release_of_any(modules_dir).filter(|other| *other != release) };
        match other {
            Some(other) => {
                Err(KernelError::Mismatch { image: image.to_owned(), release, modules: modules_dir.to_owned(), other })
            }
            None => Ok(Kernel { image: image.to_owned(), modules_dir: modules_dir.to_owned(), release, origin }),
        }
    }
}

/// The kernel to boot: the requested one; else the running one, if `boot` has its image; else the newest in `boot` that has
/// modules in `modules_root`; else the newest in the cache.
pub fn find(request: &KernelRequest, boot: &Path, modules_root: &Path, cache: &Cache) -> Result<Kernel, KernelError> {
    match (&request.kernel, &request.modules) {
        (Some(image), Some(modules)) => return Kernel::open(image, modules, Origin::Given),
        (Some(image), None) => return Kernel::open(image, &modules_of(image, modules_root)?, Origin::Given),
        (None, Some(modules)) => return Err(KernelError::ModulesAlone(modules.clone())),
        (None, None) => {}
    }
    let running = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut installed = releases(boot, "vmlinuz-");
    // Stable: the running one first, the others stay newest first.
    installed.sort_by_key(|release| *release != running);
    let installed = installed.into_iter().map(|release| {
        let origin = if release == running { Origin::Running } else { Origin::Boot };
        (boot.join(format!("vmlinuz-{release}")), modules_root.join(&release), origin)
    });
    let unpacked = releases(&cache.kernels(), "").into_iter().map(|release| {
        let dir = cache.kernels().join(release);
        (dir.join("vmlinuz"), dir.join("modules"), Origin::Cache)
    });
    let mut passed_over = Vec::new();
    for (image, modules, origin) in installed.chain(unpacked) {
        match Kernel::open(&image, &modules, origin) {
            Ok(kernel) => return Ok(kernel),
            Err(KernelError::NoModules { .. }) => passed_over.push(format!("{}: no modules", image.display())),
            Err(KernelError::Image { image, source }) => passed_over.push(format!("{}: {source}", image.display())),
            Err(KernelError::File(e)) => passed_over.push(format!("{}: {}", e.path.display(), e.source)),
            Err(e) => passed_over.push(e.to_string()),
        }
    }
    let passed_over = if passed_over.is_empty() { String::new() } else { format!(" ({})", passed_over.join("; ")) };
    Err(KernelError::None { boot: boot.to_owned(), cache: cache.kernels(), passed_over })
}

/// The file for QEMU's `-kernel`, in the cache: the uncompressed kernel if it has a PVH entry (it boots half a second
/// sooner), else a copy of the image itself (on some systems /boot is readable for root only, and QEMU runs without
/// privilege).
pub fn boot_image(kernel: &Kernel, cache: &Cache) -> Result<PathBuf, KernelError> {
    let image = &kernel.image;
    let question = format!("boot image 1 of {}", image.display());
    if let Some(known) = cache.recall(&question).and_then(|key| cache.get(Kind::BootImage, &key)) {
        return Ok(known);
    }
    let stamp = Stamp::of(image).map_err(FileError::on("read", image))?;
    let bytes = read(image, image::MAX_VMLINUX)?;
    let key = hex_digest(&bytes);
    let path = match cache.get(Kind::BootImage, &key) {
        Some(path) => path,
        None => {
            let broken = |source| KernelError::Image { image: image.clone(), source };
            let boot = if image::is_elf(&bytes) {
                // QEMU boots an ELF file by its PVH entry and by nothing else.
                if !image::has_pvh_entry(&bytes) {
                    return Err(broken(ImageError::NotLinux("an ELF file without a PVH entry (CONFIG_PVH=y)")));
                }
                bytes
            } else {
                image::vmlinux(&bytes).map_err(broken)?.filter(|elf| image::has_pvh_entry(elf)).unwrap_or(bytes)
            };
            cache.put::<FileError>(Kind::BootImage, &key, |file, path| {
                file.write_all(&boot).map_err(FileError::on("write", path))
            })?
        }
    };
    cache.remember(&question, vec![stamp], &key);
    Ok(path)
}

fn release_of(image: &Path) -> Result<String, KernelError> {
    let mut head = Vec::new();
    let file = File::open(image).map_err(FileError::on("open", image))?;
    file.take(image::HEAD as u64).read_to_end(&mut head).map_err(FileError::on("read", image))?;
    if image::is_elf(&head) {
        head = read(image, image::MAX_VMLINUX)?;
    }
    image::release(&head).map_err(|source| KernelError::Image { image: image.to_owned(), source })
}

fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(FileError::on("open", path))?;
    file.take(limit as u64).read_to_end(&mut bytes).map_err(FileError::on("read", path))?;
    Ok(bytes)
}

fn holds_modules(dir: &Path) -> bool {
    dir.join("kernel").is_dir() || dir.join("modules.builtin").is_file()
}

/// Where the modules of an image lie that was given alone: beside it (as in the cache), in the tree that it was unpacked
/// in, or in the system's.
fn modules_of(image: &Path, modules_root: &Path) -> Result<PathBuf, KernelError> {
    let release = release_of(image)?;
    let dir = image.parent().unwrap_or(Path::new("."));
    let places = [dir.join("modules"), dir.join("../lib/modules").join(&release), modules_root.join(&release)];
    let usual = modules_root.join(&release);
    Ok(places.into_iter().find(|place| holds_modules(place)).unwrap_or(usual))
}

/// What follows `prefix` in the names in `dir`, newest release first.
fn releases(dir: &Path, prefix: &str) -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_prefix(prefix)?.to_owned()))
        .collect();
    found.sort_by(|a, b| version::compare(b, a));
    found
}

#[cfg(test)]
mod tests;
