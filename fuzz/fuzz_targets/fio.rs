//! What fio prints, for every scenario: a run is refused, or its values are finite.
#![no_main]

use drivers::Driver;
use drivers::fio::Fio;
use libfuzzer_sys::fuzz_target;
use model::benchmark::Load;
use model::{Benchmark, ParamValue, Params};
use std::sync::LazyLock;

static SCENARIOS: LazyLock<Vec<Benchmark>> = LazyLock::new(|| Fio.benchmarks());

fuzz_target!(|stdout: &[u8]| {
    for scenario in SCENARIOS.iter() {
        let mut params = Params::defaults(&scenario.params);
        params.set("engine", ParamValue::Text("libaio".to_owned()));
        if let Ok(parsed) = Fio.parse(&params, stdout) {
            assert!(parsed.values.values().all(|value| value.is_finite()), "{parsed:?}");
        }
    }
});
