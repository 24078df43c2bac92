use super::*;
use proptest::prelude::*;
use std::io::Write;
use tempfile::TempDir;

/// A relocatable ELF object with these `.modinfo` entries.
pub(crate) fn object(info: &[&str]) -> Vec<u8> {
    let info: Vec<u8> = info.iter().flat_map(|text| [text.as_bytes(), b"\0"].concat()).collect();
    let names = b"\0.modinfo\0.shstrtab\0";
    let names_at = 64 + info.len() as u64;
    let sections_at = names_at + names.len() as u64;
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    elf.extend_from_slice(&[1u16, goblin::elf::header::EM_X86_64].map(u16::to_le_bytes).concat());
    elf.extend_from_slice(&1u32.to_le_bytes());
    elf.extend_from_slice(&[0u64, 0, sections_at].map(u64::to_le_bytes).concat());
    elf.extend_from_slice(&0u32.to_le_bytes());
    elf.extend_from_slice(&[64u16, 0, 0, 64, 3, 2].map(u16::to_le_bytes).concat());
    elf.extend_from_slice(&info);
    elf.extend_from_slice(names);
    let section = |name: u32, kind: u32, at: u64, size: u64| {
        let mut header = [name, kind].map(u32::to_le_bytes).concat();
        header.extend_from_slice(&[0u64, 0, at, size].map(u64::to_le_bytes).concat());
        header.extend_from_slice(&[0u32, 0].map(u32::to_le_bytes).concat());
        header.extend_from_slice(&[1u64, 0].map(u64::to_le_bytes).concat());
        header
    };
    elf.extend(section(0, 0, 0, 0));
    elf.extend(section(1, 1, 64, info.len() as u64));
    elf.extend(section(10, 3, names_at, names.len() as u64));
    elf
}

/// Every module comes after all that its own `.modinfo` names and the list holds, and each comes once.
pub(crate) fn assert_topological(order: &[Module]) {
    let place: HashMap<&str, usize> = order.iter().enumerate().map(|(i, m)| (m.name.as_str(), i)).collect();
    assert_eq!(place.len(), order.len(), "no module comes twice");
    for (i, module) in order.iter().enumerate() {
        for needed in dependencies(&modinfo(&module.bytes).unwrap()).0 {
            assert!(place.get(needed.as_str()).is_none_or(|at| *at < i), "{} needs {needed} before it", module.name);
        }
    }
}

fn folder(modules: &[(&str, &[&str])]) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (path, info) in modules {
        let path = dir.path().join("kernel").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = object(info);
        if path.extension().is_some_and(|e| e == "gz") {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(&bytes).unwrap();
            bytes = gzip.finish().unwrap();
        }
        fs::write(path, bytes).unwrap();
    }
    dir
}

fn names(order: &[Module]) -> Vec<&str> {
    order.iter().map(|m| m.name.as_str()).collect()
}

#[test]
fn dependencies_come_first_and_compressed_files_come_uncompressed() {
    let dir = folder(&[
        ("drivers/virtio_blk.ko.gz", &["depends=virtio_ring,virtio"]),
        ("drivers/virtio-ring.ko", &["depends=virtio"]),
        ("virtio.ko", &["depends="]),
        ("other.ko", &["depends=nothing-here"]),
    ]);
    let order = load_order(dir.path(), &["virtio-blk", "virtio"]).unwrap();
    assert_eq!(names(&order), ["virtio", "virtio_ring", "virtio_blk"]);
    assert_eq!(order[2].bytes, object(&["depends=virtio_ring,virtio"]));
    assert_topological(&order);
}

#[test]
fn builtin_modules_are_left_out_and_missing_ones_named() {
    let dir = folder(&[("ext4.ko", &["depends=jbd2,mbcache"]), ("jbd2.ko", &[])]);
    fs::write(dir.path().join("modules.builtin"), "kernel/fs/mbcache.ko\nkernel/virtio.ko\n").unwrap();
    assert_eq!(names(&load_order(dir.path(), &["ext4", "virtio"]).unwrap()), ["jbd2", "ext4"]);
    fs::write(dir.path().join("modules.builtin"), "").unwrap();
    let error = load_order(dir.path(), &["ext4"]).unwrap_err().to_string();
    assert!(error.contains("'mbcache' (which ext4 needs)") && error.contains(dir.path().to_str().unwrap()), "{error}");
}

#[test]
fn soft_dependencies_load_before_if_they_are_there_under_any_name() {
    let dir = folder(&[
        ("fs.ko", &["softdep=pre: crc32c fancy nowhere post: later"]),
        ("crc32c_generic.ko", &[]),
        ("fancy-impl.ko", &[]),
        ("later.ko", &[]),
    ]);
    fs::write(dir.path().join("modules.alias"), "# comment\nalias pci:v* x\nalias fancy fancy_impl\n").unwrap();
    assert_eq!(names(&load_order(dir.path(), &["fs"]).unwrap()), ["crc32c_generic", "fancy_impl", "fs"]);
}

#[test]
fn modules_dep_says_where_files_are() {
    let dir = folder(&[("a/x.ko", &["depends=y"]), ("b/y.ko", &[]), ("hidden.ko", &[])]);
    fs::write(dir.path().join("modules.dep"), "kernel/a/x.ko: kernel/b/y.ko\nkernel/b/y.ko:\n").unwrap();
    assert_eq!(names(&load_order(dir.path(), &["x"]).unwrap()), ["y", "x"]);
    assert!(matches!(load_order(dir.path(), &["hidden"]), Err(ModuleError::Missing { .. })));
}

#[test]
fn a_file_that_is_no_module_is_named() {
    let dir = folder(&[("good.ko", &["depends=bad"])]);
    for junk in [&b""[..], b"text", b"\x7fELF", b"\xfd7zXZ\0junk"] {
        fs::write(dir.path().join("kernel/bad.ko"), junk).unwrap();
        let error = load_order(dir.path(), &["good"]).unwrap_err();
        assert!(error.to_string().contains("bad.ko"), "{error}");
    }
}

proptest! {
    #[test]
    fn any_graph_even_with_cycles_loads_each_module_once(edges in proptest::collection::vec((0usize..12, 0usize..12), 0..40)) {
        let dir = TempDir::new().unwrap();
        for module in 0..12 {
            let depends: Vec<String> = edges.iter().filter(|(from, _)| *from == module).map(|(_, to)| format!("m{to}")).collect();
            fs::write(dir.path().join(format!("m{module}.ko")), object(&[&format!("depends={}", depends.join(","))])).unwrap();
        }
        let all: Vec<String> = (0..12).rev().map(|i| format!("m{i}")).collect();
        let order = load_order(dir.path(), &all.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        prop_assert_eq!(order.len(), 12);
    }

    #[test]
    fn acyclic_graphs_load_in_order(edges in proptest::collection::vec((0usize..12, 0usize..12), 0..40)) {
        let dir = TempDir::new().unwrap();
        for module in 0..12 {
            let below = edges.iter().filter(|(from, to)| *from == module && to < from);
            let depends: Vec<String> = below.map(|(_, to)| format!("m{to}")).collect();
            fs::write(dir.path().join(format!("m{module}.ko")), object(&[&format!("depends={}", depends.join(","))])).unwrap();
        }
        let order = load_order(dir.path(), &["m11", "m7", "m3"]).unwrap();
        assert_topological(&order);
    }

    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400), flips in proptest::collection::vec((0usize..400, any::<u8>()), 0..8)) {
        let _ = modinfo(&bytes);
        let mut module = object(&["depends=a,b", "softdep=pre: c"]);
        for (at, value) in flips {
            let at = at % module.len();
            module[at] = value;
        }
        if let Some(info) = modinfo(&module) {
            let _ = dependencies(&info);
        }
    }
}
