//! An init that says a word on the console and then does nothing: the least that a guest can be asked to do.

use machines::cpio::Writer;
use std::io;

/// What it says.
pub const WORD: &[u8] = b"vmtax idles";

/// Where the program is loaded.
const BASE: u64 = 0x40_0000;
/// Bytes of the ELF header and of its one program header.
const HEADERS: u64 = 64 + 56;
/// write(1, WORD, its length), then pause() for ever.
const CODE: [u8; 33] = [
    0xb8,
    1,
    0,
    0,
    0, // mov eax, SYS_write
    0xbf,
    1,
    0,
    0,
    0, // mov edi, 1
    0x48,
    0x8d,
    0x35,
    16,
    0,
    0,
    0, // lea rsi, [rip + 16]: WORD, which follows this code
    0xba,
    WORD.len() as u8,
    0,
    0,
    0, // mov edx, its length
    0x0f,
    0x05, // syscall
    0xb8,
    34,
    0,
    0,
    0, // mov eax, SYS_pause
    0x0f,
    0x05, // syscall
    0xeb,
    0xf7, // jmp to the last mov
];

/// A static ELF program for x86-64 (System V ABI, "Object Files"), one segment, no sections.
fn program() -> Vec<u8> {
    let size = HEADERS + (CODE.len() + WORD.len()) as u64;
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |elf: &mut Vec<u8>, values: &[u16]| values.iter().for_each(|v| elf.extend(v.to_le_bytes()));
    let word = |elf: &mut Vec<u8>, values: &[u32]| values.iter().for_each(|v| elf.extend(v.to_le_bytes()));
    let long = |elf: &mut Vec<u8>, values: &[u64]| values.iter().for_each(|v| elf.extend(v.to_le_bytes()));
    half(&mut elf, &[2, 62]); // executable, x86-64
    word(&mut elf, &[1]);
    long(&mut elf, &[BASE + HEADERS, 64, 0]); // entry, program headers, no section headers
    word(&mut elf, &[0]);
    half(&mut elf, &[64, 56, 1, 0, 0, 0]);
    word(&mut elf, &[1, 5]); // PT_LOAD, readable and executable
    long(&mut elf, &[0, BASE, BASE, size, size, 0x1000]);
    elf.extend(CODE);
    elf.extend(WORD);
    elf
}

/// An initramfs with nothing but this init and the console that the kernel opens for it.
pub fn initramfs() -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new());
    writer.directory("dev", 0o755)?;
    writer.device("dev/console", 0o600, 5, 1)?;
    writer.file("init", 0o755, &program())?;
    writer.finish()
}
