//! What came of one task, before it is put into a record: above all, when a tool's output counts as a measurement.

use drivers::{Driver, DriverError, Output, Parsed};
use model::evidence::{Series, Work};
use model::record::Histogram;
use model::text::last_lines;
use model::{Counters, FailureCause, Outcome, Params};

/// What came of one task.
#[derive(Debug)]
pub struct Findings {
    /// The figures, or why there are none.
    pub outcome: Outcome,
    /// Counters of the machine.
    pub counters: Option<Counters>,
    /// Raw output, relative to the study folder.
    pub raw: Option<String>,
    /// Remarks of the driver.
    pub remarks: Vec<String>,
    /// What the tool says it did.
    pub work: Option<Work>,
    /// Its throughput over time.
    pub series: Option<Series>,
    /// Its latencies, relative to the study folder.
    pub histogram: Option<String>,
}

/// Why a machine gave no answer.
#[derive(Debug)]
pub enum NoAnswer {
    /// Something failed.
    Failed {
        /// Whose fault it looks like.
        cause: FailureCause,
        /// What happened, on what.
        why: String,
    },
    /// The user stopped it.
    Cancelled,
}

impl From<NoAnswer> for Findings {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Failed { cause, why } => Findings::failed(cause, why),
            NoAnswer::Cancelled => Findings::of(Outcome::Cancelled),
        }
    }
}

impl Findings {
    /// An outcome of which nothing else is known.
    pub fn of(outcome: Outcome) -> Self {
        Findings { outcome, counters: None, raw: None, remarks: Vec::new(), work: None, series: None, histogram: None }
    }

    /// A failure.
    pub fn failed(cause: FailureCause, why: String) -> Self {
        Findings::of(Outcome::Failed { cause, why })
    }

    /// A tool that came to its end: a measurement only where it exited with 0 and its driver finds nothing wrong. The latencies
    /// come beside it, to be stored.
    pub fn of_tool(
        driver: &dyn Driver,
        params: &Params,
        code: Option<i32>,
        signal: Option<i32>,
        output: &Output,
        stderr: &[u8],
    ) -> (Self, Option<Histogram>) {
        let ended = match (code, signal) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("{} ended with exit code {code}", driver.name())),
            (_, signal) => Some(format!("{} was ended by signal {}", driver.name(), signal.unwrap_or(0))),
        };
        let parsed = driver.parse(params, output);
        if let Some(ended) = ended {
            let said = match last_lines(&String::from_utf8_lossy(stderr), 3) {
                said if said.is_empty() => parsed.err().map(|error| error.to_string()),
                said => Some(said),
            };
            let why = said.map_or_else(|| ended.clone(), |said| format!("{ended}: {said}"));
            return (Findings::failed(FailureCause::Tool, why), None);
        }
        match parsed {
            Ok(Parsed { values, remarks, work, series, histogram, version: _ }) => {
                (Findings { remarks, work, series, ..Findings::of(Outcome::Measured { values }) }, histogram)
            }
            Err(error @ DriverError::NoWork { .. }) => (Findings::failed(FailureCause::Tool, error.to_string()), None),
            Err(error) => (Findings::failed(FailureCause::Parse, error.to_string()), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivers::fio::Fio;
    use model::ParamValue;
    use model::benchmark::Load;

    const CLEAN: &str = include_str!("../../../drivers/samples/fio/3.33-io_uring-randread-4k.json");

    fn judged(stdout: &str, code: Option<i32>, signal: Option<i32>, stderr: &str) -> (Findings, Option<Histogram>) {
        let benchmark = Fio.benchmarks().into_iter().find(|b| b.id == "disk.randread-4k").unwrap();
        let mut params = Params::defaults(&benchmark.params);
        params.set("engine", ParamValue::Text("io_uring".to_owned()));
        let output = Output { stdout: stdout.as_bytes().to_vec(), ..Output::default() };
        Findings::of_tool(&Fio, &params, code, signal, &output, stderr.as_bytes())
    }

    fn failure(judged: (Findings, Option<Histogram>)) -> (FailureCause, String) {
        match judged.0.outcome {
            Outcome::Failed { cause, why } => (cause, why),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_clean_output_counts_only_with_exit_code_0() {
        let (clean, histogram) = judged(CLEAN, Some(0), None, "");
        assert!(matches!(clean.outcome, Outcome::Measured { .. }) && clean.work.is_some() && histogram.is_some());
        let said = failure(judged(CLEAN, Some(1), None, "fio: io_u error\n"));
        assert_eq!(said, (FailureCause::Tool, "fio ended with exit code 1: fio: io_u error".to_owned()));
        assert_eq!(failure(judged(CLEAN, Some(1), None, "")).1, "fio ended with exit code 1");
        assert_eq!(failure(judged(CLEAN, None, Some(9), "")).1, "fio was ended by signal 9");
    }

    #[test]
    fn exit_code_0_with_an_error_in_the_output_is_a_failure_of_the_tool() {
        let wrong = CLEAN.replacen("\"error\" : 0", "\"error\" : 5", 1);
        let tool = |why: &str| (FailureCause::Tool, format!("fio 3.33: {why}"));
        assert_eq!(failure(judged(&wrong, Some(0), None, "")), tool("its job ended with error 5"));
        let idle = CLEAN.replacen("\"total_ios\" : 8745", "\"total_ios\" : 0", 1);
        assert!(failure(judged(&idle, Some(0), None, "")).1.starts_with("fio 3.33: it did no work: 0 I/Os"));
        assert_eq!(failure(judged("", Some(0), None, "")).0, FailureCause::Parse);
        // Where fio says nothing on standard error, its output tells why it failed.
        let both = failure(judged(&wrong, Some(1), None, "")).1;
        assert_eq!(both, "fio ended with exit code 1: fio 3.33: its job ended with error 5");
    }
}
