//! Whetstone in double precision: floating-point arithmetic, arrays, jumps, calls and the elementary functions.
//!
//! Curnow and Wichmann, "A synthetic benchmark", Computer Journal 19(1), 1976, in the eight sections of Longbottom's
//! self-timing version that UnixBench runs (whetstone-double). Written afresh from the published formulas. The elementary
//! functions are those of the pinned `libm` crate, so that no C library is part of the score.

use crate::timing::{calibrate, opaque, rate, target, timed};
use crate::{Place, Prepared, Workload, WorkloadError};
use model::benchmark::{Area, Benchmark, Direction, Load, Metric, Needs, Runner};
use model::params::{ParamError, ParamSpec, Params};
use model::units::Unit;
use std::collections::BTreeMap;
use std::hint::black_box;

const NAME: &str = "whetstone";
const VERSION: u32 = 1;

/// A pass does a hundred times the weights of 1976, and those are 100,000 Whetstone instructions.
const PASS: f64 = 1e7;
const HUNDRED: i64 = 100;

/// The workload.
#[derive(Debug)]
pub(crate) struct Whetstone;

struct Ready {
    passes: u64,
}

impl Load for Whetstone {
    fn benchmarks(&self) -> Vec<Benchmark> {
        vec![Benchmark {
            id: "cpu.whetstone".to_owned(),
            title: "Double-precision Whetstone".to_owned(),
            doc: "Millions of Whetstone instructions per second (Curnow and Wichmann 1976), one thread, double precision, with \
                  the sections and weights of UnixBench's whetstone-double. All work is really done: sections that compilers \
                  fold away elsewhere are kept. The elementary functions are Rust's libm crate, not the system's, so figures of \
                  other builds of Whetstone are not comparable; those of vmtax are, on any machine."
                .to_owned(),
            area: Area::Cpu,
            runner: Runner::Workload { name: NAME.to_owned(), version: VERSION },
            params: vec![ParamSpec::duration("time", 2.0, "About how long the sections run.")],
            metrics: vec![
                Metric::new("rate", "Whetstone", Unit::WhetstonePerSecond, ("MWIPS", 1e6), Direction::Higher).primary(),
            ],
            kernel_bound: false,
        }]
    }

    fn needs(&self, params: &Params) -> Result<Needs, ParamError> {
        Ok(Needs { cpus: 1, seconds: target(params)? + 0.2, ..Needs::default() })
    }
}

impl Workload for Whetstone {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn prepare(&self, params: &Params, _: &Place<'_>) -> Result<Box<dyn Prepared>, WorkloadError> {
        let passes = calibrate(target(params)?, measure)?;
        Ok(Box::new(Ready { passes }))
    }
}

impl Prepared for Ready {
    fn run(&mut self) -> Result<BTreeMap<String, f64>, WorkloadError> {
        let seconds = measure(self.passes)?;
        Ok(BTreeMap::from([("rate".to_owned(), rate(self.passes as f64 * PASS, seconds)?)]))
    }
}

/// Does `passes` passes and checks what they leave: seconds.
fn measure(passes: u64) -> Result<f64, WorkloadError> {
    let (results, seconds) = timed(|| timed_whetstone(black_box(passes), black_box(&Constants::PUBLISHED)));
    check(&results, passes)?;
    Ok(seconds)
}

/// What the sections leave, as the C version prints it: one value each.
type Results = [f64; 8];

/// The values after an odd and after an even number of passes (`t` is exchanged for 1 - t after each pass), by a C program
/// with glibc's functions; they drift by less than 1e-9 a pass.
const AFTER_ODD: [f64; 3] = [-1.132_394_993_031_359_7, -1.130_271_024_784_749_8, 0.499_029_372_815_181_83];
const AFTER_EVEN: [f64; 3] = [-1.133_333_346_264_734_1, -1.133_333_304_921_553_3, 0.500_000_059_169_114_9];

fn check(results: &Results, passes: u64) -> Result<(), WorkloadError> {
    let &[n1, n2, n3, n4, n5, n6, n7, n8] = results;
    let count = passes as f64;
    let drift = 1e-12 + 1e-9 * (count - 1.0);
    let [want_1, want_2, want_5] = if passes % 2 == 1 { AFTER_ODD } else { AFTER_EVEN };
    // A step takes x to the power 1/(2 t1), so n steps take 0.75 to the power 1/(2 t1)^n.
    let steps = count * (93 * HUNDRED) as f64;
    let want_8 = 0.75f64.powf((-steps * (2.0 * Constants::PUBLISHED.t1).ln()).exp());
    let wrong = [
        ("N1", n1, (n1 - want_1).abs() <= drift),
        ("N2", n2, (n2 - want_2).abs() <= drift),
        ("N3", n3, n3 == 1.0),
        ("N4", n4, n4 == 12.0),
        ("N5", n5, (n5 - want_5).abs() <= drift),
        // 0.999999878908028 after the first pass and 1e-8 less after each other one.
        ("N6", n6, n6 < 1.0 && 1.0 - n6 <= 1.22e-7 + 1e-8 * count),
        ("N7", n7, n7 == 3.0),
        ("N8", n8, (n8 - want_8).abs() <= 1e-10),
    ]
    .into_iter()
    .find(|(_, _, right)| !right);
    match wrong {
        None => Ok(()),
        Some((name, value, _)) => {
            Err(WorkloadError::Wrong(format!("Whetstone's {name} is {value} after {passes} passes")))
        }
    }
}

/// The constants of the formulas, which the optimiser must not know: it would make divisions into products.
struct Constants {
    t: f64,
    t1: f64,
    t2: f64,
}

impl Constants {
    const PUBLISHED: Constants = Constants { t: 0.499_999_75, t1: 0.500_000_25, t2: 2.0 };
}

/// All sections, each of them `passes` times before the next one, as in the C version.
#[inline(never)]
fn timed_whetstone(passes: u64, constants: &Constants) -> Results {
    let &Constants { t, t1, t2 } = constants;
    let mut e1 = [1.0, -1.0, -1.0, -1.0];
    let n1 = array_elements(&mut e1, passes, 12 * HUNDRED, t);
    let n2 = array_parameters(&mut e1, passes, 14 * HUNDRED, t, t2);
    let n3 = conditional_jumps(passes, 345 * HUNDRED);
    let n4 = integer_arithmetic(&mut e1, passes, 210 * HUNDRED);
    let n5 = trigonometric_functions(passes, 32 * HUNDRED, t, t2);
    let n6 = procedure_calls(passes, 899 * HUNDRED, t, t1, t2);
    let n7 = array_references(&mut e1, passes, 616 * HUNDRED);
    let n8 = standard_functions(passes, 93 * HUNDRED, t1);
    [n1, n2, n3, n4, n5, n6, n7, n8]
}

#[inline(always)]
fn array_elements(e1: &mut [f64; 4], passes: u64, weight: i64, mut t: f64) -> f64 {
    for _ in 0..passes {
        for _ in 0..weight {
            e1[0] = (e1[0] + e1[1] + e1[2] - e1[3]) * t;
            e1[1] = (e1[0] + e1[1] - e1[2] + e1[3]) * t;
            e1[2] = (e1[0] - e1[1] + e1[2] + e1[3]) * t;
            e1[3] = (-e1[0] + e1[1] + e1[2] + e1[3]) * t;
        }
        t = 1.0 - t;
    }
    e1[3]
}

#[inline(always)]
fn array_parameters(e1: &mut [f64; 4], passes: u64, weight: i64, mut t: f64, t2: f64) -> f64 {
    for _ in 0..passes {
        for _ in 0..weight {
            six_times(e1, t, t2);
        }
        t = 1.0 - t;
    }
    e1[3]
}

/// The procedure `pa`.
#[inline(never)]
fn six_times(e: &mut [f64; 4], t: f64, t2: f64) {
    for _ in 0..6 {
        e[0] = (e[0] + e[1] + e[2] - e[3]) * t;
        e[1] = (e[0] + e[1] - e[2] + e[3]) * t;
        e[2] = (e[0] - e[1] + e[2] + e[3]) * t;
        e[3] = (-e[0] + e[1] + e[2] + e[3]) / t2;
    }
}

#[inline(always)]
fn conditional_jumps(passes: u64, weight: i64) -> f64 {
    let mut j = opaque(1);
    for _ in 0..passes {
        for _ in 0..weight {
            j = opaque(if j == 1 { 2 } else { 3 });
            j = opaque(if j > 2 { 0 } else { 1 });
            j = opaque(if j < 1 { 1 } else { 0 });
        }
    }
    j as f64
}

#[inline(always)]
fn integer_arithmetic(e1: &mut [f64; 4], passes: u64, weight: i64) -> f64 {
    let (mut j, mut k, mut l) = (opaque(1), opaque(2), opaque(3));
    for _ in 0..passes {
        for _ in 0..weight {
            j = j.wrapping_mul(k.wrapping_sub(j)).wrapping_mul(l.wrapping_sub(k));
            k = l.wrapping_mul(k).wrapping_sub(l.wrapping_sub(j).wrapping_mul(k));
            l = l.wrapping_sub(k).wrapping_mul(k.wrapping_add(j));
            // The indices are 1 and 0; the mask says so to the bounds check.
            e1[(l.wrapping_sub(2) & 3) as usize] = j.wrapping_add(k).wrapping_add(l) as f64;
            e1[(k.wrapping_sub(2) & 3) as usize] = j.wrapping_mul(k).wrapping_mul(l) as f64;
        }
    }
    e1[0] + e1[1]
}

#[inline(always)]
fn trigonometric_functions(passes: u64, weight: i64, mut t: f64, t2: f64) -> f64 {
    use libm::{atan, cos, sin};
    let (mut x, mut y) = (0.5, 0.5);
    for _ in 0..passes {
        // One less than the weight, as the C version counts; its published result depends on that.
        for _ in 1..weight {
            x = t * atan(t2 * sin(x) * cos(x) / (cos(x + y) + cos(x - y) - 1.0));
            y = t * atan(t2 * sin(y) * cos(y) / (cos(x + y) + cos(x - y) - 1.0));
        }
        t = 1.0 - t;
    }
    y
}

#[inline(always)]
fn procedure_calls(passes: u64, weight: i64, t: f64, t1: f64, t2: f64) -> f64 {
    let (mut x, mut y, mut z) = (1.0, 1.0, 1.0);
    for _ in 0..passes {
        for _ in 0..weight {
            blend(&mut x, &mut y, &mut z, t, t1, t2);
        }
    }
    z
}

/// The procedure `p3`.
#[inline(never)]
fn blend(x: &mut f64, y: &mut f64, z: &mut f64, t: f64, t1: f64, t2: f64) {
    *x = *y;
    *y = *z;
    *x = t * (*x + *y);
    *y = t1 * (*x + *y);
    *z = (*x + *y) / t2;
}

#[inline(always)]
fn array_references(e1: &mut [f64; 4], passes: u64, weight: i64) -> f64 {
    e1[0] = 1.0;
    e1[1] = 2.0;
    e1[2] = 3.0;
    let (j, k, l) = (opaque(0), opaque(1), opaque(2));
    for _ in 0..passes {
        for _ in 0..weight {
            turn(e1, j, k, l);
        }
    }
    e1[2]
}

/// The procedure `p0`.
#[inline(never)]
fn turn(e1: &mut [f64; 4], j: i64, k: i64, l: i64) {
    let (j, k, l) = ((j & 3) as usize, (k & 3) as usize, (l & 3) as usize);
    e1[j] = e1[k];
    e1[k] = e1[l];
    e1[l] = e1[j];
}

#[inline(always)]
fn standard_functions(passes: u64, weight: i64, t1: f64) -> f64 {
    use libm::{exp, log, sqrt};
    let mut x = 0.75;
    for _ in 0..passes {
        for _ in 0..weight {
            x = sqrt(exp(log(x) / t1));
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::isa::InstructionSet;
    use model::params::ParamValue;
    use std::path::Path;

    #[test]
    fn the_values_that_the_c_version_prints_come_out() {
        // Longbottom does the first section ten times as often, and divides its time by ten.
        let &Constants { t, t1, t2 } = black_box(&Constants::PUBLISHED);
        let mut e1 = [1.0, -1.0, -1.0, -1.0];
        let results = [
            array_elements(&mut e1, 1, 10 * 12 * HUNDRED, t),
            array_parameters(&mut e1, 1, 14 * HUNDRED, t, t2),
            trigonometric_functions(1, 32 * HUNDRED, t, t2),
            procedure_calls(1, 899 * HUNDRED, t, t1, t2),
            standard_functions(1, 93 * HUNDRED, t1),
        ];
        let printed = [
            -1.123_982_556_673_919,
            -1.121_870_798_892_844,
            0.499_029_372_815_182,
            0.999_999_878_907_674,
            0.751_001_630_184_542,
        ];
        for (result, printed) in results.iter().zip(printed) {
            assert!((result - printed).abs() < 1e-12, "{result} is not {printed}");
        }
    }

    #[test]
    fn the_results_are_right_after_any_number_of_passes() {
        for passes in [1, 2, 3, 10, 101, 500] {
            measure(passes).unwrap();
        }
    }

    #[test]
    fn one_wrong_result_is_enough() {
        for passes in [1, 2, 301] {
            let results = timed_whetstone(passes, &Constants::PUBLISHED);
            check(&results, passes).unwrap();
            for i in 0..results.len() {
                for factor in [0.999_99, 1.000_01, f64::NAN] {
                    let mut spoilt = results;
                    spoilt[i] *= factor;
                    assert!(matches!(check(&spoilt, passes), Err(WorkloadError::Wrong(_))), "N{} x {factor}", i + 1);
                }
            }
        }
    }

    #[test]
    fn a_short_run_gives_a_positive_rate() {
        let mut params = Params::default();
        params.set("time", ParamValue::Number(0.05));
        let place = Place { isa: InstructionSet::Baseline, scratch: Path::new("/nowhere") };
        let values = Whetstone.prepare(&params, &place).unwrap().run().unwrap();
        assert!(values["rate"] > 1e5 && values["rate"].is_finite(), "{values:?}");
    }
}
