//! The command line of QEMU for a [`MachineSpec`]. Pure: it starts nothing and opens nothing.

use model::machine::{AGENT_PORT, DATA_SERIAL, TOOLBOX_SERIAL};
use model::{Accelerator, MachineSpec};
use std::path::Path;

/// Everything beside the specification that the command line needs. Descriptors are numbers in the new process.
#[derive(Clone, Copy, Debug)]
pub struct Wiring<'a> {
    /// Name of the guest, with the `vmtax-` prefix.
    pub name: &'a str,
    /// Who executes guest instructions.
    pub accelerator: Accelerator,
    /// Kernel image.
    pub kernel: &'a Path,
    /// Initramfs.
    pub initramfs: &'a Path,
    /// Read-only image with the tools.
    pub toolbox: Option<&'a Path>,
    /// Descriptor of the data disk's image, open for reading and writing.
    pub data_fd: Option<i32>,
    /// Socket of the serial console.
    pub console_fd: i32,
    /// Socket of QMP.
    pub qmp_fd: i32,
    /// Socket of the agent's port.
    pub agent_fd: i32,
    /// Words added to the kernel's command line.
    pub kernel_words: &'a str,
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// QEMU's own escaping: a comma in a value is written twice.
fn value(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

/// Arguments for `qemu-system-x86_64`, without the program itself.
pub fn arguments(spec: &MachineSpec, wiring: &Wiring<'_>) -> Vec<String> {
    let mut args: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| args.extend(words.iter().map(|w| (*w).to_owned()));
    add(&["-name", &format!("guest={},debug-threads=on", wiring.name)]);
    add(&["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
    add(&["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"]);
    add(&["-machine", &format!("{},usb=off,dump-guest-core=off", spec.machine)]);
    add(&[
        "-accel",
        match wiring.accelerator {
            Accelerator::Kvm => "kvm",
            // Without it all vCPUs share one thread.
            Accelerator::Tcg => "tcg,thread=multi",
        },
    ]);
    add(&["-cpu", spec.qemu_cpu_model(wiring.accelerator)]);
    add(&["-smp", &format!("{0},sockets=1,cores={0},threads=1", spec.cpus)]);
    add(&["-m", &format!("size={}k", spec.memory / 1024)]);
    add(&["-kernel", &wiring.kernel.display().to_string()]);
    add(&["-initrd", &wiring.initramfs.display().to_string()]);
    // panic=-1 with -no-reboot: a guest that panics ends QEMU at once, with the panic on its console.
    add(&[
        "-append",
        format!("console=ttyS0 loglevel=4 panic=-1 random.trust_cpu=on {}", wiring.kernel_words).trim_end(),
    ]);
    add(&["-chardev", &format!("socket,id=console,fd={}", wiring.console_fd), "-serial", "chardev:console"]);
    add(&["-chardev", &format!("socket,id=qmp,fd={}", wiring.qmp_fd), "-mon", "chardev=qmp,mode=control"]);
    add(&["-device", "virtio-serial-pci,id=ports"]);
    add(&["-chardev", &format!("socket,id=agent,fd={}", wiring.agent_fd)]);
    add(&["-device", &format!("virtserialport,bus=ports.0,chardev=agent,name={AGENT_PORT}")]);
    if let Some(toolbox) = wiring.toolbox {
        add(&["-blockdev", &format!("driver=file,node-name=tools-file,read-only=on,filename={}", value(toolbox))]);
        add(&["-blockdev", "driver=raw,node-name=tools,read-only=on,file=tools-file"]);
        add(&["-device", &format!("virtio-blk-pci,drive=tools,serial={TOOLBOX_SERIAL}")]);
    }
    if let Some(fd) = wiring.data_fd {
        let disk = &spec.disk;
        let cache =
            format!("cache.direct={},cache.no-flush={}", on_off(disk.cache.direct()), on_off(disk.cache.no_flush()));
        add(&["-add-fd", &format!("fd={fd},set=1,opaque=data")]);
        add(&[
            "-blockdev",
            &format!("driver=file,node-name=data-file,filename=/dev/fdset/1,aio={},{cache}", disk.aio.name()),
        ]);
        add(&["-blockdev", &format!("driver=raw,node-name=data,file=data-file,{cache}")]);
        let mut device = format!(
            "virtio-blk-pci,id=data-disk,drive=data,serial={DATA_SERIAL},num-queues={},write-cache={}",
            disk.queues,
            on_off(disk.cache.write_cache())
        );
        if disk.iothread {
            add(&["-object", "iothread,id=data-thread"]);
            device.push_str(",iothread=data-thread");
        }
        add(&["-device", &device]);
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::settings::configure;

    fn line(settings: &[(&str, &str)]) -> String {
        let (spec, _) = configure(4, settings.iter().copied()).unwrap();
        let wiring = Wiring {
            name: "vmtax-1",
            accelerator: Accelerator::Tcg,
            kernel: Path::new("/k"),
            initramfs: Path::new("/i"),
            toolbox: Some(Path::new("/a,b")),
            data_fd: Some(9),
            console_fd: 5,
            qmp_fd: 6,
            agent_fd: 7,
            kernel_words: "",
        };
        arguments(&spec, &wiring).join(" ")
    }

    #[test]
    fn the_reference_guest_bypasses_the_page_cache() {
        let line = line(&[]);
        assert!(line.contains("aio=native,cache.direct=on,cache.no-flush=off"), "{line}");
        assert!(line.contains("num-queues=1,write-cache=on"), "{line}");
        assert!(line.contains("filename=/a,,b"), "{line}");
        assert!(line.contains("-cpu max") && line.contains("-smp 2,") && line.contains("-m size=1048576k"), "{line}");
    }

    #[test]
    fn each_disk_setting_changes_the_command_line() {
        let plain = line(&[]);
        for setting in [
            [("disk.cache", "directsync"), ("disk.aio", "native")],
            [("disk.cache", "unsafe"), ("disk.aio", "threads")],
            [("disk.cache", "none"), ("disk.aio", "io_uring")],
            [("disk.queues", "4"), ("disk.aio", "native")],
            [("disk.iothread", "on"), ("disk.aio", "native")],
            [("vm.machine", "pc"), ("vm.cpu-model", "qemu64")],
        ] {
            assert_ne!(line(&setting), plain, "{setting:?}");
        }
    }
}
