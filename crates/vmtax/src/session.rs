//! Everything between a resolved plan and its first round: the data file, the toolbox, one guest that shows which accelerator really
//! works and what is common to both machines; and the conduct of the rounds.

use crate::exit::Interrupted;
use crate::lab::{DataPaths, Kind, RealLab};
use crate::progress::Teller;
use crate::signals::Stop;
use crate::trial;
use crate::workshop::{Sources, Workshop};
use crate::{catalog, host};
use anyhow::Context;
use machines::data_file::DataFile;
use machines::guest::Recipe;
use machines::local::{Local, Scratch};
use machines::pipe::{AgentPipe, Observer};
use machines::toolbox::Toolbox;
use model::facts::HypervisorFacts;
use model::messages::{Task, TaskResult};
use model::quantity::{show_duration, show_size};
use model::record::{Event, FORMAT, FileFact, GUEST, HOST, Line, Manifest, ToolFact};
use model::{Accelerator, Facts, ParamValue, Params, Plan};
use probes::Root;
use report::selftest::padding;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::StudyWriter;
use study::{
    Clock, Conclusion, Costs, Journal, JournalError, Progress, Step, Stopwatch, Watcher, World, estimate_seconds,
};

/// Seconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// A study that is ready for its rounds.
pub struct Session {
    workshop: Workshop,
    recipe: Recipe,
    scratch: Scratch,
    /// Runs since the preparation began, which counts for the budget.
    clock: Stopwatch,
    /// Removed when the session ends.
    data: Option<DataFile>,
    paths: DataPaths,
    tools: BTreeMap<(String, String), String>,
    /// What the study costs beside its benchmarks, as far as it is known before the first round.
    pub costs: Costs,
    /// What the study folder says, with every choice made.
    pub manifest: Manifest,
}

/// What a session is made from.
pub struct Order<'a> {
    /// The plan; `auto` engines are still open.
    pub plan: Plan,
    /// Where files of guests come from.
    pub sources: &'a Sources,
    /// Folder for the data file.
    pub work_dir: &'a Path,
    /// Go on although the host is busy.
    pub busy_host: bool,
}

/// Refuses what needs no preparation to be refused: run before anything is made.
pub fn check_host(order: &Order<'_>) -> anyhow::Result<()> {
    host::require_root()?;
    host::require_memory(order.plan.machine.memory)?;
    host::require_quiet(order.busy_host)?;
    crate::workshop::find_qemu(order.sources.qemu.as_deref())?;
    for tool in order.plan.tools() {
        if machines::elf::find_program(&tool).is_none() {
            anyhow::bail!(
                "There is no {tool} on this machine. Install it (Debian: apt-get install {tool}), or leave its benchmarks out"
            );
        }
    }
    host::cpu_set(order.plan.machine.cpus)?;
    if order.plan.disk_bytes() > 0 {
        host::require_real_disk(existing_ancestor(order.work_dir))?;
    }
    Ok(())
}

/// The nearest folder that is there already: the study folder itself is made later.
fn existing_ancestor(path: &Path) -> &Path {
    let mut at = path;
    while !at.exists() {
        match at.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => at = parent,
            _ => return Path::new("."),
        }
    }
    at
}

struct NotTimed<'a>(&'a Stop);

impl Observer for NotTimed<'_> {
    fn begin(&mut self) {}
    fn end(&mut self) {}
    fn stop(&self) -> bool {
        self.0.asked()
    }
}

/// What a tool says of its version, by running it.
fn version(agent: &mut AgentPipe, path: &str, stop: &Stop) -> anyhow::Result<String> {
    let argv = vec![path.to_owned(), "--version".to_owned()];
    let task = Task::Tool { argv, env: BTreeMap::new(), limit: 4096, files: Vec::new() };
    let finished = agent.run(task, Duration::from_secs(60), &mut NotTimed(stop))?;
    match finished.result {
        TaskResult::Exited { code: Some(0), .. } => {
            let said = String::from_utf8_lossy(&finished.stdout);
            Ok(model::text::printable(said.lines().next().unwrap_or_default().trim(), 120))
        }
        _ => anyhow::bail!(
            "{path} --version did not work: {}",
            model::text::last_lines(&String::from_utf8_lossy(&finished.stderr), 3)
        ),
    }
}

impl Session {
    /// Makes everything and looks at both machines. Takes seconds, most of them for the data file and the trial guest.
    pub fn prepare(order: Order<'_>, stop: &Stop, teller: &Teller) -> anyhow::Result<Self> {
        let clock = Stopwatch::new();
        let Order { mut plan, sources, work_dir, .. } = order;
        teller.turn(true);
        teller.now("Preparing kernel and initramfs");
        let mut workshop = Workshop::open(sources)?;
        let cpu_set = host::cpu_set(plan.machine.cpus)?;
        let mut recipe = workshop.recipe(&plan.machine, Accelerator::Tcg, &cpu_set);

        let programs = plan.tools();
        let toolbox = if programs.is_empty() {
            None
        } else {
            teller.now("Preparing the tools");
            Some(workshop.toolbox(&programs)?)
        };
        if let Some(toolbox) = &toolbox {
            recipe.toolbox = Some(toolbox.image.clone());
            recipe.kernel_words = "vmtax.toolbox".to_owned();
        }
        let data = data_file(&mut workshop, work_dir, plan.disk_bytes(), stop, teller)?;
        recipe.data = data.as_ref().map(|d| d.path().to_owned());

        teller.now("Looking at this host");
        let scratch = Scratch::make(&mut workshop.lease)?;
        let mut local = Local::start(&workshop.nursery, &workshop.program, scratch.path(), &cpu_set, &workshop.build)?;
        let host_facts = local.agent.facts()?;

        teller.now("Booting a guest to see what works here");
        let mut trial = trial::boot(&workshop, &mut recipe, plan.accelerator, stop)?;
        let guest_facts = trial.guest.agent.facts()?;
        let hypervisor = hypervisor_facts(&mut trial.guest)?;
        let paths = data_paths(data.as_ref(), &guest_facts)?;

        let mut tools = BTreeMap::new();
        let mut tool_facts = Vec::new();
        let mut notes = Vec::new();
        for file in toolbox.iter().flat_map(|t| &t.programs) {
            let fact = tool_fact(&mut local, &mut trial.guest.agent, file, stop, &mut notes)?;
            tools.insert((HOST.to_owned(), file.name.clone()), file.host_path.display().to_string());
            tools.insert((GUEST.to_owned(), file.name.clone()), file.guest_path.display().to_string());
            tool_facts.push(fact);
        }
        choose_engine(&mut plan, &host_facts, &guest_facts);
        teller.turn(false);

        let catalog = catalog::catalog();
        let benchmarks = plan.cells.iter().filter_map(|c| catalog.benchmark(&c.benchmark)).cloned().collect();
        let observed = model::settings::ALL
            .iter()
            .filter_map(|s| Some((s.key().to_owned(), s.observe(&guest_facts, &hypervisor)?)))
            .collect();
        let file_fact = |path: &Path, what: &str| -> anyhow::Result<FileFact> {
            Ok(FileFact {
                path: path.display().to_string(),
                sha256: workshop.cache.sha256(path)?,
                what: what.to_owned(),
            })
        };
        let manifest = Manifest {
            format: FORMAT,
            vmtax: env!("CARGO_PKG_VERSION").to_owned(),
            build: workshop.build.clone(),
            created: now(),
            command: std::env::args().collect(),
            accelerator: trial.accelerator,
            accelerator_note: trial.note.clone(),
            isa: host_facts.cpu.isa.min(guest_facts.cpu.isa),
            observed,
            kernel: file_fact(&workshop.kernel.image, &workshop.kernel.release)?,
            toolbox: toolbox.as_ref().map(toolbox_fact),
            tools: tool_facts,
            cpu_set,
            data_file: paths.host.clone(),
            data_file_system: data.as_ref().and_then(|d| file_system(d.path())),
            machines: BTreeMap::from([(HOST.to_owned(), host_facts), (GUEST.to_owned(), guest_facts)]),
            hypervisor,
            benchmarks,
            plan,
            notes,
        };
        let costs = Costs::typical(manifest.accelerator);
        Ok(Session { workshop, recipe, scratch, clock, data, paths, tools, costs, manifest })
    }

    /// Makes the rounds that `history` lacks, on these machines.
    pub fn conduct(
        &self,
        machines: &[(String, Kind)],
        writer: &RefCell<StudyWriter>,
        history: &[Line],
        run_timeout: Option<f64>,
        stop: &Stop,
        teller: &Teller,
    ) -> anyhow::Result<Conclusion> {
        let plan = &self.manifest.plan;
        let names: Vec<String> = machines.iter().map(|(name, _)| name.clone()).collect();
        let mut lab = RealLab {
            workshop: &self.workshop,
            recipe: self.recipe.clone(),
            folder: writer,
            scratch: self.scratch.path(),
            machines,
            stations: BTreeMap::new(),
            idle: BTreeMap::new(),
            idle_seconds: idle_seconds(estimate_seconds(plan, &names, self.costs).per_round),
            round: 0,
            attempt: 0,
            manifest: &self.manifest,
            overrides: overrides(machines),
            data: self.paths.clone(),
            data_file: self.data.as_ref(),
            tools: self.tools.clone(),
            run_timeout,
            stop,
        };
        let mut journal = FolderJournal(writer);
        journal
            .append(&Event::Opened { vmtax: self.manifest.vmtax.clone(), build: self.manifest.build.clone() })
            .map_err(|e| anyhow::anyhow!(e))?;
        let world = World {
            lab: &mut lab,
            journal: &mut journal,
            clock: &self.clock as &dyn Clock,
            watcher: &mut Screen(teller),
            stop: &|| stop.reason(),
        };
        let conclusion = study::run_study(plan, &self.manifest.benchmarks, &names, self.costs, history, world);
        teller.done();
        Ok(conclusion?)
    }
}

/// Host and guest, as almost every study has them.
pub fn host_and_guest() -> [(String, Kind); 2] {
    [(HOST.to_owned(), Kind::Host), (GUEST.to_owned(), Kind::Guest)]
}

/// The machines of a study by the names in its manifest, the hosts first. Those that begin as the guest's name are guests. A study of
/// injected overheads has none in its rounds: the one in its manifest was only booted to see what works.
pub fn machines(manifest: &Manifest) -> Vec<(String, Kind)> {
    let is_guest = |name: &str| name.starts_with(GUEST);
    let kind = |name: &String| (name.clone(), if is_guest(name) { Kind::Guest } else { Kind::Host });
    let names = || manifest.machines.keys();
    let (hosts, guests) = (names().filter(|n| !is_guest(n)), names().filter(|n| is_guest(n)));
    let injected = names().any(|name| padding(name).is_some());
    hosts.chain(guests.filter(|_| !injected)).map(kind).collect()
}

/// What the names of self-tests' machines ask for.
fn overrides(machines: &[(String, Kind)]) -> BTreeMap<String, Params> {
    let own = |name: &String| {
        let percent = ParamValue::Integer(padding(name)?);
        Some((name.clone(), Params(BTreeMap::from([("padding".to_owned(), percent)]))))
    };
    machines.iter().filter_map(|(name, _)| own(name)).collect()
}

/// How long each machine is watched in a round of so many seconds: 2 s where that is a small part of it.
fn idle_seconds(round: f64) -> f64 {
    (0.03 * round).clamp(0.5, 2.0)
}

fn data_file(
    workshop: &mut Workshop,
    work_dir: &Path,
    bytes: u64,
    stop: &Stop,
    teller: &Teller,
) -> anyhow::Result<Option<DataFile>> {
    if bytes == 0 {
        return Ok(None);
    }
    // Devices have whole sectors; a MiB is a multiple of any sector and of every block size that fio is given.
    let bytes = bytes.next_multiple_of(1 << 20);
    let name = format!("{}data-{}.raw", machines::lease::PREFIX, std::process::id());
    let folder =
        work_dir.canonicalize().with_context(|| format!("Could not find the work folder {}", work_dir.display()))?;
    workshop.lease.add(&folder.join(&name))?;
    let total = show_size(bytes);
    let mut progress = |done: u64| teller.now(&format!("Writing the data file: {} of {total}", show_size(done)));
    match DataFile::create(&folder, &name, bytes, &mut progress, &stop.flag()) {
        Err(machines::data_file::DataFileError::Cancelled(_)) => Err(Interrupted.into()),
        other => Ok(Some(other?)),
    }
}

fn data_paths(data: Option<&DataFile>, guest: &Facts) -> anyhow::Result<DataPaths> {
    let Some(file) = data else { return Ok(DataPaths::default()) };
    let disk = guest.disks.iter().find(|d| d.serial.as_deref() == Some(model::machine::DATA_SERIAL));
    let disk = disk.context("The guest does not see its data disk")?;
    // The name comes from the guest and goes into a command line of the guest; it still may only be a device's name.
    anyhow::ensure!(
        disk.name.chars().all(|c| c.is_ascii_alphanumeric()),
        "The guest's data disk has an impossible name"
    );
    // fio silently works on less where a device is smaller than it was told.
    anyhow::ensure!(
        disk.bytes == file.bytes(),
        "The guest's data disk has {} bytes, and its image on the host {}",
        disk.bytes,
        file.bytes()
    );
    Ok(DataPaths { host: Some(file.path().display().to_string()), guest: Some(format!("/dev/{}", disk.name)) })
}

fn hypervisor_facts(guest: &mut machines::guest::Guest) -> anyhow::Result<HypervisorFacts> {
    let mut facts = guest.hypervisor_facts()?;
    let root = Root::live();
    facts.cpus_allowed = probes::process::cpus_allowed(&root, guest.pid()).unwrap_or_default();
    if let Some(path) = guest.data() {
        let direct = probes::open_files::is_direct(&root, guest.pid(), path);
        for disk in facts.disks.iter_mut().filter(|d| d.node == "data") {
            disk.descriptor_direct = direct;
        }
    }
    Ok(facts)
}

fn tool_fact(
    local: &mut Local,
    guest: &mut AgentPipe,
    file: &machines::toolbox::ToolFile,
    stop: &Stop,
    notes: &mut Vec<String>,
) -> anyhow::Result<ToolFact> {
    let on_host = version(&mut local.agent, &file.host_path.display().to_string(), stop)
        .with_context(|| format!("{} does not run on this host", file.name))?;
    let in_guest = version(guest, &file.guest_path.display().to_string(), stop)
        .with_context(|| format!("{} does not run in the guest", file.name))?;
    if on_host != in_guest {
        notes.push(format!("{} says '{on_host}' on the host and '{in_guest}' in the guest.", file.name));
    }
    Ok(ToolFact {
        name: file.name.clone(),
        path: file.host_path.display().to_string(),
        version: on_host,
        sha256: file.sha256.clone(),
    })
}

fn toolbox_fact(toolbox: &Toolbox) -> FileFact {
    let names: Vec<&str> = toolbox.programs.iter().map(|p| p.name.as_str()).collect();
    FileFact { path: toolbox.image.display().to_string(), sha256: toolbox.sha256.clone(), what: names.join(", ") }
}

fn file_system(path: &Path) -> Option<String> {
    let system = probes::file_system::of_path(&Root::live(), path)?;
    Some(format!("{} on {}", system.kind, system.device))
}

/// One fio engine for both sides: io_uring where both kernels allow it, else libaio.
fn choose_engine(plan: &mut Plan, host: &Facts, guest: &Facts) {
    let engine = match (host.io_uring, guest.io_uring) {
        (Some(true), Some(true)) => "io_uring",
        _ => "libaio",
    };
    for cell in &mut plan.cells {
        if cell.params.text("engine") == Ok("auto") {
            cell.params.set("engine", ParamValue::Text(engine.to_owned()));
        }
    }
}

struct FolderJournal<'a>(&'a RefCell<StudyWriter>);

impl Journal for FolderJournal<'_> {
    fn append(&mut self, event: &Event) -> Result<(), JournalError> {
        Ok(self.0.borrow_mut().append(now(), event)?)
    }
}

/// Shows the study's progress.
struct Screen<'a>(&'a Teller);

impl Watcher for Screen<'_> {
    fn event(&mut self, progress: &Progress<'_>) {
        let round = format!("round {}/{}", progress.round, progress.rounds);
        let left = format!("about {} left", show_duration(progress.left_seconds));
        match progress.step {
            Step::Booting => self.0.now(&format!("{round}  booting the guest  {left}")),
            Step::Running { machine, benchmark } => self.0.now(&format!(
                "{round}  block {}/{}  {benchmark} on the {machine}  {left}",
                progress.blocks_done + 1,
                progress.blocks
            )),
            Step::Ran(run) => {
                if let model::Outcome::Failed { why, .. } = &run.outcome {
                    self.0.say(&format!("{round}  {} on the {} failed: {why}", run.benchmark, run.machine));
                }
            }
            Step::RoundOver { why: None } => {
                let spent = show_duration(progress.elapsed_seconds);
                let open = match progress.open {
                    open if open == progress.blocks as usize => String::new(),
                    1 => "1 benchmark goes on, ".to_owned(),
                    open => format!("{open} benchmarks go on, "),
                };
                self.0.say(&format!("{round} complete after {spent}, {open}{left}"));
            }
            Step::RoundOver { why: Some(why) } => self.0.say(&format!("{round} is not complete: {why}")),
        }
    }
}

/// Where the data file goes when the user names no place.
pub fn work_dir(named: Option<&PathBuf>, study: &Path) -> PathBuf {
    named.cloned().unwrap_or_else(|| study.to_owned())
}
