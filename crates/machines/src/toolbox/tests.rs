use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use tempfile::TempDir;

fn cache(dir: &TempDir, name: &str) -> Cache {
    Cache::open(Some(dir.path().join(name))).unwrap()
}

fn build(programs: &[&str], extra: &[PathBuf], cache: &Cache) -> Result<Toolbox, ToolboxError> {
    Toolbox::build(&programs.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(), extra, cache)
}

/// The output of a debugfs(8) request on an image.
fn debugfs(image: &Path, request: &str) -> String {
    let output = Command::new(find_program("debugfs").unwrap()).args(["-R", request]).arg(image).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A file as it stands in an image, written to `to`.
fn dump(image: &Path, path: &str, to: &Path) -> Vec<u8> {
    let said = debugfs(image, &format!("dump {path} {}", to.display()));
    fs::read(to).unwrap_or_else(|e| panic!("{path}: {e}: {said}"))
}

#[test]
fn the_image_holds_the_program_its_loader_and_libc_and_is_sound() {
    let dir = TempDir::new().unwrap();
    let extra = dir.path().join("extra");
    fs::write(&extra, "data").unwrap();
    let toolbox = build(&["ls"], std::slice::from_ref(&extra), &cache(&dir, "c")).unwrap();
    let image = &toolbox.image;
    let check = Command::new(find_program("e2fsck").unwrap()).args(["-f", "-n"]).arg(image).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    assert_eq!(fs::metadata(image).unwrap().permissions().mode() & 0o777, 0o644);

    for file in Closures::new().of(&find_program("ls").unwrap()).unwrap() {
        let real = fs::canonicalize(&file).unwrap();
        let out = dir.path().join("out");
        assert_eq!(dump(image, real.to_str().unwrap(), &out), fs::read(&real).unwrap(), "{real:?}");
        // The name that the loader looks for, too.
        assert!(debugfs(image, &format!("stat {}", file.display())).contains("Inode:"), "{file:?}");
    }
    assert_eq!(dump(image, extra.to_str().unwrap(), &dir.path().join("out")), b"data");
    if Path::new("/bin").is_symlink() {
        assert!(debugfs(image, "stat /bin").contains("Type: symlink"), "scripts name /bin/sh");
    }
    let [ls] = toolbox.programs.as_slice() else { panic!("{toolbox:?}") };
    assert_eq!(ls.guest_path, ls.host_path);
    assert_eq!(ls.sha256, crate::cache::hex_digest(&fs::read(&ls.host_path).unwrap()));
}

#[test]
fn the_links_of_the_host_are_links_in_the_image() {
    let dir = TempDir::new().unwrap();
    let base = dir.path().join("base");
    fs::create_dir_all(base.join("usr/lib")).unwrap();
    fs::write(base.join("usr/lib/libx.so.1.2"), "library").unwrap();
    symlink("usr/lib", base.join("lib")).unwrap();
    symlink("libx.so.1.2", base.join("usr/lib/libx.so.1")).unwrap();
    symlink(base.join("lib/../lib/libx.so.1"), base.join("absolute")).unwrap();
    let mut tree = Tree::default();
    let real = tree.add(&base.join("absolute")).unwrap();
    assert_eq!(real, base.join("usr/lib/libx.so.1.2"));
    let stage = dir.path().join("stage");
    fs::create_dir(&stage).unwrap();
    tree.copy_to(&stage).unwrap();
    let staged = |name: &str| stage.join(base.strip_prefix("/").unwrap()).join(name);
    assert_eq!(fs::read_link(staged("lib")).unwrap(), Path::new("usr/lib"));
    assert_eq!(fs::read_link(staged("usr/lib/libx.so.1")).unwrap(), Path::new("libx.so.1.2"));
    assert_eq!(fs::read_link(staged("absolute")).unwrap(), base.join("lib/../lib/libx.so.1"));
    assert_eq!(fs::read(staged("lib/libx.so.1")).unwrap(), b"library");

    symlink("round", base.join("round")).unwrap();
    assert!(tree.add(&base.join("round")).is_err());
    assert!(matches!(tree.add(Path::new("/dev/null")), Err(ToolboxError::NotFile(_))));
}

#[test]
fn equal_contents_have_equal_hashes_and_the_second_call_makes_nothing() {
    let dir = TempDir::new().unwrap();
    let [a, b] = ["a", "b"].map(|name| cache(&dir, name));
    let first = build(&["ls", "sh"], &[], &a).unwrap();
    let other = build(&["ls", "sh"], &[], &b).unwrap();
    assert_eq!((&first.sha256, &first.programs), (&other.sha256, &other.programs));
    let made = fs::metadata(&first.image).unwrap();
    assert_eq!(build(&["ls", "sh"], &[], &a).unwrap(), first);
    assert_eq!(
        std::os::unix::fs::MetadataExt::ino(&fs::metadata(&first.image).unwrap()),
        std::os::unix::fs::MetadataExt::ino(&made)
    );
    assert_ne!(build(&["ls"], &[], &a).unwrap().sha256, first.sha256);
}

#[test]
fn a_changed_file_gives_another_image() {
    let dir = TempDir::new().unwrap();
    let cache = cache(&dir, "c");
    let extra = dir.path().join("extra");
    fs::create_dir(&extra).unwrap();
    let file = extra.join("file");
    let image_of = |text: &str| {
        fs::write(&file, text).unwrap();
        fs::File::open(&file).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let toolbox = build(&[], std::slice::from_ref(&extra), &cache).unwrap();
        dump(&toolbox.image, file.to_str().unwrap(), &dir.path().join("out"))
    };
    assert_eq!(image_of("one"), b"one");
    assert_eq!(image_of("three"), b"three");
    assert_eq!(image_of("one"), b"one");
}

#[test]
fn a_program_below_a_folder_that_guests_have_is_run_from_the_mount() {
    assert_eq!(guest_path(Path::new("/usr/bin/fio")), Path::new("/usr/bin/fio"));
    assert_eq!(guest_path(Path::new("/tmp/a/tool")), Path::new("/tools/tmp/a/tool"));
    assert_eq!(guest_path(Path::new("/home/x/tool")), Path::new("/home/x/tool"));
}

#[test]
fn what_is_missing_is_named_with_its_package() {
    let dir = TempDir::new().unwrap();
    let cache = cache(&dir, "c");
    let error = build(&["ls", "no-such-tool"], &[], &cache).unwrap_err().to_string();
    assert!(error.contains("'no-such-tool'") && error.contains("apt-get install no-such-tool"), "{error}");
    let data = dir.path().join("data");
    fs::write(&data, "").unwrap();
    let error = build(&[data.to_str().unwrap()], &[], &cache).unwrap_err().to_string();
    assert!(error.contains("data' is not an executable file"), "{error}");
    let error = build(&[], &[PathBuf::from("/no/such/file")], &cache).unwrap_err();
    assert!(error.to_string().contains("/no/such/file"), "{error}");
}

#[test]
fn a_toolbox_of_many_small_and_some_large_files_fits_its_image() {
    let dir = TempDir::new().unwrap();
    let extra = dir.path().join("many");
    fs::create_dir(&extra).unwrap();
    for i in 0..1500 {
        fs::write(extra.join(format!("a-rather-long-file-name-number-{i}")), "x").unwrap();
    }
    let large = fs::File::create(extra.join("large")).unwrap();
    large.set_len(150 << 20).unwrap();
    let toolbox = build(&[], &[extra], &cache(&dir, "c")).unwrap();
    let check = Command::new(find_program("e2fsck").unwrap()).args(["-f", "-n"]).arg(&toolbox.image).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    assert!(fs::metadata(&toolbox.image).unwrap().len() < 170 << 20, "the image is just large enough");
}
