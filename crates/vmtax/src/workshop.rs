//! Makes everything that guests are made of: kernel image, initramfs, toolbox; and the keeper under which they live.

use crate::bits;
use anyhow::Context;
use machines::cache::Cache;
use machines::guest::Recipe;
use machines::keeper::Nursery;
use machines::kernel::{self, Kernel, KernelRequest};
use machines::lease::Lease;
use machines::toolbox::Toolbox;
use model::{Accelerator, MachineSpec};
use std::path::{Path, PathBuf};

/// Where the files of guests come from.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Sources {
    /// Kernel image of the guest [default: the running one, else the newest in /boot, else the one in the cache]
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// Modules folder of that kernel (…/lib/modules/RELEASE)
    #[arg(long, value_name = "DIR")]
    pub modules: Option<PathBuf>,
    /// QEMU program [default: qemu-system-x86_64 from PATH]
    #[arg(long, value_name = "FILE")]
    pub qemu: Option<PathBuf>,
    /// Folder for kernels and images [default: /var/cache/vmtax]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// The files and the keeper of one controller.
#[derive(Debug)]
pub struct Workshop {
    /// This binary.
    pub program: PathBuf,
    /// Its build id.
    pub build: String,
    /// The cache.
    pub cache: Cache,
    /// Starts processes.
    pub nursery: Nursery,
    /// What is to be removed at the end. Declared after the nursery, so that the processes go first.
    pub lease: Lease,
    /// QEMU.
    pub qemu: PathBuf,
    /// The guest's kernel.
    pub kernel: Kernel,
    /// The kernel as QEMU boots it.
    pub boot_image: PathBuf,
    /// The initramfs.
    pub initramfs: PathBuf,
}

/// QEMU, by flag or from PATH.
pub fn find_qemu(flag: Option<&Path>) -> anyhow::Result<PathBuf> {
    match flag {
        Some(path) if path.is_file() => Ok(path.to_owned()),
        Some(path) => anyhow::bail!("There is no QEMU at {}", path.display()),
        None => machines::elf::find_program("qemu-system-x86_64").context(
            "There is no qemu-system-x86_64 on this machine. Install it (Debian: apt-get install qemu-system-x86) or pass --qemu FILE",
        ),
    }
}

/// The guest's kernel, by flag, from /boot or from the cache.
pub fn find_kernel(sources: &Sources, cache: &Cache) -> Result<Kernel, kernel::KernelError> {
    let request = KernelRequest { kernel: sources.kernel.clone(), modules: sources.modules.clone() };
    kernel::find(&request, Path::new("/boot"), Path::new("/lib/modules"), cache)
}

impl Workshop {
    /// Finds and makes everything but the toolbox; starts the keeper.
    pub fn open(sources: &Sources) -> anyhow::Result<Self> {
        let program = bits::program()?;
        let build = bits::build_id()?;
        let qemu = find_qemu(sources.qemu.as_deref())?;
        let cache = Cache::open(sources.cache.clone())?;
        let kernel = find_kernel(sources, &cache)?;
        let boot_image = kernel::boot_image(&kernel, &cache)?;
        let modules = machines::modules::load_order(&kernel.modules_dir, machines::modules::OF_EVERY_GUEST)?;
        let initramfs = machines::initramfs::build(&program, &modules, &cache)?;
        let lease = Lease::open(&leases(&cache))?;
        let nursery = Nursery::open(&program, lease.file())?;
        Ok(Workshop { program, build, cache, nursery, lease, qemu, kernel, boot_image, initramfs })
    }

    /// An image with these programs of the host.
    pub fn toolbox(&self, programs: &[String]) -> anyhow::Result<Toolbox> {
        Ok(Toolbox::build(programs, &[], &self.cache)?)
    }

    /// What a guest of this specification is made of, without disks.
    pub fn recipe(&self, spec: &MachineSpec, accelerator: Accelerator, cpu_set: &[u32]) -> Recipe {
        Recipe {
            qemu: self.qemu.clone(),
            spec: spec.clone(),
            accelerator,
            kernel: self.boot_image.clone(),
            initramfs: self.initramfs.clone(),
            toolbox: None,
            data: None,
            cpu_set: cpu_set.to_vec(),
            build: self.build.clone(),
            kernel_words: String::new(),
        }
    }

    /// Name of the guest of a round, by which `vmtax clean` knows whose it was.
    pub fn guest_name(&self, what: &str) -> String {
        format!("{}{}-{what}", machines::lease::PREFIX, std::process::id())
    }
}

/// The folder of leases.
pub fn leases(cache: &Cache) -> PathBuf {
    cache.dir().join("leases")
}
