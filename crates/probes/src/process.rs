//! One process: its threads' CPU time, I/O, memory and CPUs (proc_pid_stat(5) and its neighbours; schedstat:
//! Documentation/scheduler/sched-stats.rst).

use crate::Root;
use crate::cpu_times::ticks_per_second;
use crate::text::{field, kilobytes, numbers};
use std::io;
use std::path::{Path, PathBuf};

/// CPU time of one thread since it began.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadTimes {
    /// Thread id.
    pub tid: u32,
    /// Its name (at most 15 bytes).
    pub name: String,
    /// In user mode, seconds, in whole ticks (10 ms).
    pub user_seconds: f64,
    /// In system mode, seconds, in whole ticks.
    pub system_seconds: f64,
    /// On a CPU, seconds, to the nanosecond; none where the kernel keeps no schedstat.
    pub run_seconds: Option<f64>,
    /// Ready to run but waiting for a CPU, seconds. For a vCPU thread this is what its guest sees (or does not see) as steal.
    pub run_queue_wait_seconds: Option<f64>,
}

impl ThreadTimes {
    /// CPU time, seconds, by the better of the two clocks.
    pub fn cpu_seconds(&self) -> f64 {
        self.run_seconds.unwrap_or(self.user_seconds + self.system_seconds)
    }
}

/// What a process, its ended threads included, read and wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes that were sent, or will be, to storage.
    pub write_bytes: u64,
    /// Bytes that read calls returned, from the page cache or not. (Not those of io_uring and Linux AIO.)
    pub rchar: u64,
    /// Bytes that write calls took.
    pub wchar: u64,
}

fn folder(pid: u32) -> PathBuf {
    Path::new("proc").join(pid.to_string())
}

fn malformed(root: &Root, path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{} is not as expected", root.path(path).display()))
}

/// Name, user and system ticks of a `stat` file. The name stands in parentheses and may itself hold parentheses, blanks and line
/// breaks: only the last `)` ends it.
fn parse_stat(text: &str) -> Option<(&str, u64, u64)> {
    let (head, tail) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    // The first field after the name is the third of the file; utime and stime are the 14th and 15th.
    let mut times = tail.split_whitespace().skip(14 - 3).map(str::parse::<u64>);
    Some((name, times.next()?.ok()?, times.next()?.ok()?))
}

/// Seconds on a CPU and seconds waiting for one, from a `schedstat` file (nanoseconds).
fn parse_schedstat(text: &str) -> Option<(f64, f64)> {
    let mut fields = text.split_whitespace().map(str::parse::<u64>);
    let (run, wait) = (fields.next()?.ok()?, fields.next()?.ok()?);
    // A kernel without CONFIG_SCHED_INFO writes zeros.
    (run > 0 || wait > 0).then_some((run as f64 * 1e-9, wait as f64 * 1e-9))
}

/// Seconds waiting for a CPU, from the schedstat file at `path`; none where the kernel keeps none.
pub(crate) fn wait_seconds(root: &Root, path: impl AsRef<Path>) -> Option<f64> {
    parse_schedstat(&root.read(path).ok()?).map(|(_, wait)| wait)
}

/// The live threads of `pid`, by thread id. Threads that end meanwhile are left out.
pub fn threads(root: &Root, pid: u32) -> io::Result<Vec<ThreadTimes>> {
    let tasks = folder(pid).join("task");
    let mut tids: Vec<u32> = root.list(&tasks)?.iter().filter_map(|name| name.parse().ok()).collect();
    tids.sort_unstable();
    let mut threads = Vec::with_capacity(tids.len());
    for tid in tids {
        match thread(root, &tasks, tid) {
            Ok(thread) => threads.push(thread),
            Err(error) if has_ended(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(threads)
}

fn thread(root: &Root, tasks: &Path, tid: u32) -> io::Result<ThreadTimes> {
    let path = tasks.join(tid.to_string());
    let stat = root.read(path.join("stat"))?;
    let (name, user, system) = parse_stat(&stat).ok_or_else(|| malformed(root, &path.join("stat")))?;
    let precise = root.read(path.join("schedstat")).ok().and_then(|text| parse_schedstat(&text));
    Ok(ThreadTimes {
        tid,
        name: name.to_owned(),
        user_seconds: user as f64 / ticks_per_second(),
        system_seconds: system as f64 / ticks_per_second(),
        run_seconds: precise.map(|(run, _)| run),
        run_queue_wait_seconds: precise.map(|(_, wait)| wait),
    })
}

/// True where a thread ended between being listed and being read.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// CPU time of the whole process, ended threads included, seconds, in whole ticks.
pub fn cpu_seconds(root: &Root, pid: u32) -> io::Result<f64> {
    let path = folder(pid).join("stat");
    let text = root.read(&path)?;
    let (_, user, system) = parse_stat(&text).ok_or_else(|| malformed(root, &path))?;
    Ok((user as f64 + system as f64) / ticks_per_second())
}

/// Reads /proc/PID/io, for which one must be allowed to trace the process.
pub fn io(root: &Root, pid: u32) -> io::Result<Io> {
    let path = folder(pid).join("io");
    let text = root.read(&path)?;
    let bytes = |key: &str| field(&text, key).and_then(|v| v.parse().ok()).ok_or_else(|| malformed(root, &path));
    Ok(Io {
        read_bytes: bytes("read_bytes")?,
        write_bytes: bytes("write_bytes")?,
        rchar: bytes("rchar")?,
        wchar: bytes("wchar")?,
    })
}

/// Resident memory, bytes.
pub fn resident_bytes(root: &Root, pid: u32) -> io::Result<u64> {
    let path = folder(pid).join("status");
    kilobytes(&root.read(&path)?, "VmRSS").ok_or_else(|| malformed(root, &path))
}

/// Anonymous memory in transparent huge pages, bytes. (smaps_rollup needs Linux 4.14 and leave to trace the process.)
pub fn anon_huge_bytes(root: &Root, pid: u32) -> Option<u64> {
    kilobytes(&root.read(folder(pid).join("smaps_rollup")).ok()?, "AnonHugePages")
}

/// CPUs on which the process may run.
pub fn cpus_allowed(root: &Root, pid: u32) -> io::Result<Vec<u32>> {
    let path = folder(pid).join("status");
    let text = root.read(&path)?;
    field(&text, "Cpus_allowed_list").and_then(numbers).ok_or_else(|| malformed(root, &path))
}

/// Context switches, voluntary and not, of one thread.
pub(crate) fn thread_switches(root: &Root, pid: u32, tid: u32) -> io::Result<u64> {
    let path = folder(pid).join("task").join(tid.to_string()).join("status");
    let text = root.read(&path)?;
    let count = |key: &str| field(&text, key).and_then(|v| v.parse::<u64>().ok());
    count("voluntary_ctxt_switches")
        .zip(count("nonvoluntary_ctxt_switches"))
        .map(|(a, b)| a.saturating_add(b))
        .ok_or_else(|| malformed(root, &path))
}

/// Context switches, voluntary and not, of the live threads together.
pub fn context_switches(root: &Root, pid: u32) -> io::Result<u64> {
    let mut sum = 0u64;
    for thread in threads(root, pid)? {
        match thread_switches(root, pid, thread.tid) {
            Ok(switches) => sum = sum.saturating_add(switches),
            Err(error) if has_ended(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    /// A `stat` line with this name, user and system ticks.
    fn stat(name: &str, user: u64, system: u64) -> String {
        format!("42 ({name}) S 1 42 42 0 -1 4194560 10 0 0 0 {user} {system} 0 0 20 0 3 0 177 0\n")
    }

    #[test]
    fn names_may_hold_parentheses_blanks_and_line_breaks() {
        for name in ["CPU 0/KVM", "a) S (b", "(sd-pam)", "", "x\n1) 2"] {
            assert_eq!(parse_stat(&stat(name, 7, 9)), Some((name, 7, 9)), "{name}");
        }
        for bad in ["", "42 (name", "42 (x) S 1 2 3", ") (", "42 (x) S 1 42 42 0 -1 4194560 10 0 0 0 a b"] {
            assert_eq!(parse_stat(bad), None, "{bad}");
        }
    }

    #[test]
    fn threads_are_read_with_and_without_schedstat_and_ended_ones_left_out() {
        let (_folder, root) = tree(&[
            ("proc/42/task/42/stat", &stat("qemu-system-x86", 100, 50)),
            ("proc/42/task/42/schedstat", "1504000000 250000000 12\n"),
            ("proc/42/task/43/stat", &stat("CPU 0/TCG", 200, 10)),
            ("proc/42/task/43/schedstat", "0 0 0\n"),
            ("proc/42/task/44/ended", ""),
        ]);
        let threads = threads(&root, 42).unwrap();
        assert_eq!(
            threads.iter().map(|t| (t.tid, t.name.as_str())).collect::<Vec<_>>(),
            [(42, "qemu-system-x86"), (43, "CPU 0/TCG")]
        );
        assert_eq!((threads[0].run_seconds, threads[0].run_queue_wait_seconds), (Some(1.504), Some(0.25)));
        assert_eq!((threads[0].user_seconds, threads[0].cpu_seconds()), (1.0, 1.504));
        assert_eq!((threads[1].run_queue_wait_seconds, threads[1].cpu_seconds()), (None, 2.1));
        assert!(super::threads(&root, 9).unwrap_err().to_string().contains("proc/9/task"));
    }

    #[test]
    fn counters_that_are_missing_are_errors_not_zeros() {
        let io_text = "rchar: 11\nwchar: 12\nsyscr: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";
        let status = "Name:\tx\nVmRSS:\t  2048 kB\nCpus_allowed_list:\t0-1,4\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n";
        let (_folder, root) = tree(&[
            ("proc/1/io", io_text),
            ("proc/1/status", status),
            ("proc/1/smaps_rollup", "0-1 ---p 0 00:00 0 [rollup]\nRss: 9 kB\nAnonHugePages:      4096 kB\n"),
            ("proc/1/task/1/stat", &stat("x", 1, 1)),
            ("proc/1/task/1/status", status),
            ("proc/1/task/2/stat", &stat("y", 1, 1)),
            ("proc/1/task/2/status", status),
            ("proc/2/io", "rchar: 11\nwchar: 12\n"),
            ("proc/2/status", "Name:\tkthreadd\n"),
        ]);
        assert_eq!(io(&root, 1).unwrap(), Io { read_bytes: 4096, write_bytes: 8192, rchar: 11, wchar: 12 });
        assert_eq!(resident_bytes(&root, 1).unwrap(), 2 << 20);
        assert_eq!(anon_huge_bytes(&root, 1), Some(4 << 20));
        assert_eq!(cpus_allowed(&root, 1).unwrap(), [0, 1, 4]);
        assert_eq!(context_switches(&root, 1).unwrap(), 14);
        assert!(io(&root, 2).unwrap_err().to_string().contains("proc/2/io is not as expected"));
        assert!(resident_bytes(&root, 2).is_err() && cpus_allowed(&root, 2).is_err());
        assert_eq!(anon_huge_bytes(&root, 2), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_read() {
        use rustix::time::{ClockId, clock_gettime};
        let used = || {
            let time = clock_gettime(ClockId::ThreadCPUTime);
            time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
        };
        while used() < 0.06 {
            std::hint::spin_loop();
        }
        let (root, pid) = (Root::live(), std::process::id());
        let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let threads = threads(&root, pid).unwrap();
        let this = threads.iter().find(|thread| thread.tid == own).unwrap();
        // The kernel brings a running thread's counters up to date once a tick.
        assert!((0.03..=used()).contains(&this.cpu_seconds()), "{this:?} {}", used());
        assert!(threads.iter().any(|thread| thread.tid == pid));
        assert!(resident_bytes(&root, pid).unwrap() > 100_000 && !cpus_allowed(&root, pid).unwrap().is_empty());
        assert!(context_switches(&root, pid).is_ok() && cpu_seconds(&root, pid).is_ok() && io(&root, pid).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_text_panics(text in "([()]| |[0-9]{0,21}|-|:|kB|io|\n|\\PC){0,30}") {
            let _ = (parse_stat(&text), parse_schedstat(&text));
            let paths = ["proc/1/io", "proc/1/status", "proc/1/stat", "proc/1/task/1/stat", "proc/1/smaps_rollup"];
            let (_folder, root) = tree(&paths.map(|path| (path, text.as_str())));
            let _ = (io(&root, 1), resident_bytes(&root, 1), cpus_allowed(&root, 1), threads(&root, 1));
            let _ = (context_switches(&root, 1), anon_huge_bytes(&root, 1), cpu_seconds(&root, 1));
        }
    }
}
