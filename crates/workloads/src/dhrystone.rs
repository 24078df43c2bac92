//! Dhrystone: integers, records, pointers, strings and calls in the mixture of system programs of its time.
//!
//! Weicker, "Dhrystone: a synthetic systems programming benchmark", CACM 27(10), 1984, in its version 2.1 of 1988. Written
//! afresh from the published procedures. Their names are kept, and so are its ground rules: no procedure is merged into its
//! caller, and the string routines are calls. UnixBench's row dhry2reg counts the same loops.

use crate::timing::{calibrate, opaque, rate, target, timed};
use crate::{Place, Prepared, Workload, WorkloadError};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, ParamSpec, Params};
use model::units::Unit;
use std::collections::BTreeMap;
use std::hint::black_box;

const NAME: &str = "dhrystone";
const VERSION: u32 = 1;

/// The workload.
#[derive(Debug)]
pub(crate) struct Dhrystone;

struct Ready {
    loops: u64,
}

impl Load for Dhrystone {
    fn benchmarks(&self) -> Vec<Benchmark> {
        vec![Benchmark {
            id: "cpu.dhrystone".to_owned(),
            title: "Dhrystone 2".to_owned(),
            doc: "Loops per second of Dhrystone 2.1 (Weicker 1988), one thread: records, pointers, calls and strings of 30 \
                  characters, no floating point. The unit is that of UnixBench's dhry2reg. The final values that Weicker \
                  published are checked."
                .to_owned(),
            area: Area::Cpu,
            runner: Runner::Workload { name: NAME.to_owned(), version: VERSION },
            params: vec![ParamSpec::duration("time", 2.0, "About how long the loops run.")],
            metrics: vec![
                Metric::new("rate", "Dhrystone 2", Unit::PerSecond, ("lps", 1.0), Direction::Higher).primary(),
            ],
            kernel_bound: false,
        }]
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        Ok(Needs { cpus: 1, seconds: target(params)? + 0.2, ..Needs::default() })
    }
}

impl Workload for Dhrystone {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare(&self, params: &Params, _: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        let loops = calibrate(target(params)?, measure)?;
        Ok(Box::new(Ready { loops }))
    }
}

impl Prepared for Ready {
    fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError> {
        let seconds = measure(self.loops)?;
        Ok(BTreeMap::from([("rate".to_owned(), rate(self.loops as f64, seconds)?)]))
    }
}

/// Does `loops` loops from a fresh start and checks what they leave: seconds.
fn measure(loops: u64) -> Result<f64, WorkloadError> {
    let mut world = World::new();
    let (locals, seconds) = timed(|| timed_dhrystone(&mut world, loops));
    world.check(&locals, loops)?;
    Ok(seconds)
}

/// A string of 30 characters and its end; one byte more than Weicker's, which alignment adds there too.
type Text = [u8; 32];

const fn text(string: &[u8; 30]) -> Text {
    let mut text = [0; 32];
    let mut i = 0;
    while i < string.len() {
        text[i] = string[i];
        i += 1;
    }
    text
}

const SOME_STRING: Text = text(b"DHRYSTONE PROGRAM, SOME STRING");
const FIRST_STRING: Text = text(b"DHRYSTONE PROGRAM, 1'ST STRING");
const SECOND_STRING: Text = text(b"DHRYSTONE PROGRAM, 2'ND STRING");
const THIRD_STRING: Text = text(b"DHRYSTONE PROGRAM, 3'RD STRING");

/// The enumeration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(i32)]
enum Ident {
    One,
    Two,
    Three,
    Four,
    #[expect(dead_code, reason = "of the published program, which has no use for it either")]
    Five,
}

/// The record; of its variants only the first is ever used.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Record {
    ptr_comp: *mut Record,
    discr: Ident,
    enum_comp: Ident,
    int_comp: i32,
    str_comp: Text,
}

/// Weicker's global variables.
struct World {
    ptr_glob: *mut Record,
    next_ptr_glob: *mut Record,
    int_glob: i32,
    bool_glob: bool,
    ch_1_glob: u8,
    ch_2_glob: u8,
    arr_1_glob: [i32; 50],
    arr_2_glob: [[i32; 50]; 50],
}

/// The variables of his main program.
struct Locals {
    int_1: i32,
    int_2: i32,
    int_3: i32,
    enum_loc: Ident,
    str_1: Text,
    str_2: Text,
}

impl World {
    fn new() -> Box<World> {
        let next = Box::into_raw(Box::new(Record {
            ptr_comp: std::ptr::null_mut(),
            discr: Ident::One,
            enum_comp: Ident::One,
            int_comp: 0,
            str_comp: [0; 32],
        }));
        let first = Box::into_raw(Box::new(Record {
            ptr_comp: next,
            discr: Ident::One,
            enum_comp: Ident::Three,
            int_comp: 40,
            str_comp: SOME_STRING,
        }));
        let mut world = Box::new(World {
            ptr_glob: first,
            next_ptr_glob: next,
            int_glob: 0,
            bool_glob: false,
            ch_1_glob: 0,
            ch_2_glob: 0,
            arr_1_glob: [0; 50],
            arr_2_glob: [[0; 50]; 50],
        });
        world.arr_2_glob[8][7] = 10;
        world
    }

    /// Compares with the final values of the published program.
    fn check(&self, locals: &Locals, loops: u64) -> Result<(), WorkloadError> {
        // SAFETY: both records live as long as the world, and nothing else refers to them now.
        let (first, next) = unsafe { (&*self.ptr_glob, &*self.next_ptr_glob) };
        // The counter in the array wraps, as it does in C.
        let counted = (loops as i32).wrapping_add(10);
        let wrong = [
            ("Int_Glob", self.int_glob == 5),
            ("Bool_Glob", self.bool_glob),
            ("Ch_1_Glob", self.ch_1_glob == b'A'),
            ("Ch_2_Glob", self.ch_2_glob == b'B'),
            ("Arr_1_Glob[8]", self.arr_1_glob[8] == 7),
            ("Arr_2_Glob[8][7]", self.arr_2_glob[8][7] == counted),
            ("Ptr_Glob->Ptr_Comp", first.ptr_comp == self.next_ptr_glob),
            ("Ptr_Glob->Discr", first.discr == Ident::One),
            ("Ptr_Glob->Enum_Comp", first.enum_comp == Ident::Three),
            ("Ptr_Glob->Int_Comp", first.int_comp == 17),
            ("Ptr_Glob->Str_Comp", first.str_comp == SOME_STRING),
            ("Next_Ptr_Glob->Ptr_Comp", next.ptr_comp == first.ptr_comp),
            ("Next_Ptr_Glob->Discr", next.discr == Ident::One),
            ("Next_Ptr_Glob->Enum_Comp", next.enum_comp == Ident::Two),
            ("Next_Ptr_Glob->Int_Comp", next.int_comp == 18),
            ("Next_Ptr_Glob->Str_Comp", next.str_comp == SOME_STRING),
            ("Int_1_Loc", locals.int_1 == 5),
            ("Int_2_Loc", locals.int_2 == 13),
            ("Int_3_Loc", locals.int_3 == 7),
            ("Enum_Loc", locals.enum_loc == Ident::Two),
            ("Str_1_Loc", locals.str_1 == FIRST_STRING),
            ("Str_2_Loc", locals.str_2 == SECOND_STRING),
        ]
        .into_iter()
        .find(|(_, right)| !right);
        match wrong {
            None => Ok(()),
            Some((name, _)) => Err(WorkloadError::Wrong(format!("Dhrystone's {name} after {loops} loops"))),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: both came from Box::into_raw in `new`, are two, and were never freed; the loops exchange no pointers that
        // the world itself holds.
        unsafe {
            drop(Box::from_raw(self.ptr_glob));
            drop(Box::from_raw(self.next_ptr_glob));
        }
    }
}

/// The main program's loop.
#[inline(never)]
fn timed_dhrystone(world: &mut World, loops: u64) -> Locals {
    let mut locals = Locals { int_1: 0, int_2: 0, int_3: 0, enum_loc: Ident::One, str_1: FIRST_STRING, str_2: [0; 32] };
    let l = &mut locals;
    for run in 1..=loops {
        // Nothing of one loop may be carried over into the next one.
        black_box(&mut *l);
        proc_5(world);
        proc_4(world);
        l.int_1 = opaque(2) as i32;
        l.int_2 = opaque(3) as i32;
        l.str_2 = SECOND_STRING;
        l.enum_loc = Ident::Two;
        world.bool_glob = !func_2(world, &l.str_1, &l.str_2);
        while l.int_1 < l.int_2 {
            l.int_3 = opaque(i64::from(l.int_1.wrapping_mul(5).wrapping_sub(l.int_2))) as i32;
            proc_7(l.int_1, l.int_2, &mut l.int_3);
            l.int_1 = l.int_1.wrapping_add(1);
        }
        proc_8(world, l.int_1, l.int_3);
        proc_1(world, world.ptr_glob);
        let mut index = b'A';
        while index <= world.ch_2_glob {
            if l.enum_loc == func_1(world, index, b'C') {
                proc_6(world, Ident::One, &mut l.enum_loc);
                l.str_2 = THIRD_STRING;
                l.int_2 = run as i32;
                world.int_glob = run as i32;
            }
            index = index.wrapping_add(1);
        }
        l.int_2 = l.int_2.wrapping_mul(l.int_1);
        l.int_1 = l.int_2.wrapping_div(l.int_3);
        l.int_2 = l.int_2.wrapping_sub(l.int_3).wrapping_mul(7).wrapping_sub(l.int_1);
        proc_2(world, &mut l.int_1);
    }
    locals
}

#[inline(never)]
fn proc_1(world: &mut World, ptr: *mut Record) {
    // SAFETY: `ptr` and its `ptr_comp` are the two live records, reached through raw pointers only; proc_3 keeps it so.
    unsafe {
        let next = (*ptr).ptr_comp;
        *next = *world.ptr_glob;
        (*ptr).int_comp = 5;
        (*next).int_comp = (*ptr).int_comp;
        (*next).ptr_comp = (*ptr).ptr_comp;
        proc_3(world, &raw mut (*next).ptr_comp);
        if (*next).discr == Ident::One {
            (*next).int_comp = 6;
            proc_6(world, (*ptr).enum_comp, &mut (*next).enum_comp);
            (*next).ptr_comp = (*world.ptr_glob).ptr_comp;
            proc_7((*next).int_comp, 10, &mut (*next).int_comp);
        } else {
            *ptr = *(*ptr).ptr_comp;
        }
    }
}

#[inline(never)]
fn proc_2(world: &World, int_ref: &mut i32) {
    let mut int_loc = int_ref.wrapping_add(10);
    let mut enum_loc = None;
    while enum_loc != Some(Ident::One) {
        if world.ch_1_glob == b'A' {
            int_loc = int_loc.wrapping_sub(1);
            *int_ref = int_loc.wrapping_sub(world.int_glob);
            enum_loc = Some(Ident::One);
        }
    }
}

/// # Safety
/// `ptr_ref` may be written, and `world.ptr_glob` is a live record or null.
#[inline(never)]
unsafe fn proc_3(world: &mut World, ptr_ref: *mut *mut Record) {
    // SAFETY: as the caller promises.
    unsafe {
        if !world.ptr_glob.is_null() {
            *ptr_ref = (*world.ptr_glob).ptr_comp;
        }
        proc_7(10, world.int_glob, &mut (*world.ptr_glob).int_comp);
    }
}

#[inline(never)]
fn proc_4(world: &mut World) {
    world.bool_glob |= world.ch_1_glob == b'A';
    world.ch_2_glob = b'B';
}

#[inline(never)]
fn proc_5(world: &mut World) {
    world.ch_1_glob = b'A';
    world.bool_glob = false;
}

#[inline(never)]
fn proc_6(world: &World, value: Ident, chosen: &mut Ident) {
    *chosen = value;
    if !func_3(value) {
        *chosen = Ident::Four;
    }
    match value {
        Ident::One => *chosen = Ident::One,
        Ident::Two => *chosen = if world.int_glob > 100 { Ident::One } else { Ident::Four },
        Ident::Three => *chosen = Ident::Two,
        Ident::Four => {}
        Ident::Five => *chosen = Ident::Three,
    }
}

#[inline(never)]
fn proc_7(int_1: i32, int_2: i32, int_ref: &mut i32) {
    *int_ref = int_1.wrapping_add(2).wrapping_add(int_2);
}

#[inline(never)]
fn proc_8(world: &mut World, int_1: i32, int_2: i32) {
    let at = int_1.wrapping_add(5) as usize;
    world.arr_1_glob[at] = int_2;
    world.arr_1_glob[at + 1] = world.arr_1_glob[at];
    world.arr_1_glob[at + 30] = at as i32;
    for i in at..=at + 1 {
        world.arr_2_glob[at][i] = at as i32;
    }
    let counter = &mut world.arr_2_glob[at][at - 1];
    *counter = counter.wrapping_add(1);
    world.arr_2_glob[at + 20][at] = world.arr_1_glob[at];
    world.int_glob = 5;
}

#[inline(never)]
fn func_1(world: &mut World, ch_1: u8, ch_2: u8) -> Ident {
    if ch_1 != ch_2 {
        Ident::One
    } else {
        world.ch_1_glob = ch_1;
        Ident::Two
    }
}

#[inline(never)]
fn func_2(world: &mut World, str_1: &Text, str_2: &Text) -> bool {
    let mut ch_loc = b'A';
    let mut at = 2usize;
    while at <= 2 {
        if func_1(world, str_1[at], str_2[at + 1]) == Ident::One {
            ch_loc = b'A';
            at = at.wrapping_add(1);
        }
    }
    if (b'W'..b'Z').contains(&ch_loc) {
        at = 7;
    }
    if ch_loc == b'R' {
        true
    } else if is_greater(str_1, str_2) {
        world.int_glob = at.wrapping_add(7) as i32;
        true
    } else {
        false
    }
}

#[inline(never)]
fn func_3(value: Ident) -> bool {
    value == Ident::Three
}

/// What strcmp() > 0 is in C, eight characters at a time as C libraries do it. Texts end in zeros, so that they need no
/// search for the end.
#[inline(never)]
fn is_greater(a: &Text, b: &Text) -> bool {
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let (a, b) = (u64::from_be_bytes(*a), u64::from_be_bytes(*b));
        if a != b {
            return a > b;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::isa::InstructionSet;
    use model::params::ParamValue;
    use std::path::Path;

    #[test]
    fn a_short_run_gives_a_positive_rate() {
        let mut params = Params::default();
        params.set("time", ParamValue::Number(0.05));
        let place = Place { isa: InstructionSet::Baseline, scratch: Path::new("/nowhere") };
        let values = Dhrystone.prepare(&params, &place).unwrap().run().unwrap();
        assert!(values["rate"] > 1e3 && values["rate"].is_finite(), "{values:?}");
    }

    #[test]
    fn the_published_final_values_come_out_after_any_number_of_loops() {
        for loops in [1, 2, 3, 1000] {
            measure(loops).unwrap();
        }
    }

    #[test]
    fn one_wrong_value_is_enough() {
        let spoilers: [fn(&mut World, &mut Locals); 5] = [
            |world, _| world.int_glob = 6,
            |world, _| world.arr_2_glob[8][7] += 1,
            // SAFETY: the record is live and not referred to.
            |world, _| unsafe { (*world.next_ptr_glob).str_comp[29] = b'K' },
            |_, locals| locals.int_2 = 14,
            |_, locals| locals.str_2 = THIRD_STRING,
        ];
        for spoil in spoilers {
            let mut world = World::new();
            let mut locals = timed_dhrystone(&mut world, 5);
            world.check(&locals, 5).unwrap();
            assert!(world.check(&locals, 6).is_err());
            spoil(&mut world, &mut locals);
            assert!(matches!(world.check(&locals, 5), Err(WorkloadError::Wrong(_))));
        }
    }

    #[test]
    fn strings_compare_by_their_first_difference() {
        assert!(!is_greater(&FIRST_STRING, &SECOND_STRING));
        assert!(is_greater(&THIRD_STRING, &SECOND_STRING));
        assert!(!is_greater(&SOME_STRING, &SOME_STRING));
        let mut last = SOME_STRING;
        last[29] = b'H';
        assert!(is_greater(&last, &SOME_STRING));
    }

    #[test]
    fn time_that_is_no_time_is_refused() {
        for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut params = Params::default();
            params.set("time", ParamValue::Number(time));
            assert!(Dhrystone.needs(&params).is_err());
        }
    }
}
