//! Programs of the host and the files that they need to start: interpreter and shared libraries, found as ld.so(8) finds
//! them, without running anything.

use crate::file_error::FileError;
use goblin::elf::Elf;
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where programs lie that PATH may leave out for users other than root.
const SYSTEM_FOLDERS: [&str; 5] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"];
/// Where the dynamic loader looks last, with Debian's multiarch folders.
const LIBRARY_FOLDERS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
/// Scripts whose interpreter is a script, and so on (the kernel allows four, see binfmt_script.c).
const MAX_SCRIPTS: usize = 4;

/// Why the files of a program cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// A library that is nowhere.
    #[error(
        "{needed_by} needs the library {library}, which is in none of the loader's folders. Install it; `ldd` shows what is missing"
    )]
    Library {
        /// Its name.
        library: String,
        /// The file that names it.
        needed_by: PathBuf,
    },
    /// A script whose interpreter is not there.
    #[error("The script {script} needs the interpreter '{interpreter}', which is not there. Install it")]
    Interpreter {
        /// The script.
        script: PathBuf,
        /// As it names it.
        interpreter: String,
    },
    /// Neither ELF nor script.
    #[error("{0} is no program: it is neither an ELF file nor a script")]
    NotProgram(PathBuf),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The program called `name`: by PATH, then in the system's folders; a name with a slash is a path. Absolute.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let runnable = |path: &Path| fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return std::path::absolute(name).ok().filter(|path| runnable(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
    folders.chain(SYSTEM_FOLDERS.map(PathBuf::from)).map(|dir| dir.join(name)).find(|path| runnable(path))
}

/// What a dynamic ELF file says about its needs.
#[derive(Clone, Debug, Default)]
struct Needs {
    machine: u16,
    interpreter: Option<String>,
    libraries: Vec<String>,
    rpath: Vec<String>,
    runpath: Vec<String>,
}

/// Finds the files that programs need. Files are parsed once for all programs.
#[derive(Debug)]
pub struct Closures {
    folders: Vec<PathBuf>,
    parsed: HashMap<PathBuf, Option<Needs>>,
}

impl Closures {
    /// With the loader's folders of this host.
    pub fn new() -> Self {
        let mut folders = Vec::new();
        read_conf(Path::new("/etc/ld.so.conf"), &mut folders, 0);
        folders.extend(LIBRARY_FOLDERS.map(PathBuf::from));
        Closures { folders, parsed: HashMap::new() }
    }

    /// `program` and every file that it needs to start, as the loader names them (symbolic links are not resolved). A shared
    /// library serves as well.
    pub fn of(&mut self, program: &Path) -> Result<Vec<PathBuf>, ElfError> {
        let mut files = Vec::new();
        let mut program = program.to_owned();
        for _ in 0..=MAX_SCRIPTS {
            files.push(program.clone());
            let bytes = fs::read(&program).map_err(FileError::on("read", &program))?;
            let Some(line) = bytes.strip_prefix(b"#!") else {
                return self.libraries(&program, files);
            };
            let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
            program = interpreter(&program, &String::from_utf8_lossy(line), &mut files)?;
        }
        Err(ElfError::NotProgram(program))
    }

    /// Adds the loader and the libraries of `program`, breadth first as ld.so does: of libraries with the same name, the first
    /// one found serves all.
    fn libraries(&mut self, program: &Path, mut files: Vec<PathBuf>) -> Result<Vec<PathBuf>, ElfError> {
        let root = self.needs(program)?.ok_or_else(|| ElfError::NotProgram(program.to_owned()))?;
        let mut named: HashMap<String, PathBuf> = HashMap::new();
        if let Some(interpreter) = root.interpreter.as_ref().map(PathBuf::from) {
            // libc names its loader as a library too.
            if let Some(name) = interpreter.file_name().and_then(|name| name.to_str()) {
                named.insert(name.to_owned(), interpreter.clone());
            }
            files.push(interpreter);
        }
        let mut queue = VecDeque::from([(program.to_owned(), root, Vec::new())]);
        while let Some((object, needs, inherited)) = queue.pop_front() {
            // A RUNPATH makes every RPATH void for this object; an RPATH also serves the libraries below.
            let own = expand(&needs.rpath, &object);
            let rpath: Vec<PathBuf> = own.into_iter().chain(inherited).collect();
            let first = if needs.runpath.is_empty() { rpath.clone() } else { expand(&needs.runpath, &object) };
            for library in &needs.libraries {
                if named.contains_key(library) {
                    continue;
                }
                let (path, below) = self
                    .find(library, &first, needs.machine)?
                    .ok_or_else(|| ElfError::Library { library: library.clone(), needed_by: object.clone() })?;
                named.insert(library.clone(), path.clone());
                files.extend(variants(&path));
                files.push(path.clone());
                queue.push_back((path, below, rpath.clone()));
            }
        }
        Ok(files)
    }

    fn find(&mut self, library: &str, first: &[PathBuf], machine: u16) -> Result<Option<(PathBuf, Needs)>, ElfError> {
        let places: Vec<PathBuf> = if library.contains('/') {
            vec![PathBuf::from(library)]
        } else {
            first.iter().chain(&self.folders).map(|dir| dir.join(library)).collect()
        };
        for place in places {
            // Folders may also hold libraries for other machines, which the loader passes over.
            if place.is_file()
                && let Some(needs) = self.needs(&place)?
                && needs.machine == machine
            {
                return Ok(Some((place, needs)));
            }
        }
        Ok(None)
    }

    /// The needs of an ELF file; none if it is something else.
    fn needs(&mut self, path: &Path) -> Result<Option<Needs>, ElfError> {
        if let Some(known) = self.parsed.get(path) {
            return Ok(known.clone());
        }
        let bytes = fs::read(path).map_err(FileError::on("read", path))?;
        let needs = parse(&bytes);
        self.parsed.insert(path.to_owned(), needs.clone());
        Ok(needs)
    }
}

impl Default for Closures {
    fn default() -> Self {
        Closures::new()
    }
}

fn parse(bytes: &[u8]) -> Option<Needs> {
    let elf = Elf::parse(bytes).ok()?;
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Some(Needs {
        machine: elf.header.e_machine,
        interpreter: elf.interpreter.map(str::to_owned),
        libraries: owned(&elf.libraries),
        rpath: owned(&elf.rpaths),
        runpath: owned(&elf.runpaths),
    })
}

/// The folders of search paths, with $ORIGIN as the folder of `object`.
fn expand(paths: &[String], object: &Path) -> Vec<PathBuf> {
    let real = fs::canonicalize(object).unwrap_or_else(|_| object.to_owned());
    let origin = real.parent().unwrap_or(Path::new("/")).to_string_lossy();
    let entries = paths.iter().flat_map(|path| path.split(':')).filter(|entry| !entry.is_empty());
    entries.map(|entry| PathBuf::from(entry.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin))).collect()
}

/// The variants of a library for newer processors (`glibc-hwcaps/x86-64-v3/…`): the loader prefers them, so a guest without
/// them would not run the same code as the host.
fn variants(library: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(name)) = (library.parent(), library.file_name()) else { return Vec::new() };
    let levels = fs::read_dir(dir.join("glibc-hwcaps")).into_iter().flatten().flatten();
    levels.map(|level| level.path().join(name)).filter(|path| path.is_file()).collect()
}

/// The program that runs `script`, whose first line is `#!` and `line`; `/usr/bin/env NAME` adds itself to `files`.
fn interpreter(script: &Path, line: &str, files: &mut Vec<PathBuf>) -> Result<PathBuf, ElfError> {
    let missing = |name: &str| ElfError::Interpreter { script: script.to_owned(), interpreter: name.to_owned() };
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let program = find_program(first).filter(|_| first.starts_with('/')).ok_or_else(|| missing(first))?;
    if program.file_name().is_none_or(|name| name != "env") {
        return Ok(program);
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('=')).unwrap_or_default();
    let real = find_program(name).ok_or_else(|| missing(name))?;
    files.extend(Closures::new().of(&program)?);
    Ok(real)
}

/// Adds the folders of an ld.so.conf; `include` takes a pattern such as `/etc/ld.so.conf.d/*.conf`.
fn read_conf(path: &Path, folders: &mut Vec<PathBuf>, depth: usize) {
    let text = fs::read_to_string(path).unwrap_or_default();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        match line.strip_prefix("include").filter(|rest| rest.starts_with(char::is_whitespace)) {
            Some(pattern) if depth < 4 => {
                let base = path.parent().unwrap_or(Path::new("/"));
                matching(&base.join(pattern.trim())).iter().for_each(|file| read_conf(file, folders, depth + 1));
            }
            Some(_) => {}
            None if line.starts_with('/') && !folders.contains(&PathBuf::from(line)) => {
                folders.push(PathBuf::from(line))
            }
            None => {}
        }
    }
}

/// The files that match a pattern with at most one `*`, in its last component; sorted.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(name)) = (pattern.parent(), pattern.file_name().and_then(|n| n.to_str())) else {
        return Vec::new();
    };
    let Some((prefix, suffix)) = name.split_once('*') else { return vec![pattern.to_owned()] };
    let fits =
        |name: &str| name.len() >= prefix.len() + suffix.len() && name.starts_with(prefix) && name.ends_with(suffix);
    let entries: io::Result<Vec<_>> = fs::read_dir(dir).and_then(Iterator::collect);
    let names = entries.unwrap_or_default().into_iter().filter(|e| e.file_name().to_str().is_some_and(fits));
    let mut found: Vec<PathBuf> = names.map(|e| e.path()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests;
