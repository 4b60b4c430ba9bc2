#!/bin/sh
# install.sh: put Plimsoll where CI finds it: from a release, checked by its SHA256SUMS, or built
# from the source that this script lies in.
#
#   PLIMSOLL_URL      where the files of a release lie; empty: build from source
#   PLIMSOLL_VERSION  the version wanted (default: the one that is there)
#   PLIMSOLL_PREFIX   directory for program and scripts (default: plimsoll in RUNNER_TEMP or HOME)
# On GitHub (GITHUB_PATH) the directory comes onto PATH.
set -eu
export LC_ALL=C

say() { printf 'install.sh: %s\n' "$*" >&2; }

prefix=${PLIMSOLL_PREFIX:-${RUNNER_TEMP:-$HOME}/plimsoll}
case $(uname -s)-$(uname -m) in
Linux-x86_64) arch=amd64 ;;
Linux-aarch64 | Linux-arm64) arch=arm64 ;;
*) say "Plimsoll measures on Linux, on amd64 and arm64: this is $(uname -s) on $(uname -m)"; exit 1 ;;
esac
mkdir -p "$prefix"

if [ -n "${PLIMSOLL_URL:-}" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	fetch() { curl -fsSL --retry 3 -o "$work/$1" "${PLIMSOLL_URL%/}/$1"; }
	fetch SHA256SUMS
	want="plimsoll-${PLIMSOLL_VERSION:-*}-linux-$arch.tar.gz"
	line=$(while read -r sum file; do
		# shellcheck disable=SC2254 # want is a pattern
		case $file in $want) printf '%s  %s\n' "$sum" "$file" ;; esac
	done <"$work/SHA256SUMS")
	if [ -z "$line" ] || [ "$(printf '%s\n' "$line" | wc -l)" != 1 ]; then
		say "there is not one $want at $PLIMSOLL_URL"
		exit 1
	fi
	fetch "${line#*  }"
	(cd "$work" && printf '%s\n' "$line" | sha256sum -c --quiet -)
	tar -xzf "$work/${line#*  }" --strip-components=1 -C "$prefix"
else
	source=$(cd "$(dirname "$0")/.." && pwd)
	command -v go >/dev/null || { say "no Go to build from source with; give PLIMSOLL_URL, or install Go"; exit 1; }
	make -C "$source" build
	mkdir -p "$prefix/ci"
	cp "$source/bin/plimsoll" "$prefix/plimsoll"
	cp "$source/ci/gate.sh" "$source/ci/pair.sh" "$source/ci/install.sh" "$prefix/ci/"
fi
"$prefix/plimsoll" version
if [ -n "${GITHUB_PATH:-}" ]; then printf '%s\n' "$prefix" >>"$GITHUB_PATH"; fi
