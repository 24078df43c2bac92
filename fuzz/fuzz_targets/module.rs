//! A folder of kernel modules: one module with any contents, its dependencies read from it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::modules::{load_order, release_of_any};
use tempfile::TempDir;

fuzz_target!(|bytes: &[u8]| {
    // One folder for each input: libfuzzer leaves without a chance to remove a lasting one.
    let folder = TempDir::with_prefix_in("vmtax-fuzz-", "/dev/shm").expect("room in /dev/shm");
    std::fs::create_dir(folder.path().join("kernel")).expect("a folder");
    std::fs::write(folder.path().join("kernel/virtio.ko"), bytes).expect("room in /dev/shm");
    let _ = load_order(folder.path(), &["virtio"]);
    let _ = release_of_any(folder.path());
});
