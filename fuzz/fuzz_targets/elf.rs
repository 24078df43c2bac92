//! A program that is to go into the toolbox: any file, its libraries read from it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::elf::Closures;
use tempfile::TempDir;

fuzz_target!(|bytes: &[u8]| {
    // One folder for each input: libfuzzer leaves without a chance to remove a lasting one.
    let folder = TempDir::with_prefix_in("vmtax-fuzz-", "/dev/shm").expect("room in /dev/shm");
    let program = folder.path().join("program");
    std::fs::write(&program, bytes).expect("room in /dev/shm");
    let _ = Closures::new().of(&program);
});
