//! A program that is to go into the toolbox: any file, its libraries read from it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machines::elf::Closures;
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

/// In memory: each input is written to a file there.
static PROGRAM: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = TempDir::with_prefix_in("vmtax-fuzz-", "/dev/shm").expect("room in /dev/shm");
    let program = folder.path().join("program");
    (folder, program)
});

fuzz_target!(|bytes: &[u8]| {
    std::fs::write(&PROGRAM.1, bytes).expect("room in /dev/shm");
    let _ = Closures::new().of(&PROGRAM.1);
});
