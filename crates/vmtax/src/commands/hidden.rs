//! What the binary does for itself: the agent, its worker, the keeper, the set-up's kernel.

use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Serves a controller over standard input and output.
pub fn agent(scratch: &Path) -> anyhow::Result<ExitCode> {
    agent::own_mounts::make(scratch)
        .map_err(|e| anyhow::anyhow!("Could not mount a tmpfs on {} and an own /proc: {e}", scratch.display()))?;
    let is_port = rustix::fs::fstat(std::io::stdin().as_fd())
        .is_ok_and(|meta| rustix::fs::FileType::from_raw_mode(meta.st_mode) == rustix::fs::FileType::CharacterDevice);
    // Unlocked and unbuffered: the standard handles would buffer a frame until a newline.
    let input = std::fs::File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let output: Box<dyn Write + Send> = Box::new(std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned()?));
    agent::serve::serve(input, output, scratch, &crate::bits::build_id()?, is_port)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs one workload for an agent.
pub fn worker() -> anyhow::Result<ExitCode> {
    agent::worker::run(std::io::stdin().lock(), std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

/// Owns a controller's processes until it ends.
pub fn keeper(lease: &Path) -> anyhow::Result<ExitCode> {
    machines::keeper::guard(lease);
    Ok(ExitCode::SUCCESS)
}

/// Says which kernel guests would boot; unpacks a package into the cache first.
pub fn guest_kernel(package: Option<&Path>, cache: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let cache = machines::cache::Cache::open(cache)?;
    let kernel = match package {
        Some(package) => machines::kernel::unpack_package(package, &cache)?,
        None => crate::workshop::find_kernel(&crate::workshop::Sources::default(), &cache)?,
    };
    super::print(&format!("{} {}\n", kernel.release, kernel.image.display()))?;
    Ok(ExitCode::SUCCESS)
}
