//! Memory bandwidth by the three methods of mbw (Horvath, <https://github.com/raas/mbw>, version 1.2.2).

use crate::buffer::{Buffer, PAGE};
use crate::copy_kernels::{CopyKernel, fastest, timed_copy_words};
use crate::timing::{rate, timed};
use crate::{Place, Prepared, Workload, WorkloadError};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, ParamSpec, Params};
use model::units::Unit;
use std::collections::BTreeMap;

/// One copy of the whole array.
pub(crate) const MEMCPY: MemoryCopy = MemoryCopy(Method::Memcpy);
/// Element by element.
pub(crate) const DUMB: MemoryCopy = MemoryCopy(Method::Dumb);
/// Block by block, always from the same block.
pub(crate) const MCBLOCK: MemoryCopy = MemoryCopy(Method::Mcblock);

/// Pages by which the target is shifted against the source: odd, and half way between the multiples of 512.
const STAGGER: usize = 265;
const VERSION: u32 = 1;
const SIZE: u64 = 128 << 20;
const BLOCK: u64 = 256 << 10;
const PASSES: u64 = 10;
const SECONDS: f64 = 1.0;

/// A workload that copies an array to another.
#[derive(Debug)]
pub(crate) struct MemoryCopy(Method);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Memcpy,
    Dumb,
    Mcblock,
}

struct Ready {
    copy: CopyKernel,
    from: Buffer,
    to: Buffer,
    block: usize,
    passes: u64,
    /// Seconds.
    time: f64,
}

impl Load for MemoryCopy {
    fn benchmarks(&self) -> Vec<Benchmark> {
        let (title, how) = match self.0 {
            Method::Memcpy => {
                ("Memory copy (MEMCPY)", "one copy of the whole array with the widest fitting instructions")
            }
            Method::Dumb => ("Memory copy (DUMB)", "an element-wise loop, b[i] = a[i], over 64-bit words"),
            Method::Mcblock => (
                "Memory copy (MCBLOCK)",
                "a copy in blocks, each of which is read from the first block of the source, as mbw 1.2.2 does; so the \
                 reads come from a cache and the figure is the one of writing",
            ),
        };
        let mut params = vec![
            ParamSpec::size("size", SIZE, "Size of each of the two arrays, rounded up to whole pages of 4 KiB."),
            ParamSpec::count("passes", PASSES, "How often the array is copied at least; each copy is timed."),
            ParamSpec::duration(
                "time",
                SECONDS,
                "How long is copied at least, so that a fast machine is not judged by an instant.",
            ),
        ];
        if self.0 == Method::Mcblock {
            params.push(ParamSpec::size("block", BLOCK, "Size of a block, rounded up to whole pages of 4 KiB."));
        }
        let metric =
            |id, title| Metric::new(id, title, Unit::BytesPerSecond, ("MiB/s", 1_048_576.0), Direction::Higher);
        vec![Benchmark {
            id: format!("memory.{}", self.name()),
            title: title.to_owned(),
            doc: format!(
                "Bytes copied per second (counted once, as mbw does) by {how}. The rate is all bytes over all time, which is \
                 mbw's AVG; the best pass is given beside it. The arrays are mapped, advised to use huge pages and written to \
                 before the clock starts. The code depends on the instruction set of the study only, not on a C library."
            ),
            area: Area::Memory,
            runner: Runner::Workload { name: self.name().to_owned(), version: VERSION },
            params,
            metrics: vec![metric("rate", title).primary(), metric("best", "Best pass")],
            kernel_bound: false,
        }]
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        let size = params.integer("size")?;
        let passes = params.integer("passes")?;
        // Slow for a real machine, about right for an emulated one. Filling the arrays is like two passes more.
        let rate = 1u64 << 30;
        let pass = size as f64 / rate as f64;
        let seconds = (passes as f64 * pass).max(params.seconds("time")?) + 2.0 * pass;
        Ok(Needs { memory: size.saturating_mul(2).saturating_add(8 << 20), cpus: 1, seconds, ..Needs::default() })
    }
}

impl Workload for MemoryCopy {
    fn name(&self) -> &'static str {
        match self.0 {
            Method::Memcpy => "memcpy",
            Method::Dumb => "dumb",
            Method::Mcblock => "mcblock",
        }
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare(&self, params: &Params, place: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        let mut from = Buffer::new(params.integer("size")?)?;
        let to = Buffer::staggered(params.integer("size")?, STAGGER)?;
        let block = match self.0 {
            Method::Mcblock => {
                let asked = usize::try_from(params.integer("block")?).unwrap_or(usize::MAX);
                asked.min(from.length()).max(1).next_multiple_of(PAGE)
            }
            Method::Memcpy | Method::Dumb => from.length(),
        };
        let copy = match self.0 {
            Method::Dumb => timed_copy_words as CopyKernel,
            Method::Memcpy | Method::Mcblock => fastest(place.isa, to.length())?,
        };
        // No two words are alike, so that a copy to the wrong place shows.
        from.words_mut().iter_mut().zip(1..).for_each(|(word, i)| *word = i);
        let (passes, time) = (params.integer("passes")?.max(1), params.seconds("time")?);
        let mut ready = Ready { copy, from, to, block, passes, time };
        ready.pass();
        ready.check()?;
        Ok(Box::new(ready))
    }
}

impl Ready {
    /// Copies the array once: seconds.
    fn pass(&mut self) -> f64 {
        let (copy, from, block, total) = (self.copy, self.from.start(), self.block, self.to.length());
        let to = self.to.start_mut();
        // SAFETY: two buffers of the same length, page-aligned; block and total are whole pages and not zero; the kernel is
        // one that this CPU has.
        timed(|| unsafe { copy(to, from, block, total) }).1
    }

    /// Which words are looked at: one of every page, not the same one of each.
    fn samples(&self) -> impl Iterator<Item = usize> + use<> {
        (0..self.to.length() / PAGE).map(|page| page * (PAGE / 8) + page * 9 % (PAGE / 8))
    }

    /// Makes an undone copy visible.
    fn spoil(&mut self) {
        for i in self.samples() {
            self.to.words_mut()[i] = 0;
        }
    }

    fn check(&self) -> Result<(), WorkloadError> {
        let (from, to) = (self.from.words(), self.to.words());
        match self.samples().find(|&i| to[i] != from[i % (self.block / 8)]) {
            None => Ok(()),
            Some(i) => Err(WorkloadError::Wrong(format!("the copy differs from its source at byte {}", i * 8))),
        }
    }
}

impl Prepared for Ready {
    fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError> {
        self.spoil();
        let (mut passes, mut sum, mut best) = (0, 0.0, f64::INFINITY);
        while passes < self.passes || sum < self.time {
            let seconds = self.pass();
            passes += 1;
            sum += seconds;
            best = seconds.min(best);
        }
        self.check()?;
        let bytes = self.to.length() as f64;
        Ok(BTreeMap::from([
            ("rate".to_owned(), rate(bytes * passes as f64, sum)?),
            ("best".to_owned(), rate(bytes, best)?),
        ]))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use model::isa::InstructionSet;
    use model::params::ParamValue;
    use std::path::Path;

    fn place() -> Place<'static> {
        Place { isa: InstructionSet::Baseline, scratch: Path::new("/nowhere") }
    }

    fn tiny(copy: &MemoryCopy, size: u64) -> Params {
        let mut params = Params::defaults(&copy.benchmarks()[0].params);
        params.set("size", ParamValue::Integer(size));
        params.set("passes", ParamValue::Integer(3));
        params.set("time", ParamValue::Number(0.001));
        params
    }

    #[test]
    fn each_method_gives_a_rate_and_a_best_pass_that_is_no_worse() {
        for copy in [MEMCPY, DUMB, MCBLOCK] {
            let values = copy.prepare(&tiny(&copy, 1 << 20), &place()).unwrap().run().unwrap();
            assert!(values["rate"] > 1e6 && values["rate"].is_finite(), "{values:?}");
            // Equal but for the rounding of the sum, where all passes take the same time.
            assert!(values["best"] >= values["rate"] * 0.999_999, "{values:?}");
        }
    }

    #[test]
    fn a_copy_that_does_nothing_is_wrong() {
        unsafe fn idle(_: *mut u8, _: *const u8, _: usize, _: usize) {}
        let buffer = || Buffer::new(1 << 20).unwrap();
        let mut ready = Ready { copy: idle, from: buffer(), to: buffer(), block: 1 << 20, passes: 1, time: 0.0 };
        ready.from.words_mut().fill(7);
        assert!(matches!(ready.run(), Err(WorkloadError::Wrong(_))));
        // Also where an earlier pass had done it.
        ready.to.words_mut().fill(7);
        assert!(matches!(ready.run(), Err(WorkloadError::Wrong(_))));
        ready.copy = timed_copy_words;
        ready.run().unwrap();
    }

    #[test]
    fn odd_sizes_are_rounded_up_to_pages() {
        let mut params = tiny(&MCBLOCK, 10_000);
        for block in [1, 5000, 1 << 40, u64::MAX] {
            params.set("block", ParamValue::Integer(block));
            MCBLOCK.prepare(&params, &place()).unwrap().run().unwrap();
        }
    }

    #[test]
    fn the_need_for_memory_is_both_arrays() {
        assert_eq!(MEMCPY.needs(&tiny(&MEMCPY, SIZE)).unwrap().memory, 2 * SIZE + (8 << 20));
        assert_eq!(MEMCPY.needs(&tiny(&MEMCPY, u64::MAX)).unwrap().memory, u64::MAX);
        assert!(MEMCPY.needs(&Params::default()).is_err());
    }
}
