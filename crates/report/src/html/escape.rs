//! The one gate through which text reaches the page.

use model::text::printable;
use std::fmt::{self, Write};

/// Most characters of one text.
const LONGEST: usize = 4000;

/// Escapes HTML, makes control characters visible and bounds the length (see `askama.toml`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown;

impl askama::filters::Escaper for Shown {
    fn write_escaped_str<W: Write>(&self, mut dest: W, string: &str) -> fmt::Result {
        for c in printable(string, LONGEST).chars() {
            match c {
                '<' => dest.write_str("&lt;")?,
                '>' => dest.write_str("&gt;")?,
                '&' => dest.write_str("&amp;")?,
                '"' => dest.write_str("&quot;")?,
                '\'' => dest.write_str("&#39;")?,
                c => dest.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Text for an SVG that is written by hand.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = askama::filters::Escaper::write_escaped_str(&Shown, &mut out, text);
    out
}
