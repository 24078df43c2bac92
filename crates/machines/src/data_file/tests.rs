use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

const SIZE: u64 = (3 << 20) + 4096;

fn make(dir: &TempDir, name: &str, bytes: u64) -> Result<DataFile, DataFileError> {
    DataFile::create(dir.path(), name, bytes, &mut |_| {}, &AtomicBool::new(false))
}

fn names(dir: &TempDir) -> Vec<String> {
    fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_new_file_is_private_full_of_noise_and_removed_on_drop() {
    let dir = TempDir::new().unwrap();
    let file = make(&dir, "vmtax-data", SIZE).unwrap();
    let meta = fs::metadata(file.path()).unwrap();
    assert_eq!((meta.len(), meta.permissions().mode() & 0o777), (SIZE, 0o600));
    assert!(meta.blocks() * 512 >= SIZE);
    let bytes = fs::read(file.path()).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    assert!(gzip.finish().unwrap().len() as u64 > SIZE * 99 / 100, "it does not compress");
    let other = make(&dir, "vmtax-other", SIZE).unwrap();
    assert_ne!(fs::read(other.path()).unwrap(), bytes, "it does not deduplicate");
    drop((file, other));
    assert_eq!(names(&dir), Vec::<String>::new());
}

#[test]
fn progress_ends_at_the_whole_size() {
    let dir = TempDir::new().unwrap();
    let mut seen = Vec::new();
    let size = SYNC_EVERY + 12_345;
    DataFile::create(dir.path(), "vmtax-data", size, &mut |n| seen.push(n), &AtomicBool::new(false)).unwrap();
    assert_eq!(seen, [SYNC_EVERY, size]);
}

#[test]
fn nothing_that_is_there_is_overwritten_or_followed() {
    let dir = TempDir::new().unwrap();
    let precious = dir.path().join("precious");
    fs::write(&precious, "data").unwrap();
    fs::write(dir.path().join("vmtax-file"), "data").unwrap();
    symlink(&precious, dir.path().join("vmtax-link")).unwrap();
    symlink(dir.path().join("new"), dir.path().join("vmtax-dangling")).unwrap();
    for name in ["vmtax-file", "vmtax-link", "vmtax-dangling"] {
        let error = make(&dir, name, SIZE).unwrap_err();
        assert!(matches!(error, DataFileError::Exists(_)), "{error}");
    }
    assert_eq!(fs::read_to_string(&precious).unwrap(), "data");
    assert_eq!(fs::read_to_string(dir.path().join("vmtax-file")).unwrap(), "data");
    assert!(!dir.path().join("new").exists());
    for name in ["precious", "vmtax-a/b", "../vmtax-x"] {
        assert!(matches!(make(&dir, name, SIZE), Err(DataFileError::Name(_))));
    }
}

#[test]
fn a_cancel_removes_what_was_written() {
    let dir = TempDir::new().unwrap();
    let cancel = AtomicBool::new(false);
    let mut stop = |_| cancel.store(true, Ordering::Relaxed);
    let made = DataFile::create(dir.path(), "vmtax-data", 10 * SYNC_EVERY, &mut stop, &cancel);
    assert!(matches!(made, Err(DataFileError::Cancelled(_))));
    assert_eq!(names(&dir), Vec::<String>::new());
}

#[test]
fn too_large_a_file_is_refused_before_a_byte_is_written() {
    let dir = TempDir::new().unwrap();
    let Err(DataFileError::NoRoom { missing, kept, .. }) = make(&dir, "vmtax-data", 1 << 60) else { panic!() };
    assert!(missing > 0 && missing < (1 << 60) + kept && kept <= KEPT_FREE);
    assert!(matches!(make(&dir, "vmtax-data", u64::MAX), Err(DataFileError::NoRoom { .. })));
    assert_eq!(names(&dir), Vec::<String>::new());
    let nowhere = DataFile::create(Path::new("/no/such"), "vmtax-x", 1, &mut |_| {}, &AtomicBool::new(false));
    assert!(nowhere.unwrap_err().to_string().contains("/no/such"));
}

#[test]
fn another_file_under_the_same_name_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let file = make(&dir, "vmtax-data", 4096).unwrap();
    let path = file.path().to_owned();
    fs::rename(&path, dir.path().join("moved")).unwrap();
    fs::write(&path, "someone else's").unwrap();
    drop(file);
    assert_eq!(fs::read_to_string(path).unwrap(), "someone else's");
}
