//! What may be compared with what, and what is said of the rest.

use crate::{gate, named, study};
use model::record::{GUEST, HOST};
use model::{Accelerator, Area, InstructionSet, ParamValue, Runner};
use vmtax_report::compare::{CompareError, Note, ParamDifference, Reason, Which, compare};

#[test]
fn nothing_in_common_says_what_each_has_and_what_can_still_be_done() {
    let (cpu, disk) = (study(1, 8, 1.0).only(&[Area::Cpu]), study(2, 8, 1.0).only(&[Area::Disk]));
    let error = compare(&named(&cpu, "before"), &named(&disk, "after"), None, None).unwrap_err();
    let text = error.to_string();
    for part in ["cpu.dhrystone", "disk.randread-4k", "vmtax report before", "vmtax report after"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert!(matches!(error, CompareError::NothingInCommon { .. }));
}

#[test]
fn cells_that_are_all_unlike_are_nothing_in_common_either_and_the_reason_is_told() {
    let a = study(1, 8, 1.0).only(&[Area::Memory]);
    let mut b = study(2, 8, 1.0).only(&[Area::Memory]);
    b.manifest.isa = InstructionSet::V2;
    let text = compare(&named(&a, "before"), &named(&b, "after"), None, None).unwrap_err().to_string();
    assert!(text.contains("memory.memcpy: other instructions: x86-64-v3 in A, x86-64-v2 in the other"), "{text}");
    let nothing_measured = crate::sample::Study::kvm(8);
    let text = compare(&named(&a, "before"), &named(&nothing_measured, "after"), None, None).unwrap_err().to_string();
    assert!(text.contains("memory.memcpy: not measured on host and guest in B"), "{text}");
}

#[test]
fn other_parameters_versions_and_units_are_listed_with_their_reason() {
    let a = study(1, 8, 1.0);
    let mut b = study(2, 8, 1.0);
    b.manifest.plan.cells[0].params.set("time", ParamValue::Number(9.0));
    if let Runner::Workload { version, .. } = &mut b.manifest.benchmarks[1].runner {
        *version = 2;
    }
    b.manifest.benchmarks[2].metrics[0].unit = model::Unit::PerSecond;
    b.manifest.benchmarks.remove(3);
    b.manifest.tools[0].version = "fio-3.40".to_owned();
    let found = gate(&a, &b);
    let reason = |id: &str| &found.left_out.iter().find(|l| l.benchmark == id).unwrap().reason;
    let differing = vec![ParamDifference { key: "time".to_owned(), a: Some("5".to_owned()), b: Some("9".to_owned()) }];
    assert_eq!(*reason("cpu.dhrystone"), Reason::Parameters { differing });
    let versions = |a: &str, b: &str| Reason::Version { a: a.to_owned(), b: b.to_owned() };
    assert_eq!(*reason("cpu.whetstone"), versions("cpu.whetstone 1", "cpu.whetstone 2"));
    assert_eq!(*reason("cpu.file-copy-4k"), Reason::Metric);
    assert_eq!(*reason("memory.memcpy"), Reason::OnlyIn { study: Which::A });
    assert_eq!(*reason("disk.write-1m"), versions("fio-3.33", "fio-3.40"));
    assert_eq!((found.primary().count(), found.family, found.left_out.len()), (2, 2, 10));
    let back = gate(&b, &a);
    assert!(back.left_out.iter().any(|l| l.reason == Reason::OnlyIn { study: Which::B }));
}

#[test]
fn what_differs_between_the_environments_is_listed_once_and_nothing_else() {
    let a = study(1, 8, 1.0);
    let mut b = study(2, 8, 1.0);
    assert_eq!(gate(&a, &b).differences, []);
    b.manifest.hypervisor.version = "QEMU emulator version 10.1.0".to_owned();
    b.manifest.plan.configuration.settings.insert("disk.cache".to_owned(), "writeback".to_owned());
    b.manifest.tools[0].sha256 = "00".repeat(32);
    b.manifest.plan.limits = model::Limits { ..b.manifest.plan.limits.clone() };
    let host = b.manifest.machines.get_mut(HOST).unwrap();
    host.kernel_release = "6.14.1".to_owned();
    host.vulnerabilities.insert("spectre_v2".to_owned(), "Vulnerable".to_owned());
    host.load_average = Some(3.0);
    host.clock.read_seconds = Some(5e-8);
    let found = gate(&a, &b);
    let told: Vec<(&str, Option<&str>)> = found.differences.iter().map(|d| (d.key.as_str(), d.of.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("qemu", None),
            ("host-kernel", None),
            ("setting", Some("disk.cache")),
            ("tool", Some("fio")),
            ("host-mitigation", Some("spectre_v2")),
        ]
    );
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

#[test]
fn another_processor_or_accelerator_is_loud() {
    let a = study(1, 8, 1.0);
    let mut b = study(2, 8, 1.0);
    b.manifest.machines.get_mut(HOST).unwrap().cpu.model = "AMD EPYC 9654".to_owned();
    b.manifest.accelerator = Accelerator::Tcg;
    b.manifest.hypervisor.kvm = false;
    b.manifest.machines.get_mut(GUEST).unwrap().cpu.hypervisor = Some("TCGTCGTCGTCG".to_owned());
    let notes = gate(&a, &b).notes;
    assert!(
        matches!(notes[..], [Note::OtherMachine { .. }, Note::OtherAccelerator { .. }, Note::Emulated]),
        "{notes:?}"
    );
}

#[test]
fn a_repetition_in_another_environment_is_told() {
    let (a, b, mut c) = (study(1, 8, 1.0), study(2, 8, 1.2), study(3, 8, 1.2));
    c.manifest.machines.get_mut(HOST).unwrap().kernel_release = "6.99".to_owned();
    let found = compare(&a.analyse(), &b.analyse(), Some(&c.analyse()), None).unwrap();
    let expected = Note::NotARepetition { differs: vec!["host kernel: 6.12.8 → 6.99".to_owned()] };
    assert_eq!(found.notes, [expected]);
}
