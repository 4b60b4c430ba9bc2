#!/usr/bin/env bash
# check.sh: is what make dist made what it says, and does another directory with
# an empty build cache give the same bytes?
#
# usage: NFPM=/path/to/nfpm internal/dist/check.sh DISTDIR (make dist-check)
#        AGAIN="linux/amd64 …" builds those again (default: linux/amd64)
set -euo pipefail
out=$(cd "${1:?usage: check.sh DISTDIR}" && pwd)
cd "$(dirname "$(readlink -f "$0")")/../.."
again=$(mktemp -d)
trap 'chmod -R u+w "$again"; rm -rf "$again"' EXIT

VERSION=${VERSION:-$(git describe --tags --always --dirty)}
COMMIT=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export VERSION COMMIT SOURCE_DATE_EPOCH
mkdir "$again/another-place"
# The page's packages are fetched, as the modules are; its script is bundled anew.
tar -c --exclude-vcs --exclude=./dist --exclude=./bin --exclude=./internal/understand/page/dist/plimsoll.js \
	--exclude=./internal/understand/page/browsertest/node_modules . | tar -x -C "$again/another-place"
npm --prefix "$again/another-place/internal/understand/page/web" run --silent build
TARGETS=${AGAIN:-linux/amd64} GOCACHE=$again/cache "$again/another-place/internal/dist/build.sh" "$again/dist"
go test -count=1 -run '^TestDist' ./internal/dist -dist "$out" -again "$again/dist"
