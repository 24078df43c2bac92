//! Processors: CPUID where it can be asked, /proc/cpuinfo, and the topology in /sys.

use crate::Root;
use crate::text::{cache_size, field, numbers};
use model::InstructionSet;
use model::facts::CpuFacts;
use std::collections::BTreeSet;

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn facts(root: &Root) -> CpuFacts {
    // The first processor stands for all: it is described well within 64 KiB.
    let info = root.head("proc/cpuinfo", 64 << 10).unwrap_or_default();
    let online = online(root);
    let first = online.first().copied().unwrap_or(0);
    let mut flags: Vec<String> = field(&info, "flags")
        .or_else(|| field(&info, "Features"))
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    flags.sort();
    flags.dedup();
    let named = |keys: &[&str]| keys.iter().find_map(|key| field(&info, key)).unwrap_or_default().to_owned();
    let facts = CpuFacts {
        vendor: named(&["vendor_id", "CPU implementer"]),
        model: named(&["model name", "CPU part"]),
        online: online.len() as u32,
        cores: cores(root, &online),
        nodes: root.line("sys/devices/system/node/online").and_then(|l| numbers(&l)).map(|nodes| nodes.len() as u32),
        isa: instruction_set(&flags),
        last_level_cache: last_level_cache(root, first),
        hypervisor: None,
        flags,
        governor: root.line(format!("{CPUS}/cpu{first}/cpufreq/scaling_governor")),
    };
    if root.is_live() { asked(facts) } else { facts }
}

/// The facts with what the CPU itself says. /proc/cpuinfo still has a say in the instruction set: the kernel leaves out what it
/// was told not to use.
#[cfg(target_arch = "x86_64")]
fn asked(facts: CpuFacts) -> CpuFacts {
    use crate::cpuid;
    let isa = cpuid::instruction_set();
    CpuFacts {
        vendor: cpuid::vendor().unwrap_or(facts.vendor),
        model: cpuid::brand().unwrap_or(facts.model),
        isa: if facts.flags.is_empty() { isa } else { isa.min(facts.isa) },
        hypervisor: cpuid::hypervisor(),
        ..facts
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn asked(facts: CpuFacts) -> CpuFacts {
    facts
}

/// CPUs online; where /sys does not say, those that /proc/stat counts.
fn online(root: &Root) -> Vec<u32> {
    root.line(format!("{CPUS}/online")).and_then(|line| numbers(&line)).unwrap_or_else(|| {
        let stat = root.read("proc/stat").unwrap_or_default();
        stat.lines().filter_map(|line| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok()).collect()
    })
}

/// Physical cores among `online`; none where the topology of any of them is unknown.
fn cores(root: &Root, online: &[u32]) -> Option<u32> {
    let place = |cpu: &u32| {
        let id = |name: &str| root.number::<i64>(format!("{CPUS}/cpu{cpu}/topology/{name}"));
        Some((id("physical_package_id")?, id("core_id")?))
    };
    let cores: BTreeSet<(i64, i64)> = online.iter().map(place).collect::<Option<_>>()?;
    (!cores.is_empty()).then_some(cores.len() as u32)
}

/// Size of the highest level of data cache that `cpu` sees.
fn last_level_cache(root: &Root, cpu: u32) -> Option<u64> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let caches = root.list(&folder).ok()?;
    let cache = |name: &String| {
        let line = |attribute: &str| root.line(format!("{folder}/{name}/{attribute}"));
        let level: u32 = line("level")?.parse().ok()?;
        (line("type")? != "Instruction").then_some((level, cache_size(&line("size")?)?))
    };
    caches.iter().filter_map(cache).max().map(|(_, bytes)| bytes)
}

/// The level that these flags of /proc/cpuinfo make up (System V ABI, AMD64 supplement, table 3.1; the kernel calls SSE3 `pni`, LZCNT
/// `abm`, and shows AVX only where it saves its registers).
fn instruction_set(flags: &[String]) -> InstructionSet {
    let has = |names: &[&str]| names.iter().all(|name| flags.iter().any(|flag| flag == name));
    let levels: [(InstructionSet, &[&str]); 3] = [
        (InstructionSet::V2, &["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"]),
        (InstructionSet::V3, &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"]),
        (InstructionSet::V4, &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
    ];
    levels.iter().take_while(|(_, names)| has(names)).last().map_or(InstructionSet::Baseline, |(level, _)| *level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;

    const V3: &str = "fpu lahf_lm cx16 popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave";

    fn level(flags: &str) -> InstructionSet {
        instruction_set(&flags.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_level_needs_all_its_flags_and_all_lower_levels() {
        assert_eq!(level(V3), InstructionSet::V3);
        assert_eq!(level(&V3.replace("f16c ", "")), InstructionSet::V2);
        assert_eq!(level(&V3.replace("popcnt ", "")), InstructionSet::Baseline);
        assert_eq!(level(&format!("{V3} avx512f avx512bw avx512cd avx512dq avx512vl")), InstructionSet::V4);
        assert_eq!(level("avx512f avx512bw avx512cd avx512dq avx512vl"), InstructionSet::Baseline);
    }

    #[test]
    fn processors_of_a_made_up_machine() {
        let info = format!(
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 63\nmodel name\t: Xeon E5\nflags\t\t: {V3}\n\nprocessor\t: 1\n"
        );
        let mut files = vec![
            ("proc/cpuinfo".to_owned(), info),
            (format!("{CPUS}/online"), "1-3\n".to_owned()),
            ("sys/devices/system/node/online".to_owned(), "0-1\n".to_owned()),
            (format!("{CPUS}/cpu1/cpufreq/scaling_governor"), "performance\n".to_owned()),
        ];
        for (cpu, package, core) in [(1, 0, 0), (2, 0, 0), (3, 1, 0)] {
            files.push((format!("{CPUS}/cpu{cpu}/topology/core_id"), format!("{core}\n")));
            files.push((format!("{CPUS}/cpu{cpu}/topology/physical_package_id"), format!("{package}\n")));
        }
        for (index, level, kind, size) in
            [(0, 1, "Data", "32K"), (1, 1, "Instruction", "64K"), (2, 2, "Unified", "1M"), (3, 3, "Unified", "30720K")]
        {
            for (name, value) in [("level", level.to_string()), ("type", kind.to_owned()), ("size", size.to_owned())] {
                files.push((format!("{CPUS}/cpu1/cache/index{index}/{name}"), value));
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        let (_folder, root) = tree(&files);
        let cpu = facts(&root);
        assert_eq!((cpu.vendor.as_str(), cpu.model.as_str()), ("GenuineIntel", "Xeon E5"));
        assert_eq!((cpu.online, cpu.cores, cpu.nodes), (3, Some(2), Some(2)));
        assert_eq!((cpu.isa, cpu.last_level_cache), (InstructionSet::V3, Some(30 << 20)));
        assert_eq!((cpu.hypervisor, cpu.governor.as_deref()), (None, Some("performance")));
        assert!(cpu.flags.is_sorted() && cpu.flags.len() == 17);
    }

    #[test]
    fn without_sys_the_cpus_of_proc_stat_count() {
        let (_folder, root) = tree(&[("proc/stat", "cpu  1 2\ncpu0 1 2\ncpu5 1 2\nintr 9\n")]);
        assert_eq!(online(&root), [0, 5]);
        assert_eq!(cores(&root, &[0, 5]), None);
    }

    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn cpuid_and_the_kernel_agree_on_this_machine() {
        let cpu = facts(&Root::live());
        assert_eq!(crate::cpuid::instruction_set(), instruction_set(&cpu.flags));
        assert_eq!(cpu.hypervisor.is_some(), cpu.flags.iter().any(|flag| flag == "hypervisor"));
        assert!(!cpu.vendor.is_empty() && !cpu.model.is_empty());
    }
}
