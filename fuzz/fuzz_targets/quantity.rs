//! Sizes and durations as users write them. What is shown of one can be read again where it is shown without loss.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::quantity::{parse_duration, parse_size, show_duration, show_size};

fuzz_target!(|text: &str| {
    if let Ok(bytes) = parse_size(text) {
        let _ = show_size(bytes);
        assert_eq!(parse_size(&bytes.to_string()), Ok(bytes));
    }
    if let Ok(seconds) = parse_duration(text) {
        assert!(seconds.is_finite() && seconds >= 0.0);
        let _ = show_duration(seconds);
    }
});
