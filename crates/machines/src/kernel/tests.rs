use super::image::tests::{bzimage, elf_with_note, gzip};
use super::*;
use crate::modules::tests::object;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use tempfile::TempDir;

/// A machine with /boot, /lib/modules and a cache.
struct Host {
    dir: TempDir,
    cache: Cache,
}

impl Host {
    fn new() -> Host {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join("boot")).unwrap();
        fs::create_dir_all(dir.path().join("modules")).unwrap();
        let cache = Cache::open(Some(dir.path().join("cache"))).unwrap();
        Host { dir, cache }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn image(&self, name: &str, release: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bzimage(release, &gzip(&elf_with_note(b"Xen\0", 18)))).unwrap();
        path
    }

    fn modules(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.join("kernel")).unwrap();
        path
    }

    fn find(&self, kernel: Option<PathBuf>, modules: Option<PathBuf>) -> Result<Kernel, KernelError> {
        find(&KernelRequest { kernel, modules }, &self.path("boot"), &self.path("modules"), &self.cache)
    }
}

#[test]
fn the_newest_in_boot_with_modules_is_taken_before_the_cache() {
    let host = Host::new();
    for release in ["6.1.0-9-x", "6.1.0-56-x", "6.2.0-1-x"] {
        host.image(&format!("boot/vmlinuz-{release}"), release);
    }
    host.image("boot/vmlinuz-0-rescue-abc", "5.14.0");
    host.modules("modules/6.1.0-9-x");
    host.modules("modules/6.1.0-56-x");
    host.image("cache/kernels/6.9.0/vmlinuz", "6.9.0");
    host.modules("cache/kernels/6.9.0/modules");
    let found = host.find(None, None).unwrap();
    assert_eq!((found.release.as_str(), found.origin), ("6.1.0-56-x", Origin::Boot));
    assert_eq!(found.modules_dir, host.path("modules/6.1.0-56-x"));
    fs::remove_dir_all(host.path("boot")).unwrap();
    let found = host.find(None, None).unwrap();
    assert_eq!((found.release.as_str(), found.origin), ("6.9.0", Origin::Cache));
}

#[test]
fn the_running_kernel_is_taken_before_newer_ones() {
    let host = Host::new();
    let running = rustix::system::uname().release().to_str().unwrap().to_owned();
    for release in [running.as_str(), "999.0.0-1"] {
        host.image(&format!("boot/vmlinuz-{release}"), release);
        host.modules(&format!("modules/{release}"));
    }
    let found = host.find(None, None).unwrap();
    assert_eq!((found.release, found.origin), (running, Origin::Running));
}

#[test]
fn a_named_kernel_finds_its_modules_beside_it_or_in_the_system() {
    let host = Host::new();
    let image = host.image("tree/boot/vmlinuz", "6.1.0-1");
    let missing = host.find(Some(image.clone()), None).unwrap_err();
    assert!(
        matches!(&missing, KernelError::NoModules { modules, .. } if modules.ends_with("modules/6.1.0-1")),
        "{missing}"
    );
    let system = host.modules("modules/6.1.0-1");
    assert_eq!(host.find(Some(image.clone()), None).unwrap().modules_dir, system);
    host.modules("tree/lib/modules/6.1.0-1");
    let found = host.find(Some(image), None).unwrap();
    assert!(found.modules_dir.ends_with("lib/modules/6.1.0-1") && found.modules_dir != system);
    assert_eq!(found.origin, Origin::Given);
    assert!(matches!(host.find(None, Some(system)), Err(KernelError::ModulesAlone(_))));
}

#[test]
fn modules_of_another_kernel_are_refused_with_both_names() {
    let host = Host::new();
    let image = host.image("k", "6.1.0-1");
    let modules = host.modules("m");
    fs::write(modules.join("kernel/a.ko"), object(&["vermagic=6.1.0-2 SMP"])).unwrap();
    let error = host.find(Some(image.clone()), Some(modules.clone())).unwrap_err().to_string();
    assert!(error.contains("6.1.0-1") && error.contains("6.1.0-2"), "{error}");
    fs::write(modules.join("kernel/a.ko"), object(&["vermagic=6.1.0-1 SMP"])).unwrap();
    assert!(host.find(Some(image), Some(modules)).is_ok());
}

#[test]
fn without_a_kernel_the_error_says_what_was_passed_over_and_what_to_do() {
    let host = Host::new();
    let error = host.find(None, None).unwrap_err().to_string();
    assert!(error.contains("./setup.sh") && error.contains("--kernel FILE"), "{error}");
    fs::write(host.path("boot/vmlinuz-6.1"), "no kernel").unwrap();
    host.image("boot/vmlinuz-6.2", "6.2");
    symlink("nowhere", host.path("boot/vmlinuz-6.3")).unwrap();
    let error = host.find(None, None).unwrap_err().to_string();
    for part in ["vmlinuz-6.1: It is no x86 Linux kernel", "vmlinuz-6.2: no modules", "vmlinuz-6.3: No such file"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    let given = host.find(Some(host.path("boot/vmlinuz-6.1")), None).unwrap_err();
    assert!(given.to_string().contains("vmlinuz-6.1 cannot be booted"), "{given}");
}

#[test]
fn the_boot_image_is_the_kernel_inside_if_it_has_a_pvh_entry() {
    let host = Host::new();
    host.modules("modules/6.1");
    let boots = |payload: &[u8]| {
        let image = host.path("boot/vmlinuz-6.1");
        let next = host.path("next");
        fs::write(&next, bzimage("6.1", payload)).unwrap();
        fs::set_permissions(&next, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(next, &image).unwrap();
        let path = boot_image(&host.find(None, None).unwrap(), &host.cache)?;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        Ok::<_, KernelError>((fs::read(path).unwrap(), fs::read(image).unwrap()))
    };
    let pvh = elf_with_note(b"Xen\0", 18);
    assert_eq!(boots(&gzip(&pvh)).unwrap().0, pvh);
    let (boot, image) = boots(&gzip(&elf_with_note(b"GNU\0", 1))).unwrap();
    assert_eq!(boot, image);
    let (boot, image) = boots(b"BZh91AY&SY").unwrap();
    assert_eq!(boot, image);
    let mut damaged = gzip(&pvh);
    damaged.truncate(40);
    let error = boots(&damaged).unwrap_err();
    assert!(matches!(error, KernelError::Image { .. }), "{error}");
}

#[test]
fn a_debian_package_is_unpacked_into_the_cache_and_found_there() {
    let host = Host::new();
    let tree = host.path("package");
    fs::create_dir_all(tree.join("DEBIAN")).unwrap();
    let control =
        "Package: linux-image-6.1.0-1\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@x>\nDescription: x\n";
    fs::write(tree.join("DEBIAN/control"), control).unwrap();
    // dpkg-deb insists, whatever the umask.
    fs::set_permissions(tree.join("DEBIAN"), fs::Permissions::from_mode(0o755)).unwrap();
    host.image("package/boot/vmlinuz-6.1.0-1", "6.1.0-1");
    host.modules("package/lib/modules/6.1.0-1");
    fs::write(tree.join("lib/modules/6.1.0-1/kernel/a.ko"), object(&["vermagic=6.1.0-1 SMP"])).unwrap();
    let deb = host.path("kernel.deb");
    let build = Command::new("dpkg-deb").args(["-b", "--root-owner-group"]).args([&tree, &deb]).output();
    // Only Debian and its relatives have it, and unpacking is for them.
    let Ok(built) = build else { return };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

    for _ in 0..2 {
        let unpacked = unpack_package(&deb, &host.cache).unwrap();
        assert_eq!(unpacked, host.find(None, None).unwrap());
        assert_eq!(unpacked.image, host.cache.kernels().join("6.1.0-1/vmlinuz"));
        assert!(unpacked.modules_dir.join("kernel/a.ko").is_file());
    }
    fs::write(&deb, "no package").unwrap();
    let error = unpack_package(&deb, &host.cache).unwrap_err().to_string();
    assert!(error.contains("kernel.deb") && error.contains("dpkg-deb says"), "{error}");
    let left: Vec<_> = fs::read_dir(host.cache.dir()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["kernels"], "nothing partial is left");
}

/// Needs a kernel in /boot or in root's cache, as the set-up script leaves it; synthetic ones are tested above.
#[test]
fn a_kernel_of_this_machine_gives_a_boot_image_and_the_modules_of_a_guest() {
    let host = Host::new();
    let place = Path::new("/var/cache/vmtax");
    let Ok(shared) = (if place.is_dir() { Cache::open(Some(place.to_owned())) } else { Ok(host.cache.clone()) }) else {
        return;
    };
    let Ok(kernel) = find(&KernelRequest::default(), Path::new("/boot"), Path::new("/lib/modules"), &shared) else {
        return;
    };
    let boot = fs::read(boot_image(&kernel, &host.cache).unwrap()).unwrap();
    assert!(image::has_pvh_entry(&boot) || image::release(&boot).unwrap() == kernel.release);
    let order =
        modules::load_order(&kernel.modules_dir, &["virtio_pci", "virtio_blk", "virtio_console", "ext4"]).unwrap();
    crate::modules::tests::assert_topological(&order);
}
