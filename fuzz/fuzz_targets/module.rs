//! A folder of kernel modules: one module with any contents, its dependencies read from it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::modules::{load_order, release_of_any};
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

/// In memory: each input is written to a file there.
static FOLDER: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = TempDir::with_prefix_in("vmtax-fuzz-", "/dev/shm").expect("room in /dev/shm");
    std::fs::create_dir(folder.path().join("kernel")).expect("a folder");
    let module = folder.path().join("kernel/virtio.ko");
    (folder, module)
});

fuzz_target!(|bytes: &[u8]| {
    let (folder, module) = &*FOLDER;
    std::fs::write(module, bytes).expect("room in /dev/shm");
    let _ = load_order(folder.path(), &["virtio"]);
    let _ = release_of_any(folder.path());
});
