#!/bin/sh
# build.sh: build the probe for both architectures, the same byte for byte on
# every machine, with the pinned compiler.
#
# usage: ZIG=/path/to/zig build.sh [OUTDIR]      default OUTDIR: bin beside this file
#        CFLAGS_EXTRA adds options (tests: sanitizers); ARCHES picks architectures
set -eu
: "${ZIG:?give the pinned compiler as ZIG=... (lab/zig prints its path)}"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in '' | /*) out=${1:-$here/bin} ;; *) out=$PWD/$1 ;; esac
mkdir -p "$out"
include=$(dirname "$ZIG")/lib/libc/include # the kernel's headers that come with the compiler
cd "$here/src" # relative names only, so that no path can get into the result
cache=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-probe.XXXXXX")
trap 'rm -rf "$cache"' EXIT
export ZIG_LOCAL_CACHE_DIR="$cache" ZIG_GLOBAL_CACHE_DIR="$cache"
# What a payload runs comes first, so that it lies on few pages.
sources='arch.c start.c payload.c text.c report.c lines.c mounts.c cgroup.c'
for file in *.c; do
	case " $sources " in *" $file "*) ;; *) sources="$sources $file" ;; esac
done
for arch in ${ARCHES:-amd64 arm64}; do
	case $arch in
	amd64) target=x86_64-linux-musl cpu=x86_64 headers=x86-linux-any ;;
	arm64) target=aarch64-linux-musl cpu=generic headers=aarch64-linux-any ;;
	*) echo "build.sh: no such architecture: $arch" >&2; exit 2 ;;
	esac
	# shellcheck disable=SC2086 # CFLAGS_EXTRA and sources are lists
	"$ZIG" cc -target "$target" -mcpu="$cpu" -std=gnu11 -O2 -g0 -Wall -Wextra -Werror \
		-static -nostdlib -rtlib=none -ffreestanding -fno-builtin -fno-pie -fno-stack-protector -fomit-frame-pointer \
		-fno-unwind-tables -fno-asynchronous-unwind-tables -fno-ident -fno-sanitize=undefined \
		-isystem "$include/$headers" -isystem "$include/any-linux-any" \
		-Wl,--build-id=none -Wl,-s -Wl,--gc-sections -Wl,-z,noexecstack ${CFLAGS_EXTRA:-} \
		$sources -o "$cache/probe-$arch"
	chmod 0755 "$cache/probe-$arch"
	mv "$cache/probe-$arch" "$out/probe-$arch"
done
