use super::*;
use proptest::prelude::*;
use std::fs::Permissions;
use std::process::Command;
use tempfile::TempDir;

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|f| f.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// A dynamic program that every Linux has.
fn dynamic() -> PathBuf {
    find_program("ls").unwrap()
}

#[test]
fn a_dynamic_program_brings_its_loader_and_libc() {
    let program = dynamic();
    let files = Closures::new().of(&program).unwrap();
    assert_eq!(files[0], program);
    let names = names(&files);
    assert!(names.iter().any(|n| n.starts_with("ld-linux") || n.starts_with("ld-musl")), "{names:?}");
    assert!(names.iter().any(|n| n.starts_with("libc.")), "{names:?}");
    assert!(files.iter().all(|f| f.is_file()));
}

#[test]
fn the_libraries_are_those_that_the_loader_itself_lists() {
    for name in ["ls", "fio", "mke2fs", "qemu-img"] {
        let Some(program) = find_program(name) else { continue };
        let Ok(output) = Command::new("ldd").arg(&program).output() else { return };
        let text = String::from_utf8(output.stdout).unwrap();
        let mut listed: Vec<PathBuf> = text
            .split_whitespace()
            .filter(|word| word.starts_with('/'))
            .filter_map(|word| fs::canonicalize(word).ok())
            .collect();
        let files = Closures::new().of(&program).unwrap();
        let mut found: Vec<PathBuf> = files[1..].iter().map(|f| fs::canonicalize(f).unwrap()).collect();
        for list in [&mut listed, &mut found] {
            list.sort();
            list.dedup();
        }
        assert_eq!(found, listed, "{name}");
    }
}

#[test]
fn a_script_brings_its_interpreter_and_env_brings_both() {
    let dir = TempDir::new().unwrap();
    let script = |line: &str| {
        let path = dir.path().join("script");
        fs::write(&path, format!("{line}\necho\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    };
    let files = names(&Closures::new().of(&script("#! /bin/sh -e")).unwrap());
    assert_eq!(files[..2], ["script", "sh"]);
    assert!(files.iter().any(|n| n.starts_with("libc.")));
    let files = names(&Closures::new().of(&script("#!/usr/bin/env -S sh")).unwrap());
    assert!(files.contains(&"env".to_owned()) && files.contains(&"sh".to_owned()), "{files:?}");
    for (line, missing) in
        [("#!/no/such/thing", "/no/such/thing"), ("#!/usr/bin/env nonesuch-x", "nonesuch-x"), ("#!", "''")]
    {
        let error = Closures::new().of(&script(line)).unwrap_err().to_string();
        assert!(error.contains(missing), "{error}");
    }
}

#[test]
fn a_script_that_interprets_itself_ends() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("loop");
    fs::write(&path, format!("#!{}\n", path.display())).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(Closures::new().of(&path), Err(ElfError::NotProgram(_))));
}

#[test]
fn data_is_no_program_and_a_name_without_program_is_not_found() {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("data");
    fs::write(&data, "text").unwrap();
    assert!(matches!(Closures::new().of(&data), Err(ElfError::NotProgram(_))));
    assert_eq!(find_program("no-such-program-of-vmtax"), None);
    assert_eq!(find_program(data.to_str().unwrap()), None, "it may not be executed");
    assert_eq!(find_program("/bin"), None, "a folder is no program");
}

#[test]
fn a_static_program_needs_nothing_else() {
    // These tests are one themselves: the workspace builds for musl.
    if cfg!(target_env = "musl") {
        let this = std::env::current_exe().unwrap();
        assert_eq!(Closures::new().of(&this).unwrap(), [this]);
    }
}

#[test]
fn search_paths_know_their_origin() {
    let paths = ["$ORIGIN/../lib:/abs".to_owned(), "${ORIGIN}".to_owned()];
    assert_eq!(
        expand(&paths, Path::new("/nowhere/bin/x")),
        ["/nowhere/bin/../lib", "/abs", "/nowhere/bin"].map(PathBuf::from)
    );
}

#[test]
fn the_loader_s_configuration_is_read_with_its_includes() {
    let dir = TempDir::new().unwrap();
    let conf = dir.path().join("ld.so.conf");
    fs::create_dir(dir.path().join("d")).unwrap();
    fs::write(&conf, "# first\ninclude d/*.conf\n/b # last\ninclude ld.so.conf\nhwcap 1 x\n").unwrap();
    fs::write(dir.path().join("d/1.conf"), "/a1\n").unwrap();
    fs::write(dir.path().join("d/2.conf"), "/a2\n").unwrap();
    fs::write(dir.path().join("d/3.off"), "/no\n").unwrap();
    let mut folders = Vec::new();
    read_conf(&conf, &mut folders, 3);
    assert_eq!(folders, ["/a1", "/a2", "/b"].map(PathBuf::from), "and a file that includes itself ends");
}

proptest! {
    #[test]
    fn garbage_never_panics(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        flips in proptest::collection::vec((0usize..4096, any::<u8>()), 1..12),
    ) {
        let _ = parse(&bytes);
        let _ = parse(&[b"\x7fELF\x02\x01\x01".as_slice(), &bytes].concat());
        let mut program = fs::read(dynamic()).unwrap();
        program.truncate(64 << 10);
        for (at, value) in flips {
            program[at] = value;
        }
        let _ = parse(&program);
    }
}
