//! What the machines of a study are, and how they behaved between the runs.

mod canary;
mod differences;

pub use differences::{Difference, differences};

use crate::signal::{shaped, unknown, warn_if};
use model::benchmark::Runner;
use model::check::{Check, Status, Threat};
use model::plan::AcceleratorChoice;
use model::record::{GUEST, HOST, Line, Manifest};
use model::{Accelerator, Benchmark};

/// CPUID signatures of hypervisors, as far as they tell who executes.
const KVM: &str = "KVM";
const TCG: &str = "TCG";

/// Product names of machines whose CPU or disk lives on credits, as their providers write them into the DMI table.
const BURSTABLE: &[&str] = &[
    "t1.",
    "t2.",
    "t3.",
    "t3a.",
    "t4g.",
    "Standard_B",
    "e2-micro",
    "e2-small",
    "e2-medium",
    "f1-micro",
    "g1-small",
    "ecs.t5",
    "ecs.t6",
];

/// The checks of the study as a whole.
pub fn checks(manifest: &Manifest, lines: &[Line]) -> Vec<Check> {
    let limits = &manifest.plan.limits;
    let visits = canary::Visits::of(lines);
    let mut checks = vec![accelerator(manifest, &visits)];
    checks.extend([HOST, GUEST].into_iter().map(|machine| visits.check(limits, machine)));
    checks.push(environment(manifest));
    checks.push(burst_credits(manifest));
    checks
}

/// The checks of one benchmark that follow from the machines.
pub fn of_benchmark(manifest: &Manifest, benchmark: &Benchmark) -> Vec<Check> {
    let mut checks = vec![kernel(manifest, benchmark)];
    checks.extend(tool_version(manifest, benchmark));
    checks
}

/// Who executes guest instructions: what the user asked for, what the study says, what QEMU says, what the guest's CPUID says; and a
/// guest that computes so slowly that nobody believes in KVM.
fn accelerator(manifest: &Manifest, visits: &canary::Visits<'_>) -> Check {
    let threat = Threat::Accelerator;
    let expected = match manifest.plan.accelerator {
        AcceleratorChoice::Kvm => Accelerator::Kvm,
        AcceleratorChoice::Tcg => Accelerator::Tcg,
        AcceleratorChoice::Auto => manifest.accelerator,
    };
    let signature = manifest.machines.get(GUEST).and_then(|facts| facts.cpu.hypervisor.as_deref());
    let by_cpuid = signature.and_then(|signature| match signature {
        kvm if kvm.starts_with(KVM) => Some(Accelerator::Kvm),
        tcg if tcg.starts_with(TCG) => Some(Accelerator::Tcg),
        _ => None,
    });
    let qemu = &manifest.hypervisor;
    let by_qemu = (!qemu.version.is_empty()).then_some(if qemu.kvm { Accelerator::Kvm } else { Accelerator::Tcg });
    let seen = [("study", Some(manifest.accelerator)), ("hypervisor", by_qemu), ("cpuid", by_cpuid)];
    if let Some((shape, accelerator)) = seen.iter().find_map(|(s, a)| a.filter(|a| *a != expected).map(|a| (*s, a))) {
        let check = shaped(threat, Status::Invalid, shape).with("expected", expected.name());
        return check.with("seen", accelerator.name());
    }
    if expected == Accelerator::Kvm
        && let Some(factor) = visits.slowdown().filter(|factor| *factor > manifest.plan.limits.canary_emulated)
    {
        return shaped(threat, Status::Invalid, "canary").with("slower-factor", factor);
    }
    if by_qemu.is_none() {
        return unknown(threat);
    }
    shaped(threat, Status::Pass, "agreed").with("seen", expected.name())
}

/// Everything that host and guest do not share, beside virtualization itself.
fn environment(manifest: &Manifest) -> Check {
    let threat = Threat::Environment;
    if [HOST, GUEST].iter().any(|machine| !manifest.machines.contains_key(*machine)) {
        return unknown(threat);
    }
    let found = differences(manifest);
    if found.is_empty() {
        return shaped(threat, Status::Pass, "none");
    }
    let keys: Vec<&str> = found.iter().map(|difference| difference.key.as_str()).collect();
    let check = shaped(threat, Status::Warn, "differences").with("differences", found.len() as f64);
    check.with("keys", keys.join(", ").as_str())
}

/// A host whose provider gives it bursts on credit.
fn burst_credits(manifest: &Manifest) -> Check {
    let product = manifest.machines.get(HOST).and_then(|facts| facts.product.as_deref());
    let Some(product) = product else { return unknown(Threat::BurstCredits) };
    let burstable = BURSTABLE.iter().any(|name| product.starts_with(name));
    shaped(Threat::BurstCredits, warn_if(burstable), "product").with("product", product)
}

/// Another kernel in the guest than on the host. Where the kernel does the work, the row is about their difference too.
fn kernel(manifest: &Manifest, benchmark: &Benchmark) -> Check {
    let release = |machine: &str| {
        let release = manifest.machines.get(machine).map(|facts| facts.kernel_release.as_str());
        release.filter(|release| !release.is_empty())
    };
    let Some((host, guest)) = release(HOST).zip(release(GUEST)) else { return unknown(Threat::Kernel) };
    let shape = match (host == guest, benchmark.kernel_bound) {
        (true, _) => "same",
        (false, true) => "kernel-bound",
        (false, false) => "other",
    };
    shaped(Threat::Kernel, warn_if(host != guest), shape).with("host", host).with("guest", guest)
}

/// Another version of a tool on one side. Both sides run the same file, so that only its libraries or its surroundings can make it
/// say so; the session writes it down as a note, because a [`model::record::ToolFact`] has room for one version.
fn tool_version(manifest: &Manifest, benchmark: &Benchmark) -> Option<Check> {
    let Runner::Tool { driver } = &benchmark.runner else { return None };
    let threat = Threat::ToolVersion;
    let Some(tool) = manifest.tools.iter().find(|tool| tool.name == *driver) else { return Some(unknown(threat)) };
    let says = format!("{driver} says '");
    let note = manifest.notes.iter().find(|note| note.starts_with(&says) && note.ends_with(" in the guest."));
    Some(match note {
        Some(note) => shaped(threat, Status::Warn, "differs").with("note", note.as_str()),
        None if tool.version.is_empty() => unknown(threat),
        None => shaped(threat, Status::Pass, "same").with("version", tool.version.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{benchmark, manifest, status, visit};
    use model::Area;
    use model::record::ToolFact;

    #[test]
    fn machines_that_are_alike_pass_every_check() {
        let manifest = manifest();
        let lines = [
            visit(HOST, 1, false, 0.05),
            visit(GUEST, 1, false, 0.051),
            visit(HOST, 1, true, 0.05),
            visit(GUEST, 1, true, 0.051),
        ];
        let found = checks(&manifest, &lines);
        assert!(found.len() == 5 && found.iter().all(|check| check.status == Status::Pass), "{found:#?}");
        for area in [Area::Cpu, Area::Disk] {
            let found = of_benchmark(&manifest, &benchmark(area));
            assert!(!found.is_empty() && found.iter().all(|check| check.status == Status::Pass), "{found:#?}");
        }
    }

    #[test]
    fn machines_of_which_nothing_is_known_pass_no_check() {
        let mut manifest = manifest();
        manifest.machines.clear();
        manifest.tools.clear();
        manifest.hypervisor = Default::default();
        let mut found = checks(&manifest, &[]);
        found.extend(of_benchmark(&manifest, &benchmark(Area::Disk)));
        assert!(found.len() == 7 && found.iter().all(|check| check.status == Status::Unknown), "{found:#?}");
    }

    #[test]
    fn emulation_where_the_user_asked_for_kvm_is_rejected_whoever_says_so() {
        let judge = |change: fn(&mut Manifest)| {
            let mut manifest = manifest();
            change(&mut manifest);
            status(&checks(&manifest, &[]), Threat::Accelerator)
        };
        assert_eq!(judge(|_| ()), Some(Status::Pass));
        assert_eq!(judge(|m| m.accelerator = Accelerator::Tcg), Some(Status::Invalid), "another study than asked for");
        assert_eq!(judge(|m| m.hypervisor.kvm = false), Some(Status::Invalid), "QEMU denies it");
        let denied =
            |m: &mut Manifest| m.machines.get_mut(GUEST).unwrap().cpu.hypervisor = Some("TCGTCGTCGTCG".to_owned());
        assert_eq!(judge(denied), Some(Status::Invalid), "the guest's CPUID denies it");
        assert_eq!(
            judge(|m| m.machines.get_mut(GUEST).unwrap().cpu.hypervisor = None),
            Some(Status::Pass),
            "it may be hidden"
        );
        assert_eq!(judge(|m| m.hypervisor.version.clear()), Some(Status::Unknown));
    }

    #[test]
    fn an_emulated_study_that_was_chosen_passes() {
        let mut manifest = manifest();
        (manifest.plan.accelerator, manifest.accelerator) = (AcceleratorChoice::Auto, Accelerator::Tcg);
        manifest.hypervisor.kvm = false;
        manifest.machines.get_mut(GUEST).unwrap().cpu.hypervisor = Some("TCGTCGTCGTCG".to_owned());
        let slow = [visit(HOST, 1, false, 0.05), visit(GUEST, 1, false, 0.9)];
        assert_eq!(status(&checks(&manifest, &slow), Threat::Accelerator), Some(Status::Pass));
    }

    #[test]
    fn a_guest_that_computes_like_an_emulator_is_rejected_under_kvm() {
        let manifest = manifest();
        let judge = |guest: f64| {
            let lines = [visit(HOST, 1, false, 0.05), visit(GUEST, 1, false, guest)];
            status(&checks(&manifest, &lines), Threat::Accelerator)
        };
        assert_eq!(judge(0.16), Some(Status::Invalid));
        assert_eq!(judge(0.10), Some(Status::Pass));
    }

    #[test]
    fn another_kernel_warns_and_says_whether_the_kernel_does_the_work() {
        let mut manifest = manifest();
        manifest.machines.get_mut(GUEST).unwrap().kernel_release = "6.12.1".to_owned();
        let mut benchmark = benchmark(Area::Cpu);
        for (bound, shape) in [(true, "kernel-bound"), (false, "other")] {
            benchmark.kernel_bound = bound;
            let check = kernel(&manifest, &benchmark);
            assert_eq!((check.status, &check.evidence["shape"]), (Status::Warn, &shape.into()));
        }
    }

    #[test]
    fn a_tool_that_says_another_version_in_the_guest_warns() {
        let mut manifest = manifest();
        manifest.notes.push("fio says 'fio-3.33' on the host and 'fio-3.36' in the guest.".to_owned());
        let found = of_benchmark(&manifest, &benchmark(Area::Disk));
        assert_eq!(status(&found, Threat::ToolVersion), Some(Status::Warn));
        assert_eq!(status(&of_benchmark(&manifest, &benchmark(Area::Cpu)), Threat::ToolVersion), None);
        manifest.notes.clear();
        manifest.tools = vec![ToolFact { version: String::new(), ..manifest.tools[0].clone() }];
        let found = of_benchmark(&manifest, &benchmark(Area::Disk));
        assert_eq!(status(&found, Threat::ToolVersion), Some(Status::Unknown));
    }

    #[test]
    fn a_burstable_host_and_a_different_environment_warn() {
        let mut manifest = manifest();
        manifest.machines.get_mut(HOST).unwrap().product = Some("t3.large".to_owned());
        manifest.machines.get_mut(GUEST).unwrap().thp_enabled = Some("never".to_owned());
        let found = checks(&manifest, &[]);
        assert_eq!(status(&found, Threat::BurstCredits), Some(Status::Warn));
        assert_eq!(status(&found, Threat::Environment), Some(Status::Warn));
    }
}
