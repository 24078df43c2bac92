//! Which CPUs lie where: for choosing those that both sides of a study are confined to.

use crate::root::Root;
use crate::text;
use std::collections::BTreeSet;

/// A CPU and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    node: u32,
    package: u32,
    core: u32,
    cpu: u32,
}

/// `count` of the CPUs that this process may use: each on a core of its own as long as cores last, all on the node that has most of
/// them as long as that suffices. Fewer where there are fewer; where the topology is unreadable every CPU counts as a core of one node.
pub fn spread_over_cores(root: &Root, count: usize) -> Vec<u32> {
    let mut places: Vec<Place> = allowed(root).into_iter().map(|cpu| place(root, cpu)).collect();
    let mut seen = BTreeSet::new();
    places.sort();
    // The first thread of every core before all second threads.
    let (first, second): (Vec<Place>, Vec<Place>) =
        places.into_iter().partition(|p| seen.insert((p.node, p.package, p.core)));
    let mut nodes: Vec<u32> = first.iter().map(|p| p.node).collect();
    nodes.dedup();
    nodes.sort_by_key(|node| std::cmp::Reverse(first.iter().filter(|p| p.node == *node).count()));
    let rank = |p: &Place| nodes.iter().position(|node| *node == p.node);
    let mut order: Vec<Place> = first;
    order.sort_by_key(|p| (rank(p), p.cpu));
    let mut rest = second;
    rest.sort_by_key(|p| (rank(p), p.cpu));
    let mut chosen: Vec<u32> = order.into_iter().chain(rest).take(count).map(|p| p.cpu).collect();
    chosen.sort_unstable();
    chosen
}

fn allowed(root: &Root) -> Vec<u32> {
    let status = root.read("proc/self/status").unwrap_or_default();
    let online = root.read("sys/devices/system/cpu/online").unwrap_or_default();
    let online = text::numbers(online.trim()).unwrap_or_default();
    match text::field(&status, "Cpus_allowed_list").and_then(text::numbers) {
        Some(cpus) => cpus.into_iter().filter(|cpu| online.is_empty() || online.contains(cpu)).collect(),
        None => online,
    }
}

fn place(root: &Root, cpu: u32) -> Place {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}");
    let number = |file: &str| root.read(format!("{folder}/topology/{file}")).ok()?.trim().parse().ok();
    let entries = std::fs::read_dir(root.path(&folder)).into_iter().flatten().flatten();
    let node = entries.filter_map(|e| e.file_name().to_str()?.strip_prefix("node")?.parse().ok()).next();
    Place {
        node: node.unwrap_or(0),
        package: number("physical_package_id").unwrap_or(0),
        core: number("core_id").unwrap_or(cpu),
        cpu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two cores with two threads each; CPU n and n + 4 share a core.
    fn machine(allowed: &str) -> (tempfile::TempDir, Root) {
        let mut files = vec![
            ("proc/self/status".to_owned(), format!("Cpus_allowed_list:\t{allowed}\n")),
            ("sys/devices/system/cpu/online".to_owned(), "0-7\n".to_owned()),
        ];
        for cpu in 0..8 {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            files.push((format!("{folder}/topology/core_id"), format!("{}\n", cpu % 2)));
            files.push((format!("{folder}/topology/physical_package_id"), format!("{}\n", cpu % 4 / 2)));
            files.push((format!("{folder}/node{}/x", cpu % 4 / 2), String::new()));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        crate::fixture::tree(&files)
    }

    #[test]
    fn cores_of_one_node_come_first_and_their_second_threads_last() {
        let (_dir, root) = machine("0-7");
        assert_eq!(spread_over_cores(&root, 2), [0, 1]);
        assert_eq!(spread_over_cores(&root, 4), [0, 1, 2, 3]);
        assert_eq!(spread_over_cores(&root, 5), [0, 1, 2, 3, 4]);
        assert_eq!(spread_over_cores(&root, 99).len(), 8);
    }

    #[test]
    fn only_permitted_cpus_are_chosen_and_the_fuller_node_wins() {
        let (_dir, root) = machine("0,2,3,6");
        assert_eq!(spread_over_cores(&root, 2), [2, 3]);
    }
}
