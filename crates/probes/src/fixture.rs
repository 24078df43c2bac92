//! Made-up machines for the tests.

use crate::Root;
use tempfile::TempDir;

/// A root with these files.
pub fn tree(files: &[(&str, &str)]) -> (TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let root = Root::at(folder.path());
    (folder, root)
}
