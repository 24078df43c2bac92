//! fio's log of the bandwidth: lines of `milliseconds since the ramp, KiB/s, direction, ...`, each the mean since the line before;
//! with several jobs, one job's lines after the other's.

use super::Job;
use model::evidence::Series;
use model::text::printable;

/// The bandwidth of all jobs over the measured time, bytes per second; none where that was too short for two samples.
///
/// fio's timer is often late, by some milliseconds or by a whole step, and starts anew after the ramp. So its uneven intervals are
/// spread over even steps. A step at the end that not all jobs have filled is left out.
pub(super) fn series(job: &Job, log: &[u8]) -> Result<Option<Series>, String> {
    let step = job.log_step();
    let mut jobs = jobs(job, log)?;
    if jobs.is_empty() && job.time * 1e3 < 2.0 * step as f64 {
        return Ok(None);
    }
    if jobs.len() as u64 != job.jobs {
        return Err(format!("it holds {} jobs instead of {}", jobs.len(), job.jobs));
    }
    let logged = jobs.iter().filter_map(|lines| lines.last()).map(|line| line.end).min().unwrap_or(0);
    let count = logged.min((job.time * 1e3) as u64) / step;
    if count < 2 {
        return Ok(None);
    }
    let mut samples = vec![0.0; count as usize];
    for line in jobs.iter_mut().flatten() {
        for (at, sample) in samples.iter_mut().enumerate().skip((line.start / step) as usize) {
            let (start, end) = (at as u64 * step, (at as u64 + 1) * step);
            if start >= line.end {
                break;
            }
            let shared = end.min(line.end) - start.max(line.start);
            *sample += line.kibibytes as f64 * 1024.0 * shared as f64 / step as f64;
        }
    }
    let metrics = ["bandwidth", "iops"].map(str::to_owned).to_vec();
    Ok(Some(Series { metrics, step_seconds: step as f64 * 1e-3, samples }))
}

/// One line: the mean rate between two points in time.
struct Line {
    /// Milliseconds.
    start: u64,
    /// Milliseconds.
    end: u64,
    /// KiB/s.
    kibibytes: u64,
}

/// The lines of each job. Where time does not go on, the next job begins.
fn jobs(job: &Job, log: &[u8]) -> Result<Vec<Vec<Line>>, String> {
    let direction = u64::from(job.writes());
    let text = std::str::from_utf8(log).map_err(|_| "it is no text".to_owned())?;
    let mut jobs: Vec<Vec<Line>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut fields = line.split(',').map(|field| field.trim().parse::<u64>().ok());
        let (Some(Some(end)), Some(Some(kibibytes)), Some(Some(way))) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(format!("line {} is '{}'", number + 1, printable(line, 80)));
        };
        if way != direction {
            return Err(format!("line {} is about the other direction", number + 1));
        }
        match jobs.last_mut().and_then(|lines| Some((lines.last()?.end, lines))) {
            Some((start, lines)) if start < end => lines.push(Line { start, end, kibibytes }),
            _ => jobs.push(vec![Line { start: 0, end, kibibytes }]),
        }
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use crate::fio::Job;
    use model::evidence::Series;
    use proptest::prelude::*;

    const THREE_JOBS: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/fio/3.33-three-jobs_bw.log"));

    fn job(pattern: &'static str, jobs: u64, time: f64) -> Job<'static> {
        let (block, depth, size, engine) = (4096, 16, 1 << 20, "libaio");
        Job { pattern, block, depth, jobs, size, time, ramp: 0.0, rate: 0, engine }
    }

    fn series(job: &Job, log: &[u8]) -> Result<Option<Series>, String> {
        let series = super::series(job, log)?;
        assert!(series.as_ref().is_none_or(Series::is_sound), "{series:?}");
        Ok(series)
    }

    #[test]
    fn uneven_intervals_of_the_log_become_even_steps_that_hold_the_same_bytes() {
        // 100 kB in the first 252 ms, then 200 kB in each 100 ms.
        let log = b"252, 100, 0, 0, 0\n352, 200, 0, 0, 0\n452, 200, 0, 0, 0\n";
        let found = series(&job("randread", 1, 0.5), log).unwrap().unwrap();
        assert_eq!((found.step_seconds, found.metrics.len()), (0.1, 2));
        let expected = [100.0, 100.0, 148.0, 200.0].map(|kib| kib * 1024.0);
        assert!(found.samples.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{:?}", found.samples);
        // The last 52 ms are no whole step.
        assert_eq!(found.samples.len(), 4);
    }

    #[test]
    fn several_jobs_are_summed_as_far_as_all_of_them_were_logged() {
        let found = series(&job("randread", 3, 1.0), THREE_JOBS).unwrap().unwrap();
        // The runs of the jobs end at 903, 902 and 902 ms.
        assert_eq!(found.samples.len(), 9);
        assert_eq!(found.samples[0], (112200.0 + 108200.0 + 111960.0) * 1024.0);
        // fio itself said 279272727 bytes/s over the whole second; the last 100 ms are not in the log.
        let mean = found.samples.iter().sum::<f64>() / 9.0;
        assert!((mean / 279272727.0 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn a_log_that_is_not_the_runs_own_is_refused_with_the_reason() {
        let refusal = |job: &Job, log: &[u8]| series(job, log).unwrap_err();
        assert_eq!(refusal(&job("randread", 1, 5.0), b""), "it holds 0 jobs instead of 1");
        assert_eq!(refusal(&job("randread", 2, 1.0), THREE_JOBS), "it holds 3 jobs instead of 2");
        assert_eq!(refusal(&job("randwrite", 3, 1.0), THREE_JOBS), "line 1 is about the other direction");
        assert_eq!(refusal(&job("read", 1, 5.0), b"100, 1, 0\n200, \x1b[2J, 0\n"), "line 2 is '200, \\u{1b}[2J, 0'");
        assert_eq!(refusal(&job("read", 1, 5.0), b"\xff"), "it is no text");
    }

    #[test]
    fn a_run_of_less_than_two_steps_has_no_series() {
        assert_eq!(series(&job("randread", 1, 0.15), b""), Ok(None));
        assert_eq!(series(&job("randread", 1, 0.15), b"100, 5, 0, 0, 0\n"), Ok(None));
        assert_eq!(series(&job("randread", 1, 5.0), b"100, 5, 0, 0, 0\n"), Ok(None));
    }

    proptest! {
        #[test]
        fn no_log_panics_and_every_series_is_sound(
            lines in proptest::collection::vec((any::<u64>(), any::<u64>(), 0u64..4), 0..40),
            time in 0.001f64..1e6,
            jobs in 1u64..4,
        ) {
            let log: String = lines.iter().map(|(at, rate, zeros)| format!("{}, {rate}, 0, 0, 0\n", at >> (16 * zeros))).collect();
            let _ = series(&job("randread", jobs, time), log.as_bytes());
        }

        #[test]
        fn no_mutation_of_a_real_log_panics_or_yields_nonsense(
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            jobs in 1u64..5,
        ) {
            let mut log = THREE_JOBS.to_vec();
            for (at, byte) in edits {
                let at = at.index(log.len());
                log[at] = if log[at].is_ascii_digit() { b'0' + byte % 10 } else { byte };
            }
            let _ = series(&job("randread", jobs, 1.0), &log);
        }
    }
}
