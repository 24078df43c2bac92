use super::*;
use std::io::Write;

fn cache() -> (TempDir, Cache) {
    let dir = TempDir::new().unwrap();
    let cache = Cache::open(Some(dir.path().join("cache"))).unwrap();
    (dir, cache)
}

fn put(cache: &Cache, kind: Kind, key: &str, text: &str) -> PathBuf {
    cache
        .put::<FileError>(kind, key, |file, path| file.write_all(text.as_bytes()).map_err(FileError::on("write", path)))
        .unwrap()
}

fn names(cache: &Cache) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(cache.dir()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_whole_readable_for_all_and_found_again() {
    let (_dir, cache) = cache();
    assert_eq!(cache.get(Kind::Initramfs, "k"), None);
    let path = put(&cache, Kind::Initramfs, "k", "contents");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::metadata(cache.dir()).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(cache.get(Kind::Initramfs, "k"), Some(path.clone()));
    assert_eq!(cache.get(Kind::Toolbox, "k"), None);
    assert_eq!(fs::read_to_string(path).unwrap(), "contents");
}

#[test]
fn a_writer_that_fails_leaves_nothing() {
    let (_dir, cache) = cache();
    let failed = cache.put::<FileError>(Kind::Toolbox, "k", |_, path| {
        Err(FileError::on("write", path)(io::Error::from(io::ErrorKind::StorageFull)))
    });
    assert!(failed.is_err());
    assert_eq!(names(&cache), Vec::<String>::new());
}

#[test]
fn a_sweep_takes_leftovers_and_spares_work_in_progress() {
    let (_dir, cache) = cache();
    let dead_file = cache.dir().join(".vmtax-part-dead");
    let dead_folder = cache.dir().join(".vmtax-part-folder");
    fs::write(&dead_file, "half").unwrap();
    fs::create_dir_all(dead_folder.join("x/y")).unwrap();
    fs::write(cache.dir().join("mine"), "not ours").unwrap();
    let live = cache.partial_folder().unwrap();
    let live_file = cache.partial_file().unwrap();
    let mut swept = cache.sweep_partial().unwrap();
    swept.sort();
    assert_eq!(swept, [dead_file, dead_folder]);
    assert!(live.path().is_dir() && live_file.path().is_file() && cache.dir().join("mine").is_file());
    drop((live, live_file));
    assert_eq!(names(&cache), ["mine"]);
}

#[test]
fn old_files_make_room_and_fresh_ones_stay_whatever_their_number() {
    let (_dir, cache) = cache();
    let long_ago = SystemTime::now() - 2 * Duration::from_secs(86_400);
    for i in 0..9 {
        let path = put(&cache, Kind::Toolbox, &format!("old{i}"), "");
        File::open(path).unwrap().set_modified(long_ago + Duration::from_secs(i)).unwrap();
    }
    for i in 0..3 {
        put(&cache, Kind::Toolbox, &format!("new{i}"), "");
    }
    put(&cache, Kind::Initramfs, "other", "");
    let left = names(&cache);
    for gone in 0..6 {
        assert!(!left.contains(&format!("toolbox-old{gone}")), "{left:?}");
    }
    assert_eq!(left.len(), 7, "{left:?}");
    assert!(left.contains(&"toolbox-old8".to_owned()) && left.contains(&"initramfs-other".to_owned()));
}

#[test]
fn a_remembered_hash_is_forgotten_when_its_file_changes() {
    let (dir, cache) = cache();
    let path = dir.path().join("source");
    let question = format!("sha256 of {}", path.display());
    fs::write(&path, "one").unwrap();
    assert_eq!(cache.sha256(&path).unwrap(), hex_digest(b"one"));
    assert_eq!(cache.recall(&question), None, "the file is too fresh");
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    File::open(&path).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(cache.sha256(&path).unwrap(), hex_digest(b"one"));
    assert_eq!(cache.recall(&question), Some(hex_digest(b"one")));
    fs::write(dir.path().join("next"), "two").unwrap();
    fs::rename(dir.path().join("next"), &path).unwrap();
    assert_eq!(cache.sha256(&path).unwrap(), hex_digest(b"two"));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = Cache::open(Some(dir.path().join("file/cache"))).unwrap_err();
    let CacheError::File(source) = &error else { panic!("{error}") };
    assert!(source.to_string().contains("file/cache"), "{source}");
}
