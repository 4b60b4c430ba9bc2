#!/usr/bin/env bash
# build.sh: all files of a release, the same bytes for the same commit and compiler.
#
# usage: NFPM=/path/to/nfpm internal/dist/build.sh OUTDIR (make dist)
#        VERSION, COMMIT and SOURCE_DATE_EPOCH are git's unless they are given
#        MAINTAINER and HOMEPAGE go into the packages
#        TARGETS="linux/amd64 …" makes those only
set -euo pipefail
export LC_ALL=C TZ=UTC
umask 022
: "${NFPM:?give the packager as NFPM=... (make dist does)}"
: "${MAINTAINER:?say whom packages are from, as MAINTAINER=... (make dist does)}"
out=$(mkdir -p "${1:?usage: build.sh OUTDIR}" && cd "$1" && pwd)
cd "$(dirname "$(readlink -f "$0")")/../.."

export VERSION=${VERSION:-$(git describe --tags --always --dirty)}
commit=${COMMIT:-$(git rev-parse HEAD)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
all=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64)
read -ra targets <<<"${TARGETS:-${all[*]}}"

# A package's version begins with a digit and has no "-". What has no tag comes
# before the first release, later commits after earlier ones.
case ${VERSION#v} in
[0-9]*.*) PACKAGE_VERSION=$(tr - + <<<"${VERSION#v}") ;;
*) PACKAGE_VERSION="0.0.0~$(date -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$(tr - . <<<"$VERSION")" ;;
esac
export PACKAGE_VERSION

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work" ./internal/dist ./internal/dist/manual
tool() { "$work/dist" "$@"; }

find "$out" -maxdepth 1 -type f -delete
"$work/manual" man "$work/man"
"$work/manual" completions "$work/completions"
tool notice "${all[@]}" >"$work/NOTICE"
tool sbom "${all[@]}" >"$out/plimsoll-$VERSION.cdx.json"
mkdir "$work/share"
cp -R "$work/man" "$work/share/man"
gzip -9n "$work"/share/man/*

for target in "${targets[@]}"; do
	os=${target%/*} arch=${target#*/}
	name=plimsoll-$VERSION-$os-$arch
	stage=$work/$name
	exe=
	[ "$os" != windows ] || exe=.exe
	mkdir -p "$stage"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch GOAMD64=v1 GOARM64=v8.0 go build -trimpath -buildvcs=false \
		-ldflags "-s -w -X plimsoll/internal/cli.Version=$VERSION -X plimsoll/internal/cli.Commit=$commit" \
		-o "$stage/plimsoll$exe" ./cmd/plimsoll
	cp LICENSE README.md "$work/NOTICE" "$stage"
	cp -R docs "$work/man" "$work/completions" "$stage"
	case $os in
	linux)
		mkdir "$stage/ci"
		cp ci/*.sh "$stage/ci"
		cp -R ansible "$stage"
		cp "$stage/plimsoll" "$out/$name"
		tool archive "$out/$name.tar.gz" "$stage"
		export STAGE=$stage SHARE=$work/share ARCH=$arch
		for kind in deb rpm; do
			"$NFPM" package --config internal/dist/nfpm.yaml --packager "$kind" --target "$out/$name.$kind" >"$work/nfpm.log" ||
				{ cat "$work/nfpm.log" >&2; exit 1; }
		done
		;;
	windows) tool archive "$out/$name.zip" "$stage" ;;
	*) tool archive "$out/$name.tar.gz" "$stage" ;;
	esac
done
cp ci/install.sh "$out"
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS")
install -m 0644 "$work/SHA256SUMS" "$out"
