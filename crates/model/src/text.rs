//! Text from a guest or a tool is shown only after passing through here.

/// `text` with every control character (escape codes, carriage returns, bidirectional overrides) made visible, cut to
/// `limit` characters. Newlines and tabs stay.
pub fn printable(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == limit {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control()
                || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                out.extend(c.escape_default());
            }
            c => out.push(c),
        }
    }
    out
}

/// The last `lines` non-empty lines of a console, printable and bounded.
pub fn last_lines(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let tail = &all[all.len().saturating_sub(lines)..];
    tail.iter().map(|line| printable(line.trim_end(), 200)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_codes_cannot_reach_a_terminal() {
        let shown = printable("a\u{1b}[2Jb\rc\u{202e}d\n", 100);
        assert_eq!(shown, "a\\u{1b}[2Jb\\rc\\u{202e}d\n");
        assert_eq!(printable("abcdef", 3), "abc…");
    }

    #[test]
    fn the_tail_of_a_console_is_its_last_full_lines() {
        assert_eq!(last_lines("a\n\nb\r\n c\n\n", 2), "b\n c");
    }
}
