//! Kernel modules in the order in which they must be loaded.
//!
//! Names are found by `modules.dep` where depmod(8) has written one, else by walking the folder (a package that was only
//! unpacked has none). What a module needs is read from its own `.modinfo` section in both cases: `depends=` is what
//! `modules.dep` is made from, and `softdep=` stands there too.

use crate::file_error::FileError;
use crate::kernel::decompress::{Packing, UnpackError};
use goblin::elf::Elf;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What every guest loads, whatever it is for: the port to the agent, disks, and the file system of the toolbox.
pub const OF_EVERY_GUEST: &[&str] = &["virtio_pci", "virtio_console", "virtio_blk", "ext4"];

/// Largest module, bytes.
const MAX_MODULE: usize = 64 << 20;
/// Compressed modules carry one of these after `.ko`.
const SUFFIXES: [&str; 4] = [".ko", ".ko.xz", ".ko.zst", ".ko.gz"];

/// A module, ready for finit_module(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name with underscores, as in /proc/modules.
    pub name: String,
    /// The uncompressed object.
    pub bytes: Vec<u8>,
}

/// Why modules cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// No such module.
    #[error(
        "Kernel module '{name}'{needed_by} is neither in {dir} nor built into that kernel. Take a kernel that has it \
         (--kernel FILE --modules DIR)"
    )]
    Missing {
        /// Its name.
        name: String,
        /// The module that needs it, as an insertion; or nothing.
        needed_by: String,
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// A damaged file.
    #[error("{path} cannot be unpacked")]
    Unpack {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: UnpackError,
    },
    /// Not a module.
    #[error("{0} is no kernel module: it has no .modinfo section. Unpack or install the kernel's package again")]
    NotModule(PathBuf),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

/// `wanted` and all that they need, each after what it needs; modules that are built into the kernel are left out.
pub fn load_order(dir: &Path, wanted: &[&str]) -> Result<Vec<Module>, ModuleError> {
    let mut walk = Walk { folder: Folder::read(dir)?, visited: HashSet::new(), order: Vec::new() };
    for name in wanted {
        walk.visit(&canonical(name), None)?;
    }
    Ok(walk.order)
}

/// The release that some module in `dir` was built for, by its `vermagic`; none if that cannot be told.
pub fn release_of_any(dir: &Path) -> Option<String> {
    let bytes = first_module(&dir.join("kernel")).and_then(|path| read_module(&path).ok())?;
    let vermagic = modinfo(&bytes)?.into_iter().find(|(key, _)| *key == "vermagic")?.1;
    vermagic.split_whitespace().next().map(str::to_owned)
}

/// A folder of modules: what is there and what need not be.
struct Folder {
    dir: PathBuf,
    files: HashMap<String, PathBuf>,
    builtin: HashSet<String>,
    aliases: HashMap<String, String>,
}

impl Folder {
    fn read(dir: &Path) -> Result<Folder, FileError> {
        let mut files = HashMap::new();
        match fs::read_to_string(dir.join("modules.dep")) {
            Ok(text) => {
                let paths = text.lines().filter_map(|line| line.split_once(':')).map(|(path, _)| dir.join(path));
                files.extend(paths.filter_map(|path| Some((name_of(&path)?, path))));
            }
            // depmod never ran here.
            Err(_) => collect(dir, &mut files)?,
        }
        let builtin = fs::read_to_string(dir.join("modules.builtin")).unwrap_or_default();
        let aliases = fs::read_to_string(dir.join("modules.alias")).unwrap_or_default();
        Ok(Folder {
            dir: dir.to_owned(),
            files,
            builtin: builtin.lines().filter_map(|line| name_of(Path::new(line))).collect(),
            aliases: aliases.lines().filter_map(alias).collect(),
        })
    }

    /// The module that a soft dependency means. It may be an alias, and without depmod nothing lists those: but what file
    /// systems ask for (crc32c and the like) is by convention implemented in `<alias>_generic`.
    fn soft<'a>(&'a self, name: &'a str) -> Option<String> {
        let known = |name: &str| self.files.contains_key(name) || self.builtin.contains(name);
        let generic = format!("{name}_generic");
        let alias = self.aliases.get(name).map(String::as_str);
        [Some(name), alias, Some(generic.as_str())].into_iter().flatten().find(|name| known(name)).map(str::to_owned)
    }
}

struct Walk {
    folder: Folder,
    visited: HashSet<String>,
    order: Vec<Module>,
}

impl Walk {
    fn visit(&mut self, name: &str, needed_by: Option<&str>) -> Result<(), ModuleError> {
        if self.folder.builtin.contains(name) || !self.visited.insert(name.to_owned()) {
            return Ok(());
        }
        let path = self.folder.files.get(name).cloned().ok_or_else(|| ModuleError::Missing {
            name: name.to_owned(),
            needed_by: needed_by.map_or_else(String::new, |by| format!(" (which {by} needs)")),
            dir: self.folder.dir.clone(),
        })?;
        let bytes = read_module(&path)?;
        let info = modinfo(&bytes).ok_or_else(|| ModuleError::NotModule(path.clone()))?;
        let (hard, soft) = dependencies(&info);
        // A soft dependency that does not exist is none (modprobe.d(5)).
        let soft: Vec<String> = soft.iter().filter_map(|name| self.folder.soft(name)).collect();
        for dependency in soft.iter().chain(&hard) {
            self.visit(dependency, Some(name))?;
        }
        self.order.push(Module { name: name.to_owned(), bytes });
        Ok(())
    }
}

/// The names after `depends=` and after `pre:` in `softdep=`.
fn dependencies(info: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let (mut hard, mut soft) = (Vec::new(), Vec::new());
    for (key, value) in info {
        match *key {
            "depends" => hard.extend(value.split(',').filter(|name| !name.is_empty()).map(canonical)),
            "softdep" => {
                let words = value.split_whitespace().skip_while(|word| *word != "pre:").skip(1);
                soft.extend(words.take_while(|word| !word.ends_with(':')).map(canonical));
            }
            _ => {}
        }
    }
    (hard, soft)
}

/// The pairs in the `.modinfo` section of an object.
fn modinfo(object: &[u8]) -> Option<Vec<(&str, &str)>> {
    let elf = Elf::parse(object).ok()?;
    let section = elf.section_headers.iter().find(|s| elf.shdr_strtab.get_at(s.sh_name) == Some(".modinfo"))?;
    let bytes = object.get(section.file_range()?)?;
    let texts = bytes.split(|b| *b == 0).filter_map(|text| std::str::from_utf8(text).ok());
    Some(texts.filter_map(|text| text.split_once('=')).collect())
}

fn read_module(path: &Path) -> Result<Vec<u8>, ModuleError> {
    let bytes = fs::read(path).map_err(FileError::on("read", path))?;
    match Packing::of(&bytes) {
        Some(Packing::Elf) => Ok(bytes),
        Some(packing) => {
            packing.unpack(&bytes, MAX_MODULE).map_err(|source| ModuleError::Unpack { path: path.to_owned(), source })
        }
        None => Err(ModuleError::NotModule(path.to_owned())),
    }
}

/// Module names know no difference between `-` and `_`.
fn canonical(name: &str) -> String {
    name.replace('-', "_")
}

fn name_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    SUFFIXES.iter().find_map(|suffix| file.strip_suffix(suffix)).map(canonical)
}

/// `alias NAME MODULE`; names with wildcards are of devices, which nothing here asks for.
fn alias(line: &str) -> Option<(String, String)> {
    let mut words = line.strip_prefix("alias ")?.split_whitespace();
    let (name, module) = (words.next()?, words.next()?);
    (!name.contains('*')).then(|| (canonical(name), canonical(module)))
}

fn collect(dir: &Path, files: &mut HashMap<String, PathBuf>) -> Result<(), FileError> {
    for entry in fs::read_dir(dir).map_err(FileError::on("read", dir))? {
        let entry = entry.map_err(FileError::on("read", dir))?;
        // Not followed: `build` and `source` are links to whole source trees.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), files)?;
        } else if let Some(name) = name_of(&entry.path()) {
            files.insert(name, entry.path());
        }
    }
    Ok(())
}

fn first_module(dir: &Path) -> Option<PathBuf> {
    fs::read_dir(dir).ok()?.flatten().find_map(|entry| {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            first_module(&path)
        } else {
            name_of(&path).is_some().then_some(path)
        }
    })
}

#[cfg(test)]
pub(crate) mod tests;
