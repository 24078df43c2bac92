//! Block devices, from /sys/block (Documentation/ABI/stable/sysfs-block).

use crate::Root;
use crate::text::chosen;
use model::facts::BlockDevice;

/// All block devices, by name, without empty slots.
pub(super) fn facts(root: &Root) -> Vec<BlockDevice> {
    let names = root.list("sys/block").unwrap_or_default();
    names.iter().filter_map(|name| device(root, name)).collect()
}

fn device(root: &Root, name: &str) -> Option<BlockDevice> {
    let folder = format!("sys/block/{name}");
    let line = |attribute: &str| root.line(format!("{folder}/{attribute}"));
    // Sectors of 512 bytes, whatever the device's own.
    let bytes = root.number::<u64>(format!("{folder}/size"))?.checked_mul(512)?;
    let is_slot = ["loop", "ram", "zram"].iter().any(|kind| name.starts_with(kind));
    if is_slot && bytes == 0 {
        return None;
    }
    let queues = root.list(format!("{folder}/mq")).ok();
    Some(BlockDevice {
        // A slash in a device's name is a bang in /sys.
        name: name.replace('!', "/"),
        // virtio-blk keeps it beside the disk, NVMe under the device.
        serial: line("serial").or_else(|| line("device/serial")),
        bytes,
        scheduler: line("queue/scheduler").as_deref().and_then(chosen).map(str::to_owned),
        read_ahead: root.number::<u64>(format!("{folder}/queue/read_ahead_kb")).and_then(|kb| kb.checked_mul(1024)),
        rotational: root.number::<u8>(format!("{folder}/queue/rotational")).map(|flag| flag != 0),
        queues: queues.and_then(|names| u32::try_from(names.len()).ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;

    #[test]
    fn devices_are_read_and_empty_slots_skipped() {
        let (_folder, root) = tree(&[
            ("sys/block/loop0/size", "0\n"),
            ("sys/block/loop1/size", "8\n"),
            ("sys/block/sr0/size", "0\n"),
            ("sys/block/vda/size", "2097152\n"),
            ("sys/block/vda/serial", "vmtax-data"),
            ("sys/block/vda/queue/scheduler", "[none] mq-deadline\n"),
            ("sys/block/vda/queue/read_ahead_kb", "128\n"),
            ("sys/block/vda/queue/rotational", "1\n"),
            ("sys/block/vda/mq/0/nr_tags", "256\n"),
            ("sys/block/vda/mq/1/nr_tags", "256\n"),
            ("sys/block/nvme0n1/size", "16\n"),
            ("sys/block/nvme0n1/device/serial", "S6Z2   \n"),
        ]);
        let disks = facts(&root);
        let names: Vec<&str> = disks.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["loop1", "nvme0n1", "sr0", "vda"]);
        let unknown = BlockDevice { name: "loop1".to_owned(), bytes: 4096, ..BlockDevice::default() };
        assert_eq!(disks[0], unknown);
        assert_eq!(disks[1].serial.as_deref(), Some("S6Z2"));
        let vda = BlockDevice {
            name: "vda".to_owned(),
            serial: Some("vmtax-data".to_owned()),
            bytes: 1 << 30,
            scheduler: Some("none".to_owned()),
            read_ahead: Some(128 << 10),
            rotational: Some(true),
            queues: Some(2),
        };
        assert_eq!(disks[3], vda);
    }
}
