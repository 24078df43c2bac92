//! Makes a file system image of a [`Tree`] with mke2fs(8).

use super::{ToolboxError, Tree};
use crate::cache::{Cache, Kind};
use crate::elf::find_program;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes in a block.
const BLOCK: u64 = 4096;
/// Bytes that ext4 takes for an inode.
const INODE: u64 = 256;
/// Inodes that mke2fs keeps for itself, with room for lost+found.
const RESERVED_INODES: u64 = 16;
/// Blocks in a group: as many as one block of bitmap has bits.
const GROUP: u64 = 8 * BLOCK;
/// Extents instead of block lists (fewer reads in the guest), and nothing that is of use to writers only.
const FEATURES: &str = "none,extent,filetype,sparse_super,large_file";
/// Fixed, so that equal trees give as equal images as the installed mke2fs can make.
const UUID: &str = "766d7461-7820-746f-6f6c-626f78000001";

/// Copies the tree, makes the image of it and puts that into the cache.
pub(super) fn make(tree: &Tree, key: &str, cache: &Cache) -> Result<PathBuf, ToolboxError> {
    let mke2fs = find_program("mke2fs").ok_or(ToolboxError::NoMke2fs)?;
    let stage = cache.partial_folder()?;
    tree.copy_to(stage.path())?;
    cache.put(Kind::Toolbox, key, |_, image| run(&mke2fs, stage.path(), image, tree))
}

fn run(mke2fs: &Path, stage: &Path, image: &Path, tree: &Tree) -> Result<(), ToolboxError> {
    let inodes = tree.inodes() + RESERVED_INODES;
    let failed = |said: String| ToolboxError::Mke2fs { image: image.to_owned(), said };
    let output = Command::new(mke2fs)
        .args(["-q", "-F", "-t", "ext4", "-O", FEATURES, "-m", "0", "-U", UUID])
        .args(["-b", &BLOCK.to_string(), "-I", &INODE.to_string(), "-N", &inodes.to_string()])
        .args(["-E", &format!("root_owner=0:0,nodiscard,hash_seed={UUID}")])
        .arg("-d")
        .args([stage, image])
        .arg(blocks(tree, inodes).to_string())
        // The host's own defaults must not change the image; time stamps must not either, where mke2fs lets them be set.
        .env("MKE2FS_CONFIG", "/dev/null")
        .env("E2FSPROGS_FAKE_TIME", "1")
        .env("SOURCE_DATE_EPOCH", "1")
        .env("LC_ALL", "C")
        .output()
        .map_err(|e| failed(format!("it cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(failed(model::text::last_lines(&said, 3)))
}

/// Blocks of an image just large enough: contents, inode tables (rounded up to whole blocks in every group), bitmaps and
/// copies of the superblock and of the group descriptors.
fn blocks(tree: &Tree, inodes: u64) -> u64 {
    let contents = tree.blocks(BLOCK) + (inodes * INODE).div_ceil(BLOCK) + 16;
    let groups = contents.div_ceil(GROUP - 64);
    contents + groups * 32
}
