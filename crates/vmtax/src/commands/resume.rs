//! `vmtax resume`: goes on with a study on the same machine with the same bits.

use crate::cli::Resume;
use crate::progress::Teller;
use crate::session::{Order, Session, check_host, machines, work_dir};
use crate::signals::Stop;
use model::Accelerator;
use model::plan::AcceleratorChoice;
use model::record::{GUEST, HOST, Manifest};
use std::cell::RefCell;
use std::process::ExitCode;
use store::StudyFolder;

/// Checks that the figures may stand beside those that are there, then makes the missing rounds.
pub fn resume(args: &Resume) -> anyhow::Result<ExitCode> {
    let run_timeout = super::run::timeout(args.run_timeout.as_deref())?;
    let writer = StudyFolder::open_for_writing(&args.study)?;
    let old = writer.folder().manifest()?;
    let history = writer.folder().journal()?;
    if let Some(why) = study::finished(&old.plan, &old.benchmarks, &history.lines) {
        super::report::conclude(writer.folder())?;
        eprintln!("Nothing is left to do. {why}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut plan = old.plan.clone();
    // What worked then is what must work now.
    plan.accelerator = match old.accelerator {
        Accelerator::Kvm => AcceleratorChoice::Kvm,
        Accelerator::Tcg => AcceleratorChoice::Tcg,
    };
    let order = Order {
        work_dir: &work_dir(args.work_dir.as_ref(), &args.study),
        busy_host: args.busy_host,
        sources: &args.sources,
        plan,
    };
    check_host(&order)?;
    let stop = Stop::install()?;
    let teller = Teller::new();
    let prepared = Session::prepare(order, &stop, &teller);
    teller.turn(false);
    let mut session = prepared?;
    let differences = differences(&old, &session.manifest);
    if !differences.is_empty() {
        teller.done();
        anyhow::bail!(
            "This study cannot go on here, because its rounds could not be compared with new ones: {}. Begin a new one with vmtax run",
            differences.join("; ")
        );
    }
    session.manifest = Manifest { data_file: session.manifest.data_file.clone(), ..old };
    let writer = RefCell::new(writer);
    let conclusion =
        session.conduct(&machines(&session.manifest), &writer, &history.lines, run_timeout, &stop, &teller);
    drop(session);
    super::run::finish(&writer.into_inner(), conclusion)
}

/// What differs between then and now and would make rounds incomparable.
fn differences(old: &Manifest, new: &Manifest) -> Vec<String> {
    let host = |m: &Manifest| m.machines.get(HOST).cloned().unwrap_or_default();
    let guest = |m: &Manifest| m.machines.get(GUEST).cloned().unwrap_or_default();
    let (oh, nh, og, ng) = (host(old), host(new), guest(old), guest(new));
    let tools =
        |m: &Manifest| m.tools.iter().map(|t| format!("{} {}", t.version, t.sha256)).collect::<Vec<_>>().join(", ");
    let pairs = [
        ("vmtax build", old.build.clone(), new.build.clone()),
        ("host CPU", oh.cpu.model, nh.cpu.model),
        ("host kernel", oh.kernel_release, nh.kernel_release),
        ("guest kernel", old.kernel.sha256.clone(), new.kernel.sha256.clone()),
        ("guest clock source", og.clock.source.unwrap_or_default(), ng.clock.source.unwrap_or_default()),
        ("QEMU", old.hypervisor.version.clone(), new.hypervisor.version.clone()),
        ("tools", tools(old), tools(new)),
        ("instruction set", old.isa.to_string(), new.isa.to_string()),
        ("accelerator", old.accelerator.name().to_owned(), new.accelerator.name().to_owned()),
        ("CPUs", format!("{:?}", old.cpu_set), format!("{:?}", new.cpu_set)),
        (
            "file system of the data",
            old.data_file_system.clone().unwrap_or_default(),
            new.data_file_system.clone().unwrap_or_default(),
        ),
    ];
    pairs
        .into_iter()
        .filter(|(_, then, now)| then != now)
        .map(|(what, then, now)| format!("{what} was '{then}' and is '{now}'"))
        .collect()
}
