//! Reads the machine code of the timed regions: between clock start and clock stop nothing of a C library may run.
//!
//! The functions whose names begin with `timed_` are what the clock is put around. All calls from them, direct or through
//! the global offset table, are followed.
#![cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "musl"))]
#![expect(clippy::unwrap_used, reason = "all of it is test, also what is not marked as one")]

use goblin::elf::Elf;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind};
use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;

/// What must not be called: the C library's memory, string and allocation functions, and its wrappers of system calls.
const FOREIGN: &[&str] = &[
    "memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen", "strcmp", "malloc", "calloc", "realloc", "free", "read",
    "write", "lseek", "lseek64",
];

/// Every timed function there is; one that is missing was inlined or renamed, and is not looked at any more.
const TIMED: &[&str] = &[
    "timed_copy_avx2",
    "timed_copy_sse2",
    "timed_copy_words",
    "timed_dhrystone",
    "timed_file_copy",
    "timed_stream_avx2",
    "timed_stream_sse2",
    "timed_whetstone",
    "timed_xorshift",
];

/// This test's own machine code.
struct Program {
    bytes: Vec<u8>,
    /// Functions by address: name and size.
    functions: BTreeMap<u64, (String, u64)>,
    /// Virtual address and size of what is loaded, and its offset in the file.
    segments: Vec<(u64, u64, u64)>,
    /// What the loader writes into pointers, by their addresses.
    pointers: BTreeMap<u64, u64>,
}

impl Program {
    fn this() -> Program {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let elf = Elf::parse(&bytes).unwrap();
        let functions = elf.syms.iter().filter(|s| s.is_function() && s.st_value > 0);
        // musl's memcpy is assembly and has no size: one byte is enough to find it by its address.
        let functions = functions
            .map(|s| (s.st_value, (elf.strtab.get_at(s.st_name).unwrap().to_owned(), s.st_size.max(1))))
            .collect();
        let segments = elf.program_headers.iter().filter(|h| h.p_type == goblin::elf::program_header::PT_LOAD);
        let segments = segments.map(|h| (h.p_vaddr, h.p_filesz, h.p_offset)).collect();
        let pointers = elf.dynrelas.iter().filter(|r| r.r_type == goblin::elf::reloc::R_X86_64_RELATIVE);
        let pointers = pointers.map(|r| (r.r_offset, r.r_addend.unwrap() as u64)).collect();
        Program { functions, segments, pointers, bytes }
    }

    fn file(&self, address: u64, size: u64) -> &[u8] {
        let (start, _, offset) =
            self.segments.iter().find(|(start, n, _)| (*start..start + n).contains(&address)).unwrap();
        let at = (address - start + offset) as usize;
        &self.bytes[at..at + size as usize]
    }

    fn function_at(&self, address: u64) -> Option<(u64, &str, u64)> {
        let (start, (name, size)) = self.functions.range(..=address).next_back()?;
        (address < start + size).then_some((*start, name, *size))
    }

    /// The functions that `name` stands for. Rust's names are mangled, so that the name is a part of them, after its length.
    fn named(&self, name: &str) -> Vec<u64> {
        let mangled = format!("{}{name}", name.len());
        let ours = self.functions.iter().filter(|(_, (n, _))| n == name || n.contains(&mangled));
        ours.map(|(address, _)| *address).collect()
    }

    /// Where the function at `start` goes to when it leaves itself; an error where that cannot be seen.
    fn leaves_for(&self, start: u64) -> Result<BTreeSet<u64>, String> {
        let (_, name, size) = self.function_at(start).ok_or(format!("no function at {start:#x}"))?;
        let mut found = BTreeSet::new();
        let within = start..start + size;
        // Compilers load the address of a function into a register before a loop that calls it.
        let mut held = BTreeMap::new();
        let mut effects = InstructionInfoFactory::new();
        for code in &mut Decoder::with_ip(64, self.file(start, size), start, DecoderOptions::NONE) {
            if code.is_invalid() {
                return Err(format!("{name} has no instruction at {:#x}", code.ip()));
            }
            let target = match code.flow_control() {
                // A system call is what some workloads measure.
                FlowControl::Call if code.mnemonic() == Mnemonic::Syscall => None,
                FlowControl::Call | FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                    Some(code.near_branch_target())
                }
                FlowControl::IndirectCall if code.op0_kind() == OpKind::Register => {
                    held.get(&code.op0_register()).copied()
                }
                FlowControl::IndirectCall | FlowControl::IndirectBranch => self.address_in(&code, code.op0_kind()),
                _ => None,
            };
            match target {
                Some(target) if within.contains(&target) => {}
                Some(target) => drop(found.insert(target)),
                None if code.flow_control() == FlowControl::IndirectCall => {
                    return Err(format!("{name} calls where nobody knows at {:#x}", code.ip()));
                }
                // A jump through a register is the table of a `match`, and stays in the function.
                None => {}
            }
            let written = effects.info(&code).used_registers().iter();
            for used in written.filter(|used| !matches!(used.access(), OpAccess::Read | OpAccess::CondRead)) {
                held.remove(&used.register().full_register());
            }
            if code.op0_kind() == OpKind::Register
                && matches!(code.mnemonic(), Mnemonic::Lea | Mnemonic::Mov)
                && let Some(address) = self.address_in(&code, code.op1_kind())
            {
                held.insert(code.op0_register(), address);
            }
        }
        Ok(found)
    }

    /// The address that an operand relative to the instruction pointer stands for: itself, or what is stored there.
    fn address_in(&self, code: &Instruction, operand: OpKind) -> Option<u64> {
        if operand != OpKind::Memory || !code.is_ip_rel_memory_operand() {
            return None;
        }
        let address = code.ip_rel_memory_address();
        if code.mnemonic() == Mnemonic::Lea { Some(address) } else { self.pointers.get(&address).copied() }
    }

    /// Every foreign function that can be reached from `start`, with who calls it.
    fn foreign_calls(&self, start: u64) -> Vec<String> {
        let (mut seen, mut open, mut found) = (BTreeSet::new(), vec![start], Vec::new());
        while let Some(address) = open.pop() {
            if !seen.insert(address) {
                continue;
            }
            let caller = self.function_at(address).map_or("?", |(_, name, _)| name);
            match self.leaves_for(address) {
                Err(why) => found.push(why),
                Ok(targets) => {
                    for target in targets {
                        match self.function_at(target) {
                            // A panic ends the run, and with it the time: what it calls does not matter.
                            Some((_, name, _)) if name.contains("4core9panicking") => {}
                            Some((_, name, _)) if FOREIGN.contains(&name) => {
                                found.push(format!("{caller} calls {name}"))
                            }
                            Some((start, ..)) => open.push(start),
                            None => found.push(format!("{caller} goes to {target:#x}, where no function is")),
                        }
                    }
                }
            }
        }
        found
    }
}

/// Copies as one would who does not know better; what [`Program::foreign_calls`] must find.
#[inline(never)]
fn control_that_copies(to: &mut [u8], from: &[u8]) {
    let n = black_box(to.len().min(from.len()));
    to[..n].copy_from_slice(&from[..n]);
}

/// The same one call deeper.
#[inline(never)]
fn control_that_calls_it(to: &mut [u8], from: &[u8]) -> u8 {
    control_that_copies(to, from);
    black_box(to[0])
}

/// Compiles to a call of malloc.
#[inline(never)]
fn control_that_allocates(n: usize) -> Vec<u64> {
    Vec::with_capacity(black_box(n))
}

/// Through a pointer that nobody knows.
#[inline(never)]
fn control_through_a_pointer(call: fn(u64) -> u64) -> u64 {
    call(1) + 1
}

#[test]
fn timed_regions_call_nothing_foreign() {
    // Or else the linker would drop what is to be read.
    assert!(!black_box(vmtax_workloads::ALL).is_empty());
    let program = Program::this();
    let symbols = program
        .functions
        .values()
        .map(|(name, _)| name.as_str())
        .filter(|name| name.contains("workloads") && name.contains("timed_"));
    let unlisted: Vec<&str> = symbols.filter(|s| !TIMED.iter().any(|t| s.contains(t))).collect();
    assert!(unlisted.is_empty(), "not in the list: {unlisted:?}");
    for name in TIMED {
        let found = program.named(name);
        assert_eq!(found.len(), 1, "{name} is there {} times", found.len());
        let foreign = program.foreign_calls(found[0]);
        assert!(foreign.is_empty(), "{name}: {foreign:#?}");
    }
}

#[test]
fn what_does_call_something_foreign_is_found() {
    let (mut to, from) = ([0; 64], [1; 64]);
    control_that_calls_it(&mut to, &from);
    assert_eq!(
        (to[0], control_that_allocates(3).capacity() >= 3, control_through_a_pointer(black_box(|x| x))),
        (1, true, 2)
    );
    let program = Program::this();
    for (control, call) in [
        ("control_that_copies", "calls memcpy"),
        ("control_that_calls_it", "calls memcpy"),
        ("control_that_allocates", "calls malloc"),
        ("control_through_a_pointer", "calls where nobody knows"),
    ] {
        let [address] = program.named(control)[..] else { panic!("{control} was inlined") };
        let foreign = program.foreign_calls(address);
        assert!(foreign.iter().any(|f| f.contains(call)), "{control}: {foreign:?}");
    }
}
