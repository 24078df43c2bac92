#!/usr/bin/env bash
# Installs what vmtax needs to be built, to run and to be tested, and nothing that is there already.
#
#   ./setup.sh            what `make demo` needs
#   ./setup.sh test       also what `make test` needs
#   ./setup.sh check      only says what is missing
#
# It never installs a kernel package and never touches /boot: on a hypervisor that could change what boots next. Where no
# kernel for guests is found, a package is downloaded and unpacked into the cache (./setup.sh kernel, after the build).
set -euo pipefail
cd "$(dirname "$0")"
mode=${1:-demo}
cache=${3:-/var/cache/vmtax}

# program:Debian package
programs=(qemu-system-x86_64:qemu-system-x86 qemu-img:qemu-utils fio:fio mke2fs:e2fsprogs cc:gcc make:make)
if [ "$mode" = test ]; then programs+=(mbw:mbw chromium:chromium); fi

have() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1; }
say() { printf '%s\n' "$*" >&2; }

is_debian() { [ -r /etc/os-release ] && grep -Eq '^(ID|ID_LIKE)=.*debian' /etc/os-release && have apt-get; }

install_packages() {
  local missing=() names=() p
  for p in "${programs[@]}"; do
    if ! have "${p%%:*}"; then missing+=("${p##*:}"); names+=("${p%%:*}"); fi
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$mode" = check ]; then say "Missing programs: ${names[*]} (Debian packages: ${missing[*]})"; return 1; fi
  if ! is_debian; then
    say "This machine lacks: ${names[*]}"
    say "setup.sh can install only on Debian and its kin. Install these programs with your package manager"
    say "(on Debian they are in the packages: ${missing[*]}), then run make again."
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    say "This machine lacks: ${names[*]}"
    say "Installing needs root. Run:  sudo apt-get install --no-install-recommends ${missing[*]}"
    exit 1
  fi
  say "Installing ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

install_targets() {
  if ! have cargo; then
    say "There is no Rust toolchain. Install one (https://rustup.rs, version 1.90 or newer), then run make again."
    exit 1
  fi
  local wanted=(x86_64-unknown-linux-musl) t
  if [ "$mode" = test ]; then wanted+=(aarch64-unknown-linux-musl x86_64-pc-windows-gnu); fi
  local libdir
  libdir=$(rustc --print sysroot)/lib/rustlib
  for t in "${wanted[@]}"; do
    if [ -d "$libdir/$t/lib" ]; then continue; fi
    if [ "$mode" = check ]; then say "Missing Rust target: $t (rustup target add $t)"; return 1; fi
    if ! have rustup; then
      say "The Rust target $t is missing, and there is no rustup to add it."
      say "Install your distribution's package for it, or use a toolchain from https://rustup.rs"
      exit 1
    fi
    rustup target add "$t"
  done
  for t in clippy rustfmt; do
    if [ "$mode" = test ] && ! have "cargo-${t/rustfmt/fmt}"; then rustup component add "$t"; fi
  done
}

# Downloads and unpacks a kernel for guests where none is found. Needs the built binary.
provide_kernel() {
  local vmtax=$1 folder package
  if "$vmtax" guest-kernel --cache "$cache" >/dev/null 2>&1; then return; fi
  if ! is_debian; then
    say "No kernel for guests was found in /boot or $cache. Name one: vmtax run --kernel FILE --modules DIR"
    exit 1
  fi
  package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  if [ -z "$package" ] && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
  fi
  if [ -z "$package" ]; then
    say "The package list knows no linux-image-cloud-amd64. Run apt-get update, or name a kernel: vmtax run --kernel FILE --modules DIR"
    exit 1
  fi
  folder=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now, not the variable of then
  trap "rm -rf '$folder'" EXIT
  chmod 755 "$folder"
  say "Downloading $package for guests (unpacked into $cache, not installed)"
  (cd "$folder" && apt-get download -qq "$package" 2>/dev/null)
  "$vmtax" guest-kernel --cache "$cache" --unpack "$folder"/*.deb
}

# Measuring and the tests that boot guests need root; said at once, and not after a long build.
need_root() {
  if [ "$(id -u)" = 0 ]; then return; fi
  say "vmtax needs root to measure (sudo make $mode): it keeps its processes in a namespace of their own and reads QEMU's counters."
  exit 1
}

case $mode in
  demo | test) install_packages; install_targets; need_root ;;
  check) install_packages; install_targets ;;
  kernel) provide_kernel "${2:?the built vmtax}" ;;
  *) say "usage: ./setup.sh [demo|test|check|kernel VMTAX [CACHE]]"; exit 2 ;;
esac
