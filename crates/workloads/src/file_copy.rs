//! Copying a small file over and over: what read and write of cached files cost.
//!
//! The copy test of UnixBench's fstime (BYTE UNIX Benchmarks; the row "File Copy 4096 bufsize 8000 maxblocks"), written
//! afresh from its method: write the source file, read it, then copy it with a rewind at its end. Only the copy counts.

use crate::{Place, Prepared, Workload, WorkloadError};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, ParamSpec, Params};
use model::units::Unit;

const NAME: &str = "file-copy";
const VERSION: u32 = 1;
/// fstime counts the length of its file in blocks of this size, whatever the buffer is.
const BLOCK: u64 = 1024;

/// The workload.
#[derive(Debug)]
pub(crate) struct FileCopy;

impl Load for FileCopy {
    fn benchmarks(&self) -> Vec<Benchmark> {
        vec![Benchmark {
            id: "cpu.file-copy".to_owned(),
            title: "File copy 4096/8000".to_owned(),
            doc: "Bytes per second that one thread copies from one file to another on tmpfs, by read(2) and write(2) with a \
                  rewind at the end, as UnixBench's fsdisk does. It measures the kernel's system calls and page cache, no disk."
                .to_owned(),
            area: Area::Cpu,
            runner: Runner::Workload { name: NAME.to_owned(), version: VERSION },
            params: vec![
                ParamSpec::duration("time", 2.0, "About how long the copy runs."),
                ParamSpec::size("buffer", 4096, "Bytes per read and write."),
                ParamSpec::count(
                    "blocks",
                    8000,
                    "Length of the file in blocks of 1024 bytes (as fstime counts them), rounded down to whole buffers.",
                ),
            ],
            metrics: vec![
                Metric::new("rate", "File copy", Unit::BytesPerSecond, ("KBps", 1024.0), Direction::Higher).primary(),
            ],
            kernel_bound: true,
        }]
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        let file = file_length(params)?;
        // tmpfs is memory: both files, and the buffer.
        let memory = file.saturating_mul(2).saturating_add(params.integer("buffer")?).saturating_add(1 << 20);
        Ok(Needs { memory, cpus: 1, seconds: crate::timing::target(params)? + 0.3, ..Needs::default() })
    }
}

impl Workload for FileCopy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    #[cfg(target_os = "linux")]
    fn prepare(&self, params: &Params, place: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        Ok(Box::new(linux::Ready::new(params, place)?))
    }

    #[cfg(not(target_os = "linux"))]
    fn prepare(&self, _: &Params, place: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        Err(WorkloadError::System {
            what: format!("Copying files in {} by raw system calls", place.scratch.display()),
            source: std::io::ErrorKind::Unsupported.into(),
        })
    }
}

/// Whole buffers that fit, at least one.
fn file_length(params: &Params) -> Result<u64, ParamError> {
    let buffer = params.integer("buffer")?.max(1);
    let length = params.integer("blocks")?.saturating_mul(BLOCK);
    Ok((length - length % buffer).max(buffer))
}

#[cfg(target_os = "linux")]
mod linux {
    use super::file_length;
    use crate::buffer::Buffer;
    use crate::timing::{calibrate, rate, target, timed};
    use crate::{Place, Prepared, WorkloadError};
    use model::params::Params;
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::{Errno, read, write};
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::FileExt;
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};

    pub(super) struct Ready {
        source: File,
        target: File,
        memory: Buffer,
        /// Bytes per read and write.
        buffer: usize,
        /// Buffers in the file.
        file: u64,
        /// Buffers copied per run.
        pub(super) count: u64,
    }

    impl Ready {
        pub(super) fn new(params: &Params, place: &Place<'_>) -> Result<Self, WorkloadError> {
            let seconds = target(params)?;
            let (buffer, length) = (params.integer("buffer")?.max(1), file_length(params)?);
            let mut ready = Ready {
                memory: Buffer::new(buffer)?,
                source: nameless(place.scratch, "source")?,
                target: nameless(place.scratch, "target")?,
                buffer: buffer as usize,
                file: length / buffer,
                count: 0,
            };
            ready.fill().map_err(|source| {
                let what = format!("Writing the {length} bytes to copy to a file in {}", place.scratch.display());
                WorkloadError::System { what, source }
            })?;
            // The target gets its pages here, not while the clock runs.
            ready.copy(ready.file)?;
            ready.count = calibrate(seconds, |count| ready.copy(count))?;
            Ok(ready)
        }

        /// The first bytes of a buffer of the file, by which it is known.
        fn stamp(&self, index: u64) -> ([u8; 8], usize) {
            (index.to_le_bytes(), self.buffer.min(8))
        }

        /// Writes the source file, then reads it, as fstime does before it copies.
        fn fill(&mut self) -> Result<(), io::Error> {
            self.memory.bytes_mut(self.buffer).iter_mut().zip(0u32..).for_each(|(byte, i)| *byte = i as u8);
            for index in 0..self.file {
                let (stamp, head) = self.stamp(index);
                self.memory.bytes_mut(head).copy_from_slice(&stamp[..head]);
                self.source.write_all_at(self.memory.bytes_mut(self.buffer), index * self.buffer as u64)?;
            }
            for index in 0..self.file {
                self.source.read_exact_at(self.memory.bytes_mut(self.buffer), index * self.buffer as u64)?;
            }
            Ok(())
        }

        /// Copies `count` buffers and checks that the last one arrived: seconds.
        pub(super) fn copy(&mut self, count: u64) -> Result<f64, WorkloadError> {
            let failed = |source: io::Error| WorkloadError::System {
                what: "Copying a file in the scratch directory".to_owned(),
                source,
            };
            let last = count.wrapping_sub(1) % self.file;
            let (stamp, head) = self.stamp(last);
            let at = last * self.buffer as u64;
            self.target.write_all_at(&stamp.map(|byte| !byte)[..head], at).map_err(failed)?;

            rewind(self.source.as_fd(), self.target.as_fd()).map_err(|errno| failed(errno.into()))?;
            let (source, target) = (self.source.as_fd(), self.target.as_fd());
            let buffer = self.memory.bytes_mut(self.buffer);
            let (done, seconds) = timed(|| timed_file_copy(source, target, buffer, count));
            done.map_err(|errno| failed(errno.into()))?;

            let mut arrived = [0; 8];
            self.target.read_exact_at(&mut arrived[..head], at).map_err(failed)?;
            if arrived[..head] != stamp[..head] {
                return Err(WorkloadError::Wrong(format!("buffer {last} of the file was not copied")));
            }
            Ok(seconds)
        }
    }

    impl Prepared for Ready {
        fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError> {
            let seconds = self.copy(self.count)?;
            let bytes = self.count as f64 * self.buffer as f64;
            Ok(BTreeMap::from([("rate".to_owned(), rate(bytes, seconds)?)]))
        }
    }

    /// A new file in `scratch` that has lost its name already, so that nothing is left of it however this process ends.
    fn nameless(scratch: &Path, role: &str) -> Result<File, WorkloadError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = scratch.join(format!("vmtax-file-copy-{}-{number}-{role}", std::process::id()));
        let failed = |what: &str, source| WorkloadError::System { what: format!("{what} {}", path.display()), source };
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|source| failed("Making the file", source))?;
        std::fs::remove_file(&path).map_err(|source| failed("Removing the name of the file", source))?;
        Ok(file)
    }

    #[inline(always)]
    fn rewind(source: BorrowedFd<'_>, target: BorrowedFd<'_>) -> Result<(), Errno> {
        seek(source, SeekFrom::Start(0))?;
        seek(target, SeekFrom::Start(0))?;
        Ok(())
    }

    /// Reads and writes `count` buffers; rewinds both files where the source ends. These are raw system calls.
    #[inline(never)]
    fn timed_file_copy(
        source: BorrowedFd<'_>,
        target: BorrowedFd<'_>,
        buffer: &mut [u8],
        count: u64,
    ) -> Result<(), Errno> {
        let mut left = count;
        while left > 0 {
            let got = read(source, &mut *buffer)?;
            if got == buffer.len() {
                if write(target, buffer)? != got {
                    return Err(Errno::NOSPC);
                }
                left = left.wrapping_sub(1);
            } else if got == 0 {
                rewind(source, target)?;
            } else {
                return Err(Errno::IO);
            }
        }
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use model::isa::InstructionSet;
    use model::params::ParamValue;

    fn tiny(buffer: u64, blocks: u64) -> Params {
        let mut params = Params::defaults(&FileCopy.benchmarks()[0].params);
        params.set("time", ParamValue::Number(0.02));
        params.set("buffer", ParamValue::Integer(buffer));
        params.set("blocks", ParamValue::Integer(blocks));
        params
    }

    #[expect(clippy::unwrap_used, reason = "of the tests")]
    fn scratch() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn place(scratch: &tempfile::TempDir) -> Place<'_> {
        Place { isa: InstructionSet::Baseline, scratch: scratch.path() }
    }

    /// Bytes that this thread has read and written by system calls.
    #[expect(clippy::unwrap_used, reason = "of the tests")]
    fn moved() -> (u64, u64) {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap();
        (field("rchar:"), field("wchar:"))
    }

    #[test]
    fn a_short_copy_gives_a_positive_rate_and_leaves_no_file() {
        let scratch = scratch();
        let mut ready = FileCopy.prepare(&tiny(4096, 64), &place(&scratch)).unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
        let values = ready.run().unwrap();
        assert!(values["rate"] > 1e6 && values["rate"].is_finite(), "{values:?}");
    }

    #[test]
    fn exactly_count_buffers_are_moved() {
        let scratch = scratch();
        let mut ready = linux::Ready::new(&tiny(4096, 64), &place(&scratch)).unwrap();
        let own = {
            let first = moved();
            let second = moved();
            second.0 - first.0
        };
        for count in [1, 15, 16, 17, 1000] {
            let before = moved();
            ready.copy(count).unwrap();
            let after = moved();
            // Reading /proc is reading too, and so is the look at the last buffer; spoiling it is 8 bytes of writing.
            let (read, written) = (after.0 - before.0 - own, after.1 - before.1);
            assert!(read.abs_diff(count * 4096 + 8) < 16, "{count}: {read} bytes read");
            assert_eq!(written, count * 4096 + 8, "{count}");
        }
    }

    #[test]
    fn the_file_is_whole_buffers_and_at_least_one() {
        assert_eq!(file_length(&tiny(4096, 8000)).unwrap(), 8000 * 1024);
        assert_eq!(file_length(&tiny(3000, 8)).unwrap(), 6000);
        assert_eq!(file_length(&tiny(1 << 20, 1)).unwrap(), 1 << 20);
        file_length(&tiny(u64::MAX, u64::MAX)).unwrap();
        let scratch = scratch();
        for (buffer, blocks) in [(1, 1), (7, 1), (3000, 8), (1 << 20, 1)] {
            FileCopy.prepare(&tiny(buffer, blocks), &place(&scratch)).unwrap().run().unwrap();
        }
    }

    #[test]
    fn a_missing_directory_is_named() {
        let place = Place { isa: InstructionSet::Baseline, scratch: std::path::Path::new("/nowhere/at/all") };
        let error = FileCopy.prepare(&tiny(4096, 64), &place).err().unwrap();
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
