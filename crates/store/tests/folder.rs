//! Folders as a user meets them: new, in use, damaged, of another time, of a stranger.

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use model::record::{Ending, Event, Manifest};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use vmtax_store::{StoreError, StudyFolder};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1")
}

fn manifest() -> Manifest {
    StudyFolder::open(&golden()).unwrap().manifest().unwrap()
}

fn ended() -> Event {
    Event::Ended { how: Ending::Finished, why: "done".to_owned() }
}

#[test]
fn a_new_study_makes_its_folders_and_refuses_one_that_holds_files() {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("some/where/study");
    drop(StudyFolder::create(&path).unwrap());
    let error = StudyFolder::create(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotEmpty { .. }));
    assert!(error.to_string().contains(&format!("vmtax resume {}", path.display())), "{error}");

    let empty = outer.path().join("empty");
    fs::create_dir(&empty).unwrap();
    StudyFolder::create(&empty).unwrap();

    let file = outer.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(StudyFolder::create(&file), Err(StoreError::Create { .. })));
    assert!(matches!(StudyFolder::open(&file), Err(StoreError::Missing { .. })));
    assert!(matches!(StudyFolder::open_for_writing(&outer.path().join("none")), Err(StoreError::Missing { .. })));
}

#[test]
fn a_second_writer_is_refused_while_readers_are_welcome() {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("study");
    let mut writer = StudyFolder::create(&path).unwrap();
    writer.append(1.0, &ended()).unwrap();
    let error = StudyFolder::open_for_writing(&path).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }));
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert_eq!(StudyFolder::open(&path).unwrap().journal().unwrap().lines.len(), 1);

    drop(writer);
    let mut writer = StudyFolder::open_for_writing(&path).unwrap();
    writer.append(2.0, &ended()).unwrap();
    assert_eq!(writer.folder().journal().unwrap().lines.len(), 2);
}

#[test]
fn reading_leaves_no_trace() {
    let names = || {
        let mut names: Vec<_> = fs::read_dir(golden()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let folder = StudyFolder::open(&golden()).unwrap();
    folder.manifest().unwrap();
    folder.journal().unwrap();
    assert_eq!(names(), ["journal.jsonl", "manifest.json", "raw"]);
}

#[test]
fn a_manifest_is_written_once_and_read_back_as_it_was() {
    let outer = tempfile::tempdir().unwrap();
    let writer = StudyFolder::create(&outer.path().join("study")).unwrap();
    assert!(matches!(writer.folder().manifest(), Err(StoreError::NoManifest { .. })));
    // What a crash between writing and renaming leaves behind is in nobody's way.
    fs::write(writer.folder().path().join("manifest.json.new"), "{").unwrap();
    let mut wrong = manifest();
    wrong.created = f64::NAN;
    assert!(matches!(writer.write_manifest(&wrong), Err(StoreError::NotFinite { .. })));
    let manifest = manifest();
    writer.write_manifest(&manifest).unwrap();
    assert_eq!(writer.folder().manifest().unwrap(), manifest);
    assert!(matches!(writer.write_manifest(&manifest), Err(StoreError::ManifestExists { .. })));
    assert!(!writer.folder().path().join("manifest.json.new").exists());
}

/// The error of reading the golden manifest with `from` replaced by `to`.
fn with(from: &str, to: &str) -> Result<Manifest, StoreError> {
    let text = fs::read_to_string(golden().join("manifest.json")).unwrap();
    assert!(text.contains(from));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.json"), text.replacen(from, to, 1)).unwrap();
    StudyFolder::open(folder.path()).unwrap().manifest()
}

#[test]
fn a_newer_format_is_refused_with_the_version_that_can_read_it() {
    let text = fs::read_to_string(golden().join("manifest.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // A future format may have changed everything else.
    let newer = text.replacen("\"format\": 1", "\"format\": 2", 1).replacen("\"0.1.0\"", "\"3.4.5\\u001b[2J\"", 1);
    fs::write(folder.path().join("manifest.json"), newer.replace("\"plan\"", "\"plans\"")).unwrap();
    let error = StudyFolder::open(folder.path()).unwrap().manifest().unwrap_err().to_string();
    assert!(error.contains("vmtax 3.4.5") && error.contains("format 2") && error.contains("raw/"), "{error}");
    assert!(!error.contains('\u{1b}'));
}

#[test]
fn unknown_fields_are_ignored_and_damage_is_named_by_its_path() {
    assert_eq!(with("\"format\": 1", "\"format\": 1, \"mood\": [1, {}]").unwrap(), manifest());

    let error = with("\"rounds\": 8", "\"rounds\": \"eight\"").unwrap_err();
    assert!(error.to_string().contains("damaged at plan.rounds"), "{error}");
    assert!(error.source().unwrap().to_string().contains("invalid type"), "{error:?}");
    assert!(with("\"format\": 1", "\"format\": -1").unwrap_err().to_string().contains("damaged at format"));
    assert!(with("{\n  \"format\": 1,", "").is_err());
    assert!(matches!(with("\"notes\"", "\"remarks\""), Err(StoreError::Manifest { .. })));
}

#[test]
fn raw_outputs_are_never_overwritten() {
    let outer = tempfile::tempdir().unwrap();
    let writer = StudyFolder::create(&outer.path().join("study")).unwrap();
    let name = vmtax_store::raw_name(3, 1, "guest", "disk.randread-4k", "json");
    assert_eq!(writer.write_raw(&name, b"first").unwrap(), "raw/r003-a1-guest-disk.randread-4k.json");
    assert_eq!(writer.write_raw(&name, b"second").unwrap(), "raw/r003-a1-guest-disk.randread-4k-2.json");
    assert_eq!(writer.write_raw(&name, b"third").unwrap(), "raw/r003-a1-guest-disk.randread-4k-3.json");
    for (file, text) in [("", "first"), ("-2", "second"), ("-3", "third")] {
        let name = format!("raw/r003-a1-guest-disk.randread-4k{file}.json");
        assert_eq!(writer.folder().read_raw(&name).unwrap(), text.as_bytes());
    }
}

#[test]
fn a_strangers_study_reads_nothing_outside_of_it() {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("secret"), "secret").unwrap();
    let path = outer.path().join("study");
    let folder = StudyFolder::create(&path).unwrap().folder().clone();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, path.join(name)).unwrap();
    link("../../secret", "raw/link");
    link("/dev/zero", "raw/device");
    link("../..", "raw/up");
    for name in ["raw/link", "raw/device", "raw/up/secret", "../secret", "/etc/passwd", "raw/../../secret", "raw", ""] {
        let error = folder.read_raw(name).unwrap_err();
        assert!(matches!(error, StoreError::Outside { .. }), "{name}: {error:?}");
    }
    assert!(matches!(folder.read_raw("raw/none"), Err(StoreError::Read { .. })));
    // A study that was reached through a link, or moved, is itself.
    fs::write(path.join("raw/own"), "own").unwrap();
    assert_eq!(folder.read_raw_within("raw/own", 3).unwrap(), b"own");
    assert!(matches!(folder.read_raw_within("raw/own", 2), Err(StoreError::Read { .. })));
    assert!(matches!(folder.read_raw_within("../secret", 100), Err(StoreError::Outside { .. })));
    std::os::unix::fs::symlink(&path, outer.path().join("alias")).unwrap();
    assert_eq!(StudyFolder::open(&outer.path().join("alias")).unwrap().read_raw("raw/own").unwrap(), b"own");
}
