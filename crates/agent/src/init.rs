//! Process 1 of a guest: mounts, loads modules, finds the agent's port, starts the agent, reaps, powers off.

use model::machine::AGENT_PORT;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for a device to appear.
const PATIENCE: Duration = Duration::from_secs(20);

/// (source, target, type, flags, data)
const MOUNTS: &[(&str, &str, &str, MountFlags, &str)] = &[
    ("devtmpfs", "/dev", "devtmpfs", MountFlags::NOSUID, "mode=0755"),
    ("proc", "/proc", "proc", MountFlags::NOSUID, ""),
    ("sysfs", "/sys", "sysfs", MountFlags::NOSUID, ""),
    ("tmpfs", "/run", "tmpfs", MountFlags::NOSUID, "mode=0755"),
];

/// Runs the guest. Returns only in an error, which has then been printed on the console.
pub fn run() {
    if let Err(why) = live() {
        eprintln!("vmtax init: {why}");
        // Time for the console to leave the machine.
        std::thread::sleep(Duration::from_millis(100));
    }
    let _ = reboot(RebootCommand::PowerOff);
}

/// The life of a guest (order is important here).
fn live() -> Result<(), String> {
    mount_kernel_file_systems()?;
    load_modules(Path::new("/modules"))?;
    let port = wait_for_port()?;
    mount_toolbox()?;
    let agent = start_agent(&port)?;
    reap_until(agent)
}

fn mount_kernel_file_systems() -> Result<(), String> {
    for (source, target, kind, flags, data) in MOUNTS {
        let _ = fs::create_dir_all(target);
        let data = std::ffi::CString::new(*data).unwrap_or_default();
        mount(*source, *target, *kind, *flags, Some(data.as_c_str()))
            .map_err(|e| format!("cannot mount {target}: {e}"))?;
    }
    // Tools expect it (shared memory of fio's engines).
    let _ = fs::create_dir_all("/dev/shm");
    mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::NOSUID, None).map_err(|e| format!("cannot mount /dev/shm: {e}"))
}

/// Loads every file of `folder` in order of name, which is the order of dependencies.
fn load_modules(folder: &Path) -> Result<(), String> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    for path in files {
        let file = fs::File::open(&path).map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        match rustix::system::finit_module(&file, c"", 0) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(format!("cannot load the kernel module {}: {e}", path.display())),
        }
    }
    Ok(())
}

/// Waits for a fact with a deadline.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, String> {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() > limit {
            return Err(format!("no {what} appeared within {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn read_trimmed(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn wait_for_port() -> Result<PathBuf, String> {
    wait_for("virtio-serial port for the agent", || {
        let ports = fs::read_dir("/sys/class/virtio-ports").ok()?;
        let port = ports.flatten().find(|p| read_trimmed(&p.path().join("name")).as_deref() == Some(AGENT_PORT))?;
        let device = Path::new("/dev").join(port.file_name());
        device.exists().then_some(device)
    })
}

fn disk_with_serial(serial: &str) -> Option<PathBuf> {
    let disks = fs::read_dir("/sys/block").ok()?;
    let disk = disks.flatten().find(|d| read_trimmed(&d.path().join("serial")).as_deref() == Some(serial))?;
    let device = Path::new("/dev").join(disk.file_name());
    device.exists().then_some(device)
}

/// Mounts the toolbox and makes its root directories appear at /, so that programs, loaders and libraries are found under the same
/// paths as on the host.
fn mount_toolbox() -> Result<(), String> {
    let words = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    if !words.split_whitespace().any(|word| word == "vmtax.toolbox") {
        return Ok(());
    }
    let device = wait_for("disk with the tools", || disk_with_serial(model::machine::TOOLBOX_SERIAL))?;
    let tools = Path::new("/tools");
    let _ = fs::create_dir_all(tools);
    // ext4 also reads ext2; whichever the kernel has.
    let mounted = ["ext4", "ext2"]
        .iter()
        .map(|kind| mount(&device, tools, *kind, MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOATIME, None))
        .find_map(Result::ok);
    mounted.ok_or_else(|| format!("cannot mount the tools from {}", device.display()))?;
    for entry in fs::read_dir(tools).into_iter().flatten().flatten() {
        let link = Path::new("/").join(entry.file_name());
        if !link.exists() {
            std::os::unix::fs::symlink(entry.path(), &link)
                .map_err(|e| format!("cannot make {} point to the tools: {e}", link.display()))?;
        }
    }
    Ok(())
}

fn start_agent(port: &Path) -> Result<u32, String> {
    let fail = |e: io::Error| format!("cannot start the agent on {}: {e}", port.display());
    let input = fs::File::options().read(true).write(true).open(port).map_err(fail)?;
    let output = input.try_clone().map_err(fail)?;
    let child = Command::new("/init")
        .arg0("vmtax")
        .args([crate::AGENT_SUBCOMMAND, "--scratch", "/tmp"])
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .spawn()
        .map_err(fail)?;
    Ok(child.id())
}

/// Reaps orphans until the agent ends.
fn reap_until(agent: u32) -> Result<(), String> {
    loop {
        match rustix::process::wait(rustix::process::WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() as u32 == agent => {
                return match status.exit_status() {
                    Some(0) => Ok(()),
                    _ => Err(format!("the agent ended: {status:?}")),
                };
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(format!("cannot wait for the agent: {e}")),
        }
    }
}
