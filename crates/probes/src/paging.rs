//! Memory pressure that falsifies a run: swapping, the OOM killer, the balloon (/proc/vmstat; mm/vmstat.c) and merged pages
//! (Documentation/admin-guide/mm/ksm.rst).

use crate::text::field;
use crate::{Root, difference};

/// Events since boot; none where the kernel does not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// Pages read from swap.
    pub swapped_in_pages: Option<u64>,
    /// Pages written to swap.
    pub swapped_out_pages: Option<u64>,
    /// Processes killed for lack of memory. (Linux 4.13 and later.)
    pub oom_kills: Option<u64>,
    /// Pages that the hypervisor's balloon took from this machine.
    pub balloon_inflated_pages: Option<u64>,
    /// Pages that it gave back.
    pub balloon_deflated_pages: Option<u64>,
}

impl Paging {
    /// Reads them.
    pub fn read(root: &Root) -> Self {
        let text = root.read("proc/vmstat").unwrap_or_default();
        let count = |key| field(&text, key)?.parse().ok();
        Paging {
            swapped_in_pages: count("pswpin"),
            swapped_out_pages: count("pswpout"),
            oom_kills: count("oom_kill"),
            balloon_inflated_pages: count("balloon_inflate"),
            balloon_deflated_pages: count("balloon_deflate"),
        }
    }

    /// What was added from `self` to `later`.
    pub fn until(&self, later: &Paging) -> Paging {
        Paging {
            swapped_in_pages: difference::count(self.swapped_in_pages, later.swapped_in_pages),
            swapped_out_pages: difference::count(self.swapped_out_pages, later.swapped_out_pages),
            oom_kills: difference::count(self.oom_kills, later.oom_kills),
            balloon_inflated_pages: difference::count(self.balloon_inflated_pages, later.balloon_inflated_pages),
            balloon_deflated_pages: difference::count(self.balloon_deflated_pages, later.balloon_deflated_pages),
        }
    }

    /// Pages swapped in and out together.
    pub fn swapped_pages(&self) -> Option<u64> {
        self.swapped_in_pages.zip(self.swapped_out_pages).map(|(inwards, outwards)| inwards.saturating_add(outwards))
    }

    /// Pages that the balloon holds at the time of this reading (which is not a difference of two).
    pub fn balloon_held_pages(&self) -> Option<u64> {
        difference::count(self.balloon_deflated_pages, self.balloon_inflated_pages)
    }
}

/// Kernel samepage merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ksm {
    /// True while it looks for pages to merge: that takes CPU time, and a write to a merged page a fault.
    pub running: bool,
    /// Pages that are saved because they share another.
    pub sharing_pages: u64,
}

impl Ksm {
    /// Reads it; none on kernels without.
    pub fn read(root: &Root) -> Option<Self> {
        let number = |name: &str| root.number::<u64>(format!("sys/kernel/mm/ksm/{name}"));
        // 0 stopped, 1 running, 2 taking everything apart and then stopped.
        Some(Ksm { running: number("run")? == 1, sharing_pages: number("pages_sharing")? })
    }

    /// True where it can have an influence.
    pub fn is_active(&self) -> bool {
        self.running || self.sharing_pages > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;
    use proptest::prelude::*;

    #[test]
    fn swapping_and_the_balloon_are_counted() {
        let (_folder, root) =
            tree(&[("proc/vmstat", "nr_free_pages 7\npswpin 10\npswpout 20\nballoon_inflate 9\nballoon_deflate 4\n")]);
        let before = Paging::read(&root);
        assert_eq!((before.oom_kills, before.balloon_held_pages()), (None, Some(5)));
        std::fs::write(root.path("proc/vmstat"), "pswpin 13\npswpout 20\noom_kill 1\nballoon_inflate 9\n").unwrap();
        let added = before.until(&Paging::read(&root));
        let expected = Paging {
            swapped_in_pages: Some(3),
            swapped_out_pages: Some(0),
            oom_kills: None,
            balloon_inflated_pages: Some(0),
            balloon_deflated_pages: None,
        };
        assert_eq!(added, expected);
    }

    #[test]
    fn merged_pages_stay_after_merging_has_stopped() {
        let (_folder, root) = tree(&[("sys/kernel/mm/ksm/run", "0\n"), ("sys/kernel/mm/ksm/pages_sharing", "12\n")]);
        let ksm = Ksm::read(&root).unwrap();
        assert_eq!((ksm, ksm.is_active()), (Ksm { running: false, sharing_pages: 12 }, true));
        assert!(!Ksm { running: false, sharing_pages: 0 }.is_active());
    }

    #[test]
    fn what_the_kernel_does_not_count_is_unknown() {
        let (_folder, root) = tree(&[]);
        assert_eq!((Paging::read(&root), Ksm::read(&root)), (Paging::default(), None));
        assert_eq!(Paging::default().balloon_held_pages(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_text_panics(text in "(pswpin |oom_kill |balloon_inflate |[0-9]{0,22}|\n|\\PC){0,6}") {
            let ksm = ["sys/kernel/mm/ksm/run", "sys/kernel/mm/ksm/pages_sharing", "proc/vmstat"];
            let (_folder, root) = tree(&ksm.map(|path| (path, text.as_str())));
            let read = Paging::read(&root);
            let _ = (read.until(&read), read.balloon_held_pages(), Ksm::read(&root));
        }
    }
}
