//! What fio prints and logs, for every scenario: a run is refused, or its figures are finite and its series is one.
#![no_main]

use drivers::fio::Fio;
use drivers::{Driver, Output};
use libfuzzer_sys::fuzz_target;
use model::benchmark::Load;
use model::{Benchmark, ParamValue, Params};
use std::sync::LazyLock;

static SCENARIOS: LazyLock<Vec<Benchmark>> = LazyLock::new(|| Fio.benchmarks());

fuzz_target!(|bytes: (Vec<u8>, Vec<u8>)| {
    let output = Output { stdout: bytes.0, files: [("vmtax_bw.log".to_owned(), bytes.1)].into() };
    for scenario in SCENARIOS.iter() {
        let mut params = Params::defaults(&scenario.params);
        params.set("engine", ParamValue::Text("libaio".to_owned()));
        if let Ok(parsed) = Fio.parse(&params, &output) {
            assert!(parsed.values.values().all(|value| value.is_finite()), "{parsed:?}");
            assert!(parsed.series.as_ref().is_none_or(|series| series.is_sound()), "{parsed:?}");
        }
    }
});
