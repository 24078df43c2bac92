//! A disk that fills up in the middle of a line. The real thing: a child of this test writes under a limit on the size
//! of files (RLIMIT_FSIZE), where write(2) first writes less than was asked and then fails, as on a full disk.

use model::record::Event;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::process::Command;
use vmtax_store::{StoreError, StudyFolder};

const FOLDER: &str = "VMTAX_TEST_FOLDER";

fn opened(n: usize) -> Event {
    Event::Opened { vmtax: format!("0.1.{n}"), build: "b".repeat(100) }
}

#[test]
#[ignore = "is run by the test below, under a limit"]
fn write_until_the_disk_is_full() {
    let Some(path) = std::env::var_os(FOLDER) else { return };
    let mut writer = StudyFolder::create(path.as_ref()).unwrap();
    let (n, error) = (0..).find_map(|n| writer.append(n as f64, &opened(n)).err().map(|error| (n, error))).unwrap();
    assert!(n > 10, "some lines were written");
    let text = error.to_string();
    assert!(matches!(error, StoreError::Append { .. }));
    assert!(text.contains("make room") && text.contains("vmtax resume"), "{text}");
    // Whoever tries again too early does no harm.
    writer.append(0.0, &opened(0)).unwrap_err();

    let error = writer.write_raw("r001-a1-host-big.json", &[b'x'; 8192]).unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }));
    assert_eq!(std::fs::read_dir(writer.folder().path().join("raw")).unwrap().count(), 0, "no half output is left");

    let mut limit = getrlimit(Resource::Fsize);
    limit.current = limit.maximum;
    setrlimit(Resource::Fsize, limit).unwrap();
    writer.append(0.5, &opened(n)).unwrap();
    println!("wrote {} lines", n + 1);
}

#[test]
fn a_journal_on_a_full_disk_stays_readable_and_goes_on_when_there_is_room() {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("study");
    // 4 KiB (dash counts 512-byte blocks); ignoring SIGXFSZ turns the limit into an error of write(2).
    let child = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -S -f 8; exec \"$0\" --exact write_until_the_disk_is_full --ignored --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(FOLDER, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    let written: usize = said.split("wrote ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();

    let journal = StudyFolder::open(&path).unwrap().journal().unwrap();
    assert_eq!(journal.lines.len(), written, "also the one after room was made");
    assert_eq!(journal.skipped.len(), 1, "the torn line");

    let mut writer = StudyFolder::open_for_writing(&path).unwrap();
    writer.append(1.0, &opened(7)).unwrap();
    let journal = writer.folder().journal().unwrap();
    assert_eq!(journal.lines.len(), written + 1);
    assert_eq!(journal.lines.last().unwrap().event, opened(7));
}
