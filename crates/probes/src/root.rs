//! Where a machine's /proc and /sys are: the live ones, or a folder that looks like them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// More than any file that is read here holds, except on machines that are not understood anyway.
const LIMIT: u64 = 4 << 20;

/// The root of a machine's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    folder: PathBuf,
    live: bool,
}

impl Root {
    /// This machine.
    pub fn live() -> Self {
        Root { folder: PathBuf::from("/"), live: true }
    }

    /// A copy of another one, under `folder`. What can only be asked of a running kernel or CPU is then unknown.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Root { folder: folder.into(), live: false }
    }

    /// True for this machine: system calls and CPUID may be asked.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// Where `relative` (`proc/stat`, or an absolute path of that machine) is.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        let relative = relative.as_ref();
        self.folder.join(relative.strip_prefix("/").unwrap_or(relative))
    }

    /// The contents of a file, at most 4 MiB; invalid UTF-8 is replaced. The error names the file.
    pub fn read(&self, relative: impl AsRef<Path>) -> io::Result<String> {
        let path = self.path(relative);
        // A process that ends between open and read gives ESRCH; for a reader that is the same as not finding it.
        const ESRCH: i32 = 3;
        let named = |error: io::Error| {
            let gone = error.raw_os_error() == Some(ESRCH);
            let kind = if gone { io::ErrorKind::NotFound } else { error.kind() };
            io::Error::new(kind, format!("Cannot read {}: {error}", path.display()))
        };
        let bytes = read_bounded(&path, LIMIT + 1).map_err(named)?;
        if bytes.len() as u64 > LIMIT {
            return Err(named(io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {LIMIT} bytes"))));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The beginning of a file, for those that repeat themselves (/proc/cpuinfo of 512 CPUs is longer than the limit).
    pub(crate) fn head(&self, relative: &str, bytes: u64) -> Option<String> {
        let bytes = read_bounded(&self.path(relative), bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file of one value, trimmed; none where it is unreadable or empty.
    pub(crate) fn line(&self, relative: impl AsRef<Path>) -> Option<String> {
        let text = self.read(relative).ok()?;
        let line = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// A file that holds one number.
    pub(crate) fn number<T: std::str::FromStr>(&self, relative: impl AsRef<Path>) -> Option<T> {
        self.line(relative)?.parse().ok()
    }

    /// The names in a folder, sorted. The error names the folder.
    pub(crate) fn list(&self, relative: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let path = self.path(relative);
        let entries = std::fs::read_dir(&path)
            .map_err(|error| io::Error::new(error.kind(), format!("Cannot list {}: {error}", path.display())))?;
        let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }
}

fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use crate::fixture::tree;
    use std::io::ErrorKind;

    #[test]
    fn an_error_names_the_file() {
        let (_folder, root) = tree(&[]);
        let error = root.read("proc/stat").unwrap_err();
        assert!(error.kind() == ErrorKind::NotFound && error.to_string().contains("proc/stat: "), "{error}");
    }

    #[test]
    fn what_is_too_long_is_refused_and_bad_text_is_replaced() {
        let (_folder, root) = tree(&[("a", "x\n")]);
        std::fs::write(root.path("long"), vec![b'1'; super::LIMIT as usize + 1]).unwrap();
        std::fs::write(root.path("bad"), b"\xff\0\n").unwrap();
        assert_eq!(root.read("/a").unwrap(), "x\n");
        assert_eq!(root.read("long").unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(root.line("bad").as_deref(), Some("\u{fffd}"));
        assert_eq!(root.list("").unwrap(), ["a", "bad", "long"]);
    }
}
