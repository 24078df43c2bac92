//! Time for which the threads of a process were ready to run but waited for a CPU (Documentation/scheduler/sched-stats.rst).

use crate::Root;
use crate::process::wait_seconds;
use std::collections::BTreeMap;

/// One reading: of every thread that lives, since it began.
#[derive(Clone, Debug, PartialEq)]
pub struct RunQueueWait {
    /// Seconds by thread id.
    threads: BTreeMap<u32, f64>,
}

impl RunQueueWait {
    /// Of `pid`; none where it has ended, or the kernel keeps no schedstat. Of a process that has ended but is not yet waited for, the
    /// first thread is left.
    pub fn read(root: &Root, pid: u32) -> Option<Self> {
        let tasks = format!("proc/{pid}/task");
        let tids = root.list(&tasks).unwrap_or_default();
        let wait = |tid: u32| Some((tid, wait_seconds(root, format!("{tasks}/{tid}/schedstat"))?));
        let mut threads: BTreeMap<u32, f64> =
            tids.iter().filter_map(|name| name.parse().ok()).filter_map(wait).collect();
        if threads.is_empty() {
            threads.insert(pid, wait_seconds(root, format!("proc/{pid}/schedstat"))?);
        }
        Some(RunQueueWait { threads })
    }

    /// All threads together, seconds.
    pub fn seconds(&self) -> f64 {
        self.threads.values().sum()
    }

    /// What was added from `self` to `later`, seconds. The wait of threads that have ended in between is lost.
    pub fn until(&self, later: &RunQueueWait) -> f64 {
        let added = later.threads.iter().map(|(tid, wait)| {
            // A number that now belongs to another thread is told by its clock running backwards.
            wait - self.threads.get(tid).filter(|before| *before <= wait).unwrap_or(&0.0)
        });
        added.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    #[test]
    fn threads_are_told_apart_between_two_readings() {
        let (_folder, root) = tree(&[
            ("proc/4/schedstat", "9000000000 100000000 3\n"),
            ("proc/4/task/4/schedstat", "9000000000 100000000 3\n"),
            ("proc/4/task/5/schedstat", "9000000000 700000000 3\n"),
            ("proc/4/task/6/schedstat", "9000000000 300000000 3\n"),
        ]);
        let before = RunQueueWait::read(&root, 4).unwrap();
        assert!((before.seconds() - 1.1).abs() < 1e-9);
        for (tid, wait) in [(4, 150), (6, 250), (7, 25)] {
            std::fs::create_dir_all(root.path(format!("proc/4/task/{tid}"))).unwrap();
            std::fs::write(root.path(format!("proc/4/task/{tid}/schedstat")), format!("1 {wait}000000 1\n")).unwrap();
        }
        std::fs::remove_dir_all(root.path("proc/4/task/5")).unwrap();
        // 50 ms more, another thread with an old number, a new thread.
        assert!((before.until(&RunQueueWait::read(&root, 4).unwrap()) - (0.05 + 0.25 + 0.025)).abs() < 1e-9);
    }

    #[test]
    fn without_schedstat_the_wait_is_unknown() {
        let (_folder, root) = tree(&[("proc/4/task/4/schedstat", "0 0 0\n"), ("proc/5/schedstat", "2 5000000000 1\n")]);
        assert_eq!((RunQueueWait::read(&root, 4), RunQueueWait::read(&root, 3)), (None, None));
        assert_eq!(RunQueueWait::read(&root, 5).unwrap().seconds(), 5.0, "only its first thread is left");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_has_ended_is_still_read() {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let id = Pid::from_child(&child);
        waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
        let ended = RunQueueWait::read(&Root::live(), child.id());
        child.wait().unwrap();
        assert!(ended.is_some_and(|wait| wait.seconds() >= 0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_text_panics(text in "([0-9]{0,22}|-| |\n|\\PC){0,6}") {
            let (_folder, root) = tree(&[("proc/1/task/1/schedstat", &text), ("proc/2/schedstat", &text)]);
            let _ = [1, 2].map(|pid| RunQueueWait::read(&root, pid).map(|wait| wait.until(&wait)));
        }
    }
}
