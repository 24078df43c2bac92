//! What pages a process's memory consists of (Documentation/filesystems/proc.rst 1.1, Documentation/admin-guide/mm/transhuge.rst). Memory
//! in huge pages is faster, above all under a second level of page tables: both sides of a study must have the same.

use crate::Root;
use crate::text::kilobytes;

/// Resident memory, and the part of it that is mapped by huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backing {
    /// Resident memory, bytes, hugetlb pages included.
    pub resident: u64,
    /// In huge pages, transparent ones (anonymous, shared or of files) or hugetlb's, bytes; none where only /proc/PID/status could be read.
    pub huge: Option<u64>,
}

impl Backing {
    /// Of the whole process; none where it has ended or may not be looked at. (smaps_rollup needs Linux 4.14 and leave to trace the
    /// process, and takes as long as [`largest_mapping_backing`].)
    pub fn read(root: &Root, pid: u32) -> Option<Self> {
        let text = |name: &str| root.read(format!("proc/{pid}/{name}")).ok();
        text("smaps_rollup").and_then(|text| Self::parse(&text)).or_else(|| {
            let status = text("status")?;
            let resident = kilobytes(&status, "VmRSS")?.saturating_add(kilobytes(&status, "HugetlbPages").unwrap_or(0));
            Some(Backing { resident, huge: None })
        })
    }

    /// The share in huge pages, 0 to 1; none where it is unknown or nothing is resident.
    pub fn huge_share(&self) -> Option<f64> {
        let huge = self.huge.filter(|_| self.resident > 0)?;
        Some((huge as f64 / self.resident as f64).min(1.0))
    }

    /// From the fields of smaps_rollup, or of one mapping in smaps.
    fn parse(text: &str) -> Option<Self> {
        // What an older kernel does not list, it cannot have.
        let optional = |keys: [&str; 2]| {
            keys.map(|key| kilobytes(text, key).unwrap_or(0)).into_iter().fold(0, u64::saturating_add)
        };
        // Rss counts the transparent ones, but not those of hugetlb.
        let hugetlb = optional(["Shared_Hugetlb", "Private_Hugetlb"]);
        let transparent =
            kilobytes(text, "AnonHugePages")?.saturating_add(optional(["ShmemPmdMapped", "FilePmdMapped"]));
        Some(Backing {
            resident: kilobytes(text, "Rss")?.saturating_add(hugetlb),
            huge: Some(transparent.saturating_add(hugetlb)),
        })
    }

    fn plus(self, other: Self) -> Self {
        Backing {
            resident: self.resident.saturating_add(other.resident),
            huge: self.huge.zip(other.huge).map(|(a, b)| a.saturating_add(b)),
        }
    }
}

/// A range of a process's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its length, bytes.
    pub bytes: u64,
    /// What it consists of.
    pub backing: Backing,
}

/// The largest memory of `pid` that can be written but not executed: QEMU's guest memory, where `bytes` is about what the guest has (compare
/// it; a guest with several NUMA nodes has several). QEMU's code buffer under TCG, which can be larger, is executable.
///
/// The kernel splits one allocation where its attributes differ; ranges that touch and are of the same object count as one. None where
/// smaps cannot be read (it needs leave to trace the process) or is longer than 4 MiB. The kernel walks the page tables for it: 10 to
/// 25 ms for every GiB in small pages, so not while anything is timed.
pub fn largest_mapping_backing(root: &Root, pid: u32) -> Option<Mapping> {
    largest(&root.read(format!("proc/{pid}/smaps")).ok()?)
}

/// The first line of a mapping: `7f0000000000-7f0004000000 rw-p 00000000 00:01 1234   /memfd:x (deleted)`.
struct Header<'a> {
    start: u64,
    end: u64,
    permissions: &'a str,
    /// Device, inode and path: what is mapped.
    object: &'a str,
}

impl<'a> Header<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let address = |hex| u64::from_str_radix(hex, 16).ok();
        let (start, end) = (address(start)?, address(end)?);
        let (permissions, _offset, object) = (words.next()?, words.next()?, words.next()?);
        (start < end).then_some(Header { start, end, permissions, object })
    }

    fn is_data(&self) -> bool {
        self.permissions.starts_with("rw-")
    }

    fn continues(&self, before: &Header) -> bool {
        before.end == self.start && before.permissions == self.permissions && before.object == self.object
    }
}

fn largest(smaps: &str) -> Option<Mapping> {
    let mut mappings: Vec<(Header, Mapping)> = Vec::new();
    let mut rest = smaps;
    while let Some((header, body, after)) = next_mapping(rest) {
        rest = after;
        let Some(backing) = Backing::parse(body).filter(|_| header.is_data()) else { continue };
        let bytes = header.end - header.start;
        match mappings.last_mut() {
            Some((last, mapping)) if header.continues(last) => {
                last.end = header.end;
                *mapping = Mapping { bytes: mapping.bytes + bytes, backing: mapping.backing.plus(backing) };
            }
            _ => mappings.push((header, Mapping { bytes, backing })),
        }
    }
    mappings.into_iter().map(|(_, mapping)| mapping).max_by_key(|mapping| mapping.bytes)
}

/// The first mapping in `smaps`: its header, its fields, and what follows.
fn next_mapping(smaps: &str) -> Option<(Header<'_>, &str, &str)> {
    let (mut header, mut begin, mut position) = (None, 0, 0);
    for line in smaps.split_inclusive('\n') {
        match (Header::parse(line), header.is_some()) {
            (Some(found), false) => (header, begin) = (Some(found), position + line.len()),
            (Some(_), true) => break,
            (None, _) => {}
        }
        position += line.len();
    }
    Some((header?, &smaps[begin..position], &smaps[position..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    fn mapping(header: &str, kilobytes: u64, huge: u64) -> String {
        format!("{header}\nSize: 9 kB\nRss:  {kilobytes} kB\nAnonHugePages:  {huge} kB\nVmFlags: rd wr mr\n")
    }

    #[test]
    fn hugetlb_pages_are_resident_although_rss_leaves_them_out() {
        let rollup = "0-1 ---p 0 00:00 0 [rollup]\nRss: 100 kB\nAnonHugePages: 20 kB\nShmemPmdMapped: 8 kB\nFilePmdMapped: 4 kB\n\
                      Shared_Hugetlb: 64 kB\nPrivate_Hugetlb: 32 kB\n";
        let (_folder, root) = tree(&[("proc/5/smaps_rollup", rollup)]);
        let backing = Backing::read(&root, 5).unwrap();
        assert_eq!(backing, Backing { resident: 196 << 10, huge: Some(128 << 10) });
        assert!((backing.huge_share().unwrap() - 128.0 / 196.0).abs() < 1e-12);
    }

    #[test]
    fn status_tells_no_huge_pages_and_a_process_that_is_gone_nothing() {
        let (_folder, root) = tree(&[
            ("proc/5/status", "VmRSS:\t  10 kB\nHugetlbPages:\t 2 kB\n"),
            ("proc/6/status", "Name:\tkthreadd\n"),
        ]);
        let backing = Backing::read(&root, 5).unwrap();
        assert_eq!((backing, backing.huge_share()), (Backing { resident: 12 << 10, huge: None }, None));
        assert_eq!((Backing::read(&root, 6), Backing::read(&root, 7)), (None, None));
        assert_eq!(largest_mapping_backing(&root, 5), None);
    }

    #[test]
    fn guest_memory_is_the_largest_that_is_written_and_not_executed() {
        let text = [
            mapping("10000-90000 rwxp 00000000 00:00 0 ", 100, 0),
            mapping("100000-110000 rw-p 00000000 00:00 0 ", 64, 0),
            mapping("110000-130000 rw-p 00000000 00:00 0 ", 128, 128),
            mapping("130000-140000 rw-p 00000000 00:00 0 [heap]", 64, 0),
            mapping("140000-990000 ---p 00000000 00:00 0 ", 0, 0),
            mapping("990000-9a8000 rw-s 00000000 00:01 12 /memfd:x (deleted)", 96, 0),
        ];
        let (_folder, root) = tree(&[("proc/5/smaps", &text.concat())]);
        let backing = Backing { resident: 192 << 10, huge: Some(128 << 10) };
        assert_eq!(largest_mapping_backing(&root, 5), Some(Mapping { bytes: 0x30000, backing }));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_of_this_process_is_found_by_its_size() {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
        const LENGTH: usize = 512 << 20;
        let (root, pid) = (Root::live(), std::process::id());
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, of which the first bytes are written before it is taken away again.
        let seen = unsafe {
            let memory =
                mmap_anonymous(std::ptr::null_mut(), LENGTH, protection, MapFlags::PRIVATE | MapFlags::NORESERVE);
            let memory = memory.unwrap();
            memory.cast::<u8>().write_bytes(1, 1 << 20);
            let seen = largest_mapping_backing(&root, pid);
            munmap(memory, LENGTH).unwrap();
            seen
        };
        let seen = seen.unwrap();
        assert!(seen.bytes >= LENGTH as u64 && seen.backing.resident >= 1 << 20, "{seen:?}");
        let whole = Backing::read(&root, pid).unwrap();
        assert!(whole.resident > 100_000 && whole.huge.is_some(), "{whole:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(text in "([0-9a-f]{1,17}-[0-9a-f]{1,17} rw-p 0 0 0\n|Rss: |AnonHugePages: |[0-9]{0,22} kB|\n|\\PC){0,20}") {
            let _ = largest(&text);
            let (_folder, root) = tree(&[("proc/1/smaps_rollup", &text), ("proc/1/status", &text)]);
            let _ = Backing::read(&root, 1).and_then(|backing| backing.huge_share());
        }
    }
}
