//! "Did you mean": the nearest valid name by edit distance.

/// Optimal string alignment distance (insert, delete, replace, swap of neighbours).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The candidate closest to `word`, if any is close enough to be a likely slip.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word longer than any name cannot be a slip of one, and the table is quadratic.
    let word: String = word.chars().take(64).collect();
    candidates
        .into_iter()
        .map(|candidate| {
            let tail = candidate.rsplit('.').next().unwrap_or(candidate);
            (distance(&word, candidate).min(distance(&word, tail) + 1), candidate)
        })
        .min_by_key(|(d, _)| *d)
        .filter(|(d, candidate)| *d <= 2.max(candidate.chars().count() / 3))
        .map(|(_, candidate)| candidate)
}

/// `; did you mean 'x'?`, or nothing.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_finds_none() {
        let names = ["cpu.dhrystone", "cpu.whetstone", "disk.randread-4k"];
        assert_eq!(nearest("cpu.dhrystne", names), Some("cpu.dhrystone"));
        assert_eq!(nearest("dhrystone", names), Some("cpu.dhrystone"));
        assert_eq!(nearest("zzzzzz", names), None);
        assert_eq!(nearest("", []), None);
    }
}
