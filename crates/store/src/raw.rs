//! `raw/`: bytes as they came from tools and consoles. Stored before they are parsed; never overwritten.

use crate::error::StoreError;
use crate::folder::sync_folder;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path};

pub(crate) const FOLDER: &str = "raw";
/// Longest file name that is made, so that suffixes fit into the 255 bytes of Linux file systems.
const LONGEST: usize = 160;

/// The name of a run's raw output, for example `r003-a1-guest-disk.randread-4k.json`.
pub fn raw_name(round: u32, attempt: u32, machine: &str, what: &str, extension: &str) -> String {
    format!("r{round:03}-a{attempt}-{machine}-{what}.{extension}")
}

/// `name` as a file name that is safe in every shell, browser and archive.
fn safe(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).take(LONGEST).collect();
    // A leading dot hides a file, a leading dash looks like a flag; and `..` is no file.
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) { name } else { format!("raw{name}") }
}

/// Makes a file that was not there before: `name`, or `name-2`, `name-3`, … before the extension. Returns its name
/// relative to the study folder.
pub(crate) fn create(folder: &Path, name: &str) -> Result<(String, File), StoreError> {
    let name = safe(name);
    let (stem, extension) = name.rsplit_once('.').map_or((name.as_str(), ""), |(stem, _)| (stem, &name[stem.len()..]));
    let mut relative = format!("{FOLDER}/{name}");
    let mut copy = 1u64;
    loop {
        let path = folder.join(&relative);
        match File::create_new(&path) {
            Ok(file) => return Ok((relative, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                copy += 1;
                relative = format!("{FOLDER}/{stem}-{copy}{extension}");
            }
            Err(source) => return Err(StoreError::Write { path, source }),
        }
    }
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<String, StoreError> {
    let (relative, mut file) = create(folder, name)?;
    let path = folder.join(&relative);
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| sync_folder(&folder.join(FOLDER)));
    match written {
        Ok(()) => Ok(relative),
        Err(source) => {
            // Half an output is no output, and on a full disk it is in the way. If this fails too, the first error says more.
            let _ = fs::remove_file(&path);
            Err(StoreError::Write { path, source })
        }
    }
}

pub(crate) fn read(folder: &Path, name: &str) -> Result<Vec<u8>, StoreError> {
    let outside = || StoreError::Outside { folder: folder.to_owned(), name: model::text::printable(name, 300) };
    let relative = Path::new(name);
    if !relative.components().all(|c| matches!(c, Component::Normal(_))) {
        return Err(outside());
    }
    let path = folder.join(relative);
    let failed = |source| StoreError::Read { path: path.clone(), source };
    let root = folder.canonicalize().map_err(failed)?;
    let real = path.canonicalize().map_err(failed)?;
    // Folders and devices too are no outputs; reading a named pipe would hang.
    if !real.starts_with(&root) || !real.is_file() {
        return Err(outside());
    }
    fs::read(&real).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_made_of_safe_characters() {
        assert_eq!(raw_name(3, 1, "guest", "disk.randread-4k", "json"), "r003-a1-guest-disk.randread-4k.json");
        assert_eq!(safe("r003-a1-guest-disk.randread-4k.json"), "r003-a1-guest-disk.randread-4k.json");
        assert_eq!(safe("../../etc/passwd"), "raw..-..-etc-passwd");
        assert_eq!(safe("-rf"), "raw-rf");
        assert_eq!(safe(""), "raw");
        assert_eq!(safe("a b\n\u{202e}ü/"), "a-b----");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_name_is_stored_inside_and_read_back(name in any::<String>(), bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join(FOLDER)).unwrap();
            let first = write(folder.path(), &name, &bytes).unwrap();
            let second = write(folder.path(), &name, b"other").unwrap();
            prop_assert_ne!(&first, &second);
            prop_assert_eq!(read(folder.path(), &first).unwrap(), bytes);
            prop_assert_eq!(fs::read_dir(folder.path().join(FOLDER)).unwrap().count(), 2);
        }

        #[test]
        fn no_name_reads_anything_outside(name in "(/|\\.\\.|\\.|raw|secret|[a-z\\x00]){0,6}") {
            let outer = tempfile::tempdir().unwrap();
            fs::write(outer.path().join("secret"), "secret").unwrap();
            let folder = outer.path().join("study");
            fs::create_dir_all(folder.join(FOLDER)).unwrap();
            prop_assert!(read(&folder, &name).is_err());
        }
    }
}
