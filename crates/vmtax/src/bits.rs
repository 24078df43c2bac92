//! The identity of this binary: the GNU build id that the linker made of its contents (ld(1), --build-id). Controller and agents
//! compare it, so that both sides are known to run the same bits; reading it costs one page, not a hash of the whole file.

use anyhow::{Context, bail};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// ELF program header type of notes.
const PT_NOTE: u32 = 4;
/// Note type of a build id, in notes of the owner "GNU".
const NT_GNU_BUILD_ID: u32 = 3;

/// The program itself, by a path that also holds in its children.
pub fn program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("Could not find vmtax's own program file")
}

/// The build id of the running program, hexadecimal.
pub fn build_id() -> anyhow::Result<String> {
    let mut head = Vec::new();
    File::open("/proc/self/exe")
        .and_then(|file| file.take(64 << 10).read_to_end(&mut head))
        .context("Could not read vmtax's own program file")?;
    match note(&head) {
        Some(id) => Ok(id.iter().map(|byte| format!("{byte:02x}")).collect()),
        None => {
            bail!("This vmtax was linked without a build id. Build it with `make build`, which asks the linker for one")
        }
    }
}

/// Finds the build id in the first bytes of a 64-bit little-endian ELF file.
fn note(elf: &[u8]) -> Option<&[u8]> {
    let u16_at = |at: usize| Some(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(elf.get(at..at + 4)?.try_into().ok()?));
    let u64_at =
        |at: usize| usize::try_from(u64::from_le_bytes(elf.get(at..at.checked_add(8)?)?.try_into().ok()?)).ok();
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (u64_at(32)?, u16_at(54)? as usize, u16_at(56)? as usize);
    for i in 0..count {
        let header = table.checked_add(i * size)?;
        if u32_at(header)? != PT_NOTE {
            continue;
        }
        let (mut at, length) = (u64_at(header + 8)?, u64_at(header + 32)?);
        let end = at.checked_add(length)?.min(elf.len());
        while at + 12 <= end {
            let (name, content, kind) = (u32_at(at)? as usize, u32_at(at + 4)? as usize, u32_at(at + 8)?);
            let start = at.checked_add(12)?.checked_add(name.next_multiple_of(4))?;
            if kind == NT_GNU_BUILD_ID && elf.get(at + 12..at + 16) == Some(b"GNU\0") {
                return elf.get(start..start.checked_add(content)?);
            }
            at = start.checked_add(content.next_multiple_of(4))?;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_program_has_a_build_id() {
        let id = super::build_id().unwrap();
        assert!(id.len() >= 16 && id.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    }

    #[test]
    fn no_cut_of_an_elf_file_panics() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        for cut in (0..2000).chain([4096, 65536]) {
            let _ = super::note(&bytes[..cut.min(bytes.len())]);
        }
    }
}
