//! The command line. Doc comments are the help texts.

use crate::workshop::Sources;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What does virtualization cost on this machine, where does the cost go, and which VM settings make it smaller?
///
/// vmtax measures this host and a VM that it boots itself with the same bits, in random order, and reports the overhead with intervals.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure this host against a VM and write a report
    Run(Run),
    /// Go on with a study that was interrupted
    Resume(Resume),
    /// Show the report of a study
    Report(Report),
    /// Say whether one study is better or worse than another
    Compare(Compare),
    /// Say what works on this machine, what is missing, and how noisy it is
    Doctor(Doctor),
    /// Measure how often vmtax cries wolf on this machine, and how well it finds a known overhead
    Selftest(Selftest),
    /// Show the benchmarks, settings and suites of this build
    List(List),
    /// Boot a VM, run one command of this host in it, and show its output
    Vm(Vm),
    /// Remove what a killed vmtax left behind
    Clean(Clean),
    /// Say which kernel guests would boot, or unpack a downloaded package into the cache first (used by setup.sh)
    #[command(hide = true)]
    GuestKernel {
        /// A Debian linux-image package
        #[arg(long, value_name = "DEB")]
        unpack: Option<PathBuf>,
        /// Folder for kernels and images
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
    },
    /// Serve a controller over standard input and output
    #[command(hide = true)]
    Agent {
        /// Folder for files of workloads; a tmpfs is mounted on it
        #[arg(long)]
        scratch: PathBuf,
    },
    /// Run one workload for an agent
    #[command(hide = true)]
    Worker,
    /// Own the processes of a controller
    #[command(hide = true)]
    Keeper {
        /// List of what to remove at the end
        lease: PathBuf,
    },
}

/// How guests are made; the same for every command that boots one.
#[derive(Debug, Args)]
pub struct Machine {
    /// Who executes guest instructions: auto believes in KVM only after a guest has really booted with it [default: auto]
    #[arg(long, value_name = "auto|kvm|tcg")]
    pub accel: Option<String>,
    /// A setting of the guest, for example disk.cache=writeback (see `vmtax list settings`); repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Go on although other VMs run on this host
    #[arg(long)]
    pub busy_host: bool,
    /// Where the files of guests come from
    #[command(flatten)]
    pub sources: Sources,
}

/// Arguments of `vmtax run`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  vmtax run                                   the quick suite, 8 to 20 rounds
  vmtax run --suite disk --set disk.cache=writeback --set disk.aio=threads
  vmtax run --bench cpu.dhrystone --bench 'disk.rand*' --param disk:size=256m
  vmtax run --plan examples/quick.toml --budget 10m

Exit codes: 0 done, 1 failed, 2 usage, 3 finished with missing or INVALID cells, 130 interrupted")]
pub struct Run {
    /// Plan file (TOML); flags win over it
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Suite of benchmarks; repeatable [default: quick]
    #[arg(long, value_name = "NAME")]
    pub suite: Vec<String>,
    /// Benchmark: an id, an area (cpu, memory, disk) or a prefix with *; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub bench: Vec<String>,
    /// Parameter of benchmarks, for example time=2s or disk:size=256m; repeatable
    #[arg(long = "param", value_name = "[BENCH:]KEY=VALUE")]
    pub params: Vec<String>,
    /// Exactly so many rounds; 3 to 7 make an INDICATIVE study [default: as many as the precision takes, from 8 up]
    #[arg(long, value_name = "N", conflicts_with_all = ["precision", "max_rounds"])]
    pub rounds: Option<String>,
    /// Half-width of an overhead's interval at which its benchmark is done [default: 3 % for CPU and memory, 5 % for I/O]
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<String>,
    /// Most rounds; what would not become precise within them is IMPRECISE [default: 20]
    #[arg(long, value_name = "N")]
    pub max_rounds: Option<String>,
    /// Where a validity check begins to warn or to reject, for example steal-warn=0.02 (see docs/checks.md); repeatable
    #[arg(long = "limit", value_name = "KEY=VALUE")]
    pub limits: Vec<String>,
    /// Longest time for the study, for example 10m
    #[arg(long, value_name = "DURATION")]
    pub budget: Option<String>,
    /// Seed of the random orders [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Study folder to make [default: ./vmtax-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Folder on the disk to be measured, where the data file is made [default: the study folder]
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// Longest time for one run; a guest that is silent longer is given up [default: 10 times what the run should take, and 30 s]
    #[arg(long, value_name = "DURATION")]
    pub run_timeout: Option<String>,
    /// Show what would be done and how long it would take, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// How guests are made
    #[command(flatten)]
    pub machine: Machine,
}

/// Arguments of `vmtax resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// Study folder
    pub study: PathBuf,
    /// Folder on the disk to be measured; must be on the same one as before
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// Longest time for one run
    #[arg(long, value_name = "DURATION")]
    pub run_timeout: Option<String>,
    /// Go on although other VMs run on this host
    #[arg(long)]
    pub busy_host: bool,
    /// Where the files of guests come from
    #[command(flatten)]
    pub sources: Sources,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for the terminal
    Text,
    /// One self-contained page
    Html,
    /// Tables for issues, wikis and merge requests
    Markdown,
    /// Every round of every metric, one a line
    Csv,
    /// Every figure, in base units
    Json,
    /// The schema of the JSON report
    Schema,
}

/// Arguments of `vmtax report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Study folder
    pub study: PathBuf,
    /// Format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Language [default: that of the locale]
    #[arg(long, value_enum)]
    pub lang: Option<Language>,
    /// File to write instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables for the terminal
    Text,
    /// For merge requests and job summaries
    Markdown,
    /// Every figure, in base units
    Json,
    /// JUnit XML, one test case for each primary metric
    Junit,
}

/// Arguments of `vmtax compare`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  vmtax compare before after
  vmtax compare before after --confirm again   a regression counts only if both show it
  vmtax compare before after --format junit --output vmtax.xml

Exit codes: 0 no regression, 1 failed or nothing in common, 2 usage, 3 nothing could be decided, 4 regression")]
pub struct Compare {
    /// Study folder of the baseline
    #[arg(value_name = "STUDY_A")]
    pub a: PathBuf,
    /// Study folder of what is judged
    #[arg(value_name = "STUDY_B")]
    pub b: PathBuf,
    /// Study folder of a fresh repetition of B: a regression counts only if it shows it too
    #[arg(long, value_name = "STUDY_C")]
    pub confirm: Option<PathBuf>,
    /// Changes up to this do not matter [default: 2 for CPU and memory, 5 for disk]
    #[arg(long, value_name = "PERCENT")]
    pub margin: Option<f64>,
    /// Format
    #[arg(long, value_enum, default_value = "text")]
    pub format: CompareFormat,
    /// Language [default: that of the locale]
    #[arg(long, value_enum)]
    pub lang: Option<Language>,
    /// File to write instead of standard output; never one that is there
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `vmtax doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Folder on the disk that would be measured
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub work_dir: PathBuf,
    /// Where the files of guests come from
    #[command(flatten)]
    pub sources: Sources,
}

/// Arguments of `vmtax selftest`.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("kind").required(true).args(["aa", "injected", "study"])),
    after_long_help = "Examples:
  vmtax selftest --aa                         a quarter of an hour or more: the host and a guest, each against its twin
  vmtax selftest --injected                   some minutes: 1, 3, 10 and 50 % more work on the host
  vmtax selftest --study vmtax-selftest-DATE-TIME --format json

Exit codes: 0 pass, 1 failed, 2 usage, 3 a rate is beyond its limit or there are too few rounds to judge, 130 interrupted"
)]
pub struct Selftest {
    /// Host against host and a guest against its twin: whatever differs is a false alarm
    #[arg(long)]
    pub aa: bool,
    /// Host against a host whose work is made longer by so many percent [default list: 1,3,10,50]
    #[arg(long, value_name = "PERCENT,…", num_args = 0..=1, default_missing_value = "1,3,10,50")]
    pub injected: Option<String>,
    /// Evaluate a self-test that was made before (one that was interrupted goes on with `vmtax resume`)
    #[arg(long, value_name = "DIR")]
    pub study: Option<PathBuf>,
    /// Rounds, a multiple of 8; fewer than 32 are not judged [default: 64]
    #[arg(long, value_name = "N", conflicts_with = "study")]
    pub rounds: Option<String>,
    /// Builtin benchmark of --aa: an id, an area (cpu, memory) or a prefix with *; repeatable [default: all of them]
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["injected", "study"])]
    pub bench: Vec<String>,
    /// Seed of the random orders [default: drawn]
    #[arg(long, value_name = "N", conflicts_with = "study")]
    pub seed: Option<String>,
    /// Format of the findings on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: SelftestFormat,
    /// Language of the text [default: that of the locale]
    #[arg(long, value_enum)]
    pub lang: Option<Language>,
    /// Study folder to make [default: ./vmtax-selftest-DATE-TIME]
    #[arg(long, short, value_name = "DIR", conflicts_with = "study")]
    pub output: Option<PathBuf>,
    /// Show what would be done and how long it would take, and do nothing
    #[arg(long, conflicts_with = "study")]
    pub dry_run: bool,
    /// How guests are made
    #[command(flatten)]
    pub machine: Machine,
}

/// Formats of a self-test's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SelftestFormat {
    /// Tables for the terminal
    Text,
    /// Every figure
    Json,
}

/// Languages of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// English
    En,
    /// Chinese
    Zh,
}

/// What to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// What can be measured
    Benchmarks,
    /// What can be set on a guest
    Settings,
    /// Named lists of benchmarks
    Suites,
}

/// Arguments of `vmtax list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list [default: all]
    #[arg(value_enum)]
    pub topic: Option<Topic>,
    /// As JSON, with parameters and metrics
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `vmtax vm`.
#[derive(Debug, Args)]
pub struct Vm {
    /// More programs of this host to carry into the guest; repeatable
    #[arg(long = "with", value_name = "PROGRAM")]
    pub with: Vec<String>,
    /// Longest time for the command
    #[arg(long, value_name = "DURATION", default_value = "1h")]
    pub timeout: String,
    /// Show the guest's console afterwards
    #[arg(long)]
    pub console: bool,
    /// How guests are made
    #[command(flatten)]
    pub machine: Machine,
    /// Command and arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<String>,
}

/// Arguments of `vmtax clean`.
#[derive(Debug, Args)]
pub struct Clean {
    /// Folder for kernels and images
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}
