//! One workload in a process of its own: task in, "ready" out, "go" in, result out, each a line of JSON.

use model::isa::InstructionSet;
use model::params::Params;
use probes::run_queue::RunQueueWait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

/// What the worker is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    /// The workload.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// Its parameters.
    pub params: Params,
    /// Instruction set.
    pub isa: InstructionSet,
    /// Scratch folder.
    pub scratch: PathBuf,
}

/// What the worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum Word {
    /// Everything that is not timed is done.
    Ready,
    /// The work is done.
    Result {
        /// By metric id, base units.
        values: BTreeMap<String, f64>,
        /// Around the timed region, by this machine's monotonic clock, seconds.
        wall_seconds: f64,
        /// What the process used meanwhile.
        usage: crate::process::Usage,
        /// Anonymous huge pages of the process, bytes.
        anon_huge_bytes: Option<u64>,
        /// Time for which its threads were ready and waited for a CPU, summed, seconds.
        run_queue_wait_seconds: Option<f64>,
    },
    /// It did not work.
    Failed {
        /// Why, with its causes.
        why: String,
    },
}

/// Runs one order from `input`; the process ends afterwards.
pub fn run(mut input: impl BufRead, mut output: impl Write) -> std::io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let word = match work(&line, &mut input, &mut output) {
        Ok(word) => word,
        Err(why) => Word::Failed { why },
    };
    say(&mut output, &word)
}

fn say(output: &mut impl Write, word: &Word) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(word)?;
    text.push(b'\n');
    output.write_all(&text)?;
    output.flush()
}

fn work(order: &str, input: &mut impl BufRead, output: &mut impl Write) -> Result<Word, String> {
    let order: Order = serde_json::from_str(order).map_err(|e| format!("The order cannot be read: {e}"))?;
    let workload =
        workloads::find(&order.name).ok_or_else(|| format!("This build has no workload '{}'", order.name))?;
    if workload.version() != order.version {
        return Err(format!(
            "Workload '{}' has version {} here and {} at the controller",
            order.name,
            workload.version(),
            order.version
        ));
    }
    let place = workloads::Place { isa: order.isa, scratch: &order.scratch };
    let mut prepared = workload.prepare(&order.params, &place).map_err(|e| chain(&e))?;
    say(output, &Word::Ready).map_err(|e| e.to_string())?;
    let mut go = String::new();
    input.read_line(&mut go).map_err(|e| e.to_string())?;
    if go.is_empty() {
        return Err("The agent hung up".to_owned());
    }
    let waited = || RunQueueWait::read(&probes::Root::live(), std::process::id());
    let waited_before = waited();
    let before = crate::process::own_usage();
    let start = Instant::now();
    let values = prepared.run();
    let wall_seconds = start.elapsed().as_secs_f64();
    let usage = crate::process::own_usage().since(&before);
    let run_queue_wait_seconds = waited_before.zip(waited()).map(|(before, after)| before.until(&after));
    let values = values.map_err(|e| chain(&e))?;
    if let Some((metric, value)) = values.iter().find(|(_, v)| !v.is_finite()) {
        return Err(format!("'{metric}' came out as {value}"));
    }
    let anon_huge_bytes = probes::process::anon_huge_bytes(&probes::Root::live(), std::process::id());
    Ok(Word::Result { values, wall_seconds, usage, anon_huge_bytes, run_queue_wait_seconds })
}

/// An error with its causes, as one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
