#!/bin/sh
# build.sh: build the MPI program for both architectures, the same byte for byte
# on every machine, with the pinned compiler. It is linked with an old glibc's
# interface, so that it runs in the images of all usual distributions.
#
# usage: ZIG=/path/to/zig build.sh [OUTDIR]      default OUTDIR: bin beside this file
set -eu
: "${ZIG:?give the pinned compiler as ZIG=... (lab/zig prints its path)}"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in '' | /*) out=${1:-$here/bin} ;; *) out=$PWD/$1 ;; esac
mkdir -p "$out"
cd "$here/src" # relative names only, so that no path can get into the result
cache=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-mpi.XXXXXX")
trap 'rm -rf "$cache"' EXIT
export ZIG_LOCAL_CACHE_DIR="$cache" ZIG_GLOBAL_CACHE_DIR="$cache"
for arch in ${ARCHES:-amd64 arm64}; do
	case $arch in
	amd64) target=x86_64-linux-gnu.2.17 cpu=x86_64 ;;
	arm64) target=aarch64-linux-gnu.2.17 cpu=generic ;;
	*) echo "build.sh: no such architecture: $arch" >&2; exit 2 ;;
	esac
	"$ZIG" cc -target "$target" -mcpu="$cpu" -std=gnu11 -O2 -g0 -Wall -Wextra -Werror \
		-fno-ident -fno-sanitize=undefined -Wl,--build-id=none -Wl,-s -Wl,--gc-sections \
		*.c -ldl -o "$cache/mpi-$arch"
	chmod 0755 "$cache/mpi-$arch"
	mv "$cache/mpi-$arch" "$out/mpi-$arch"
done
