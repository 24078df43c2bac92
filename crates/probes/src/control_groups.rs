//! Where the control groups of a process are (cgroups(7), cgroup_namespaces(7)).

use crate::Root;
use crate::file_system::control_group_mounts;
use std::path::{Component, Path, PathBuf};

/// Which interface a hierarchy has: the names and units of its files differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy per controller.
    V1,
    /// One for all.
    V2,
}

/// The groups that a process belongs to, for one controller.
#[derive(Debug, PartialEq, Eq)]
pub struct Groups {
    pub version: Version,
    /// Its own group, then those above it, up to the highest that can be seen from here. They need not exist.
    pub folders: Vec<PathBuf>,
}

/// The groups of `process` (`self`, or a pid) for `controller`; none where /proc or the mounts do not say.
///
/// A controller is in version 1 or in version 2, never in both. The paths are looked up below the mounts that this process sees. In a container these
/// can begin below the root of the hierarchy that the path is told from; then the group at the mount point is taken for the nearest one, and groups
/// above it stay unseen.
pub fn groups(root: &Root, process: &str, controller: &str) -> Option<Groups> {
    let text = root.read(format!("proc/{process}/cgroup")).ok()?;
    // `4:memory:/path` (version 1) or `0::/path` (version 2).
    let lines = || text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let of_controller = lines().find(|(controllers, _)| controllers.split(',').any(|name| name == controller));
    let (version, path) = match of_controller {
        Some((_, path)) => (Version::V1, path),
        None => (Version::V2, lines().find(|(controllers, _)| controllers.is_empty())?.1),
    };
    let mut mounted = control_group_mounts(root);
    mounted.retain(|mount| match version {
        Version::V1 => mount.kind == "cgroup" && mount.options.iter().any(|option| option == controller),
        Version::V2 => mount.kind == "cgroup2",
    });
    let path = Path::new(path);
    let mount = mounted.iter().find(|mount| path.starts_with(&mount.mounted_folder)).or(mounted.first())?;
    let inside = path.strip_prefix(&mount.mounted_folder).or_else(|_| path.strip_prefix("/")).unwrap_or(path);
    // A group outside of this process's cgroup namespace is told as `/../x`.
    let is_outside = inside.components().any(|part| !matches!(part, Component::Normal(_)));
    let inside = if is_outside { Path::new("") } else { inside };
    Some(Groups { version, folders: inside.ancestors().map(|group| mount.mount_point.join(group)).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::tree;

    fn of(groups: &str, mounts: &str) -> Option<Groups> {
        let (_folder, root) = tree(&[("proc/7/cgroup", groups), ("proc/self/mountinfo", mounts)]);
        super::groups(&root, "7", "cpu")
    }

    fn v1(folders: &[&str]) -> Option<Groups> {
        Some(Groups { version: Version::V1, folders: folders.iter().map(PathBuf::from).collect() })
    }

    const V1: &str =
        "32 31 0:29 / /c/cpu rw - cgroup cgroup rw,cpu,cpuacct\n41 31 0:38 / /c/unified rw - cgroup2 none rw\n";

    #[test]
    fn the_hierarchy_is_the_one_that_has_the_controller() {
        let both = "2:cpuset:/x\n1:cpu,cpuacct:/a/b\n0::/u\n";
        assert_eq!(of(both, V1), v1(&["/c/cpu/a/b", "/c/cpu/a", "/c/cpu/"]));
        let unified = of("2:cpuset:/x\n0::/u\n", V1).unwrap();
        assert_eq!(unified.version, Version::V2);
        assert_eq!(unified.folders, [Path::new("/c/unified/u"), Path::new("/c/unified/")]);
        assert_eq!(of("1:cpu:/a\n", "41 31 0:38 / /c rw - cgroup2 none rw\n"), None, "its mount is not seen");
        assert_eq!((of("", V1), of("nonsense\n1:cpu\n", V1)), (None, None));
    }

    #[test]
    fn a_shifted_root_falls_back_to_the_mount_point() {
        let inside = "32 31 0:29 /docker/x /c/cpu ro - cgroup cgroup rw,cpu\n";
        assert_eq!(of("1:cpu:/docker/x/y\n", inside), v1(&["/c/cpu/y", "/c/cpu/"]));
        assert_eq!(of("1:cpu:/\n", inside), v1(&["/c/cpu/"]));
        assert_eq!(of("1:cpu:/../other\n", V1), v1(&["/c/cpu/"]));
        let two = format!("{V1}33 31 0:29 /deep /bound rw - cgroup cgroup rw,cpu\n");
        assert_eq!(of("1:cpu:/a\n", &two), v1(&["/c/cpu/a", "/c/cpu/"]));
    }
}
