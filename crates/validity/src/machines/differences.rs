//! What differs between host and guest beside the virtualization itself.

use model::Facts;
use model::facts::BlockDevice;
use model::machine::DATA_SERIAL;
use model::quantity::show_size;
use model::record::{GUEST, HOST, Manifest};

/// A property that host and guest do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its key, for example `kernel`, `clock-source` or `mitigation-spectre_v2`.
    pub key: String,
    /// The host's.
    pub host: String,
    /// The guest's.
    pub guest: String,
}

/// How one property of a machine (or its disk) is read; none where it is not known.
type Reader<T> = fn(&T) -> Option<String>;

/// Every property that is known of both machines and not the same, in a fixed order.
pub fn differences(manifest: &Manifest) -> Vec<Difference> {
    let (Some(host), Some(guest)) = (manifest.machines.get(HOST), manifest.machines.get(GUEST)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut compare = |key: &str, host: Option<String>, guest: Option<String>| {
        if let (Some(host), Some(guest)) = (host, guest)
            && host != guest
        {
            found.push(Difference { key: key.to_owned(), host, guest });
        }
    };
    let words: [(&str, Reader<Facts>); 12] = [
        ("kernel", |f| said(&f.kernel_release)),
        ("kernel-version", |f| said(&f.kernel_version)),
        ("cpu-model", |f| said(&f.cpu.model)),
        ("cpus", |f| (f.cpu.online > 0).then(|| f.cpu.online.to_string())),
        ("instruction-set", |f| Some(f.cpu.isa.to_string())),
        ("cpu-flags", |f| (!f.cpu.flags.is_empty()).then(|| f.cpu.flags.len().to_string())),
        ("memory", |f| (f.memory_total > 0).then(|| show_size(f.memory_total))),
        ("clock-source", |f| f.clock.source.clone()),
        ("huge-pages", |f| f.thp_enabled.clone()),
        ("huge-pages-defrag", |f| f.thp_defrag.clone()),
        ("governor", |f| f.cpu.governor.clone()),
        ("architecture", |f| said(&f.architecture)),
    ];
    for (key, read) in words {
        compare(key, read(host), read(guest));
    }
    let [host_flags, guest_flags] = [&host.cpu.flags, &guest.cpu.flags];
    if !host_flags.is_empty() && !guest_flags.is_empty() {
        let only = |of: &[String], other: &[String]| {
            let flags = of.iter().filter(|flag| !other.contains(flag)).map(String::as_str);
            Some(flags.collect::<Vec<_>>().join(" "))
        };
        compare("cpu-flags-of-one-side", only(host_flags, guest_flags), only(guest_flags, host_flags));
    }
    let mut mitigations: Vec<&String> = host.vulnerabilities.keys().chain(guest.vulnerabilities.keys()).collect();
    mitigations.sort_unstable();
    mitigations.dedup();
    for name in mitigations {
        let of = |facts: &Facts| facts.vulnerabilities.get(name).cloned();
        compare(&format!("mitigation-{name}"), of(host), of(guest));
    }
    let disks =
        (host_disk(manifest, host), guest.disks.iter().find(|disk| disk.serial.as_deref() == Some(DATA_SERIAL)));
    let words: [(&str, Reader<BlockDevice>); 2] =
        [("io-scheduler", |d| d.scheduler.clone()), ("read-ahead", |d| d.read_ahead.map(show_size))];
    for (key, read) in words {
        compare(key, disks.0.and_then(read), disks.1.and_then(read));
    }
    found
}

fn said(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The block device below the data file: the one whose name begins the name of its file system's device (`sda` for `/dev/sda1`).
fn host_disk<'a>(manifest: &Manifest, host: &'a Facts) -> Option<&'a BlockDevice> {
    let device = manifest.data_file_system.as_deref()?.rsplit('/').next()?;
    let named = host.disks.iter().filter(|disk| !disk.name.is_empty() && device.starts_with(disk.name.as_str()));
    named.max_by_key(|disk| disk.name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::manifest;

    fn keys(manifest: &Manifest) -> Vec<String> {
        differences(manifest).into_iter().map(|difference| difference.key).collect()
    }

    #[test]
    fn only_what_both_say_differently_is_a_difference() {
        let mut manifest = manifest();
        assert_eq!(keys(&manifest), Vec::<String>::new());
        let guest = manifest.machines.get_mut(GUEST).unwrap();
        guest.memory_total = 1 << 30;
        guest.cpu.governor = None;
        guest.vulnerabilities.insert("spectre_v2".to_owned(), "Vulnerable".to_owned());
        guest.vulnerabilities.insert("itlb_multihit".to_owned(), "KVM: Vulnerable".to_owned());
        let host = manifest.machines.get_mut(HOST).unwrap();
        host.cpu.governor = Some("performance".to_owned());
        host.vulnerabilities.insert("spectre_v2".to_owned(), "Mitigation: IBRS".to_owned());
        assert_eq!(keys(&manifest), ["memory", "mitigation-spectre_v2"]);
        manifest.machines.remove(GUEST);
        assert_eq!(keys(&manifest), Vec::<String>::new());
    }

    #[test]
    fn the_hosts_disk_is_the_one_under_the_data_file() {
        let disk = |name: &str, serial: Option<&str>, scheduler: &str| BlockDevice {
            name: name.to_owned(),
            serial: serial.map(str::to_owned),
            scheduler: Some(scheduler.to_owned()),
            read_ahead: Some(128 << 10),
            ..BlockDevice::default()
        };
        let mut manifest = manifest();
        manifest.data_file_system = Some("ext4 on /dev/nvme0n1p2".to_owned());
        manifest.machines.get_mut(HOST).unwrap().disks = vec![disk("sda", None, "bfq"), disk("nvme0n1", None, "none")];
        manifest.machines.get_mut(GUEST).unwrap().disks =
            vec![disk("vda", None, "bfq"), disk("vdb", Some(DATA_SERIAL), "mq-deadline")];
        let found = differences(&manifest);
        assert_eq!(
            found,
            [Difference { key: "io-scheduler".into(), host: "none".into(), guest: "mq-deadline".into() }]
        );
        manifest.data_file_system = Some("overlay on overlay".to_owned());
        assert_eq!(differences(&manifest), []);
    }
}
