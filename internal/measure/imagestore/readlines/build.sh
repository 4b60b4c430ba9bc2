#!/bin/sh
# build.sh: build read-lines for both architectures, the same byte for byte on
# every machine, with the probe's compiler and pieces of the probe.
#
# usage: ZIG=/path/to/zig build.sh [OUTDIR]      default OUTDIR: bin beside this file
set -eu
: "${ZIG:?give the pinned compiler as ZIG=... (lab/zig prints its path)}"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in '' | /*) out=${1:-$here/bin} ;; *) out=$PWD/$1 ;; esac
mkdir -p "$out"
include=$(dirname "$ZIG")/lib/libc/include # the kernel's headers that come with the compiler
cd "$here" # relative names only, so that no path can get into the result
probe=../../probe/src
cache=$(mktemp -d "${TMPDIR:-/tmp}/plimsoll-read-lines.XXXXXX")
trap 'rm -rf "$cache"' EXIT
export ZIG_LOCAL_CACHE_DIR="$cache" ZIG_GLOBAL_CACHE_DIR="$cache"
for arch in amd64 arm64; do
	case $arch in
	amd64) target=x86_64-linux-musl cpu=x86_64 headers=x86-linux-any ;;
	arm64) target=aarch64-linux-musl cpu=generic headers=aarch64-linux-any ;;
	esac
	"$ZIG" cc -target "$target" -mcpu="$cpu" -std=gnu11 -O2 -g0 -Wall -Wextra -Werror \
		-static -nostdlib -rtlib=none -ffreestanding -fno-builtin -fno-pie -fno-stack-protector -fomit-frame-pointer \
		-fno-unwind-tables -fno-asynchronous-unwind-tables -fno-ident -fno-sanitize=undefined -ffunction-sections \
		-isystem "$include/$headers" -isystem "$include/any-linux-any" -I "$probe" \
		-Wl,--build-id=none -Wl,-s -Wl,--gc-sections -Wl,-z,noexecstack \
		"$probe/arch.c" "$probe/text.c" "$probe/lines.c" read-lines.c -o "$cache/read-lines-$arch"
	chmod 0755 "$cache/read-lines-$arch"
	mv "$cache/read-lines-$arch" "$out/read-lines-$arch"
done
