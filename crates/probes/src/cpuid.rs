//! What the CPU says of itself (Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E).

use model::InstructionSet;
use model::text::printable;
use raw_cpuid::{CpuId, cpuid};
use std::arch::is_x86_feature_detected as has;

/// Vendor, for example `GenuineIntel`.
pub fn vendor() -> Option<String> {
    CpuId::new().get_vendor_info().map(|vendor| tidy(vendor.as_str()))
}

/// Model name.
pub fn brand() -> Option<String> {
    CpuId::new().get_processor_brand_string().map(|brand| tidy(brand.as_str())).filter(|brand| !brand.is_empty())
}

/// The hypervisor's signature (leaf 0x40000000: EBX, ECX, EDX); `unnamed` for one that has none; none on bare metal, where the leaf
/// would return something else's data.
pub fn hypervisor() -> Option<String> {
    if !CpuId::new().get_feature_info().is_some_and(|features| features.has_hypervisor()) {
        return None;
    }
    let leaf = cpuid!(0x4000_0000u32);
    Some(signature([leaf.ebx, leaf.ecx, leaf.edx]))
}

fn signature(registers: [u32; 3]) -> String {
    let bytes: Vec<u8> = registers.iter().flat_map(|r| r.to_le_bytes()).collect();
    let text = tidy(&String::from_utf8_lossy(&bytes));
    if text.is_empty() { "unnamed".to_owned() } else { text }
}

fn tidy(text: &str) -> String {
    printable(text.trim_matches(|c: char| c.is_whitespace() || c == '\0'), 64)
}

/// The highest level that the CPU has and the kernel has switched on. (The standard library's detection asks XCR0 whether the
/// kernel saves the AVX and AVX-512 registers.)
pub fn instruction_set() -> InstructionSet {
    let lahf = CpuId::new().get_extended_processor_and_feature_identifiers().is_some_and(|f| f.has_lahf_sahf());
    let v2 = lahf && has!("cmpxchg16b") && has!("popcnt") && has!("sse4.2") && has!("sse4.1") && has!("ssse3");
    let v3 = v2
        && has!("avx2")
        && has!("bmi1")
        && has!("bmi2")
        && has!("f16c")
        && has!("fma")
        && has!("lzcnt")
        && has!("movbe");
    let v4 = v3 && has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    match (v2, v3, v4) {
        (_, _, true) => InstructionSet::V4,
        (_, true, _) => InstructionSet::V3,
        (true, _, _) => InstructionSet::V2,
        _ => InstructionSet::Baseline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_trimmed_and_made_printable() {
        let registers = |bytes: &[u8; 12]| {
            [0, 4, 8].map(|i| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]))
        };
        assert_eq!(signature(registers(b"KVMKVMKVM\0\0\0")), "KVMKVMKVM");
        assert_eq!(signature(registers(b"TCGTCGTCGTCG")), "TCGTCGTCGTCG");
        assert_eq!(signature(registers(b"Microsoft Hv")), "Microsoft Hv");
        assert_eq!(signature(registers(b"\x1b[2J\0\0\0\0\0\0\0\0")), "\\u{1b}[2J");
        assert_eq!(signature([0; 3]), "unnamed");
    }
}
