#!/usr/bin/env bash
# pair.sh: build base and head of a repository, and hold the two builds against each other in the
# same blocks; for CI. No baseline is stored.
#
# usage: ci/pair.sh          in a checkout of head that has base's commits too
#
# Everything comes by the environment:
#   PLIMSOLL             the program (plimsoll)
#   PLIMSOLL_PROGRAM     what is built, such as runc or crun (required)
#   PLIMSOLL_BUILD       a line for the shell that builds it, in the checkout and in a clone of base (required)
#   PLIMSOLL_MADE        the file that this makes, a path in the checkout (PLIMSOLL_PROGRAM)
#   PLIMSOLL_BASE        the commit to hold head against (the merge request's, else where HEAD left the
#                        branch that it goes to, else HEAD^; where HEAD is the change merged already, the
#                        branch that it was merged into)
#   PLIMSOLL_ENGINE      the engine that runs the program (the program alone)
#   PLIMSOLL_WORKLOAD    what runs in the containers (hello)
#   PLIMSOLL_METRIC      what is compared (the start, or the workload's first metric)
#   PLIMSOLL_LEVELS      levels of factors and parameters, such as client=steps, by blanks
#   PLIMSOLL_BUDGET      the time that measuring may take (2m)
#   PLIMSOLL_BLOCKS      measure so many blocks instead
#   PLIMSOLL_FAIL_ABOVE  fail where head is worse by more than this (5%)
#   PLIMSOLL_ALLOW_FAILURES  the share of head's trials that may fail beyond base's (5%)
#   PLIMSOLL_STRICT      true: status 4 where it cannot tell
#   PLIMSOLL_OUTPUT      directory for record, junit.xml, summary.md (plimsoll-results)
#   PLIMSOLL_SUDO        true: measure as root by sudo; builds are made without
# On GitHub (GITHUB_ACTIONS, GITHUB_BASE_REF, GITHUB_STEP_SUMMARY, GITHUB_OUTPUT): annotations, the
# summary and the outputs verdict and report. On GitLab (CI_MERGE_REQUEST_TARGET_BRANCH_SHA, else
# CI_MERGE_REQUEST_DIFF_BASE_SHA): the base.
# Exit status: 0 passed, or could not tell; 3 failed; 4 could not tell, with PLIMSOLL_STRICT; any
# other is plimsoll's own, or that of a build.
set -euo pipefail
export LC_ALL=C

if [ $# -gt 0 ]; then
	sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
fi
summary=${GITHUB_STEP_SUMMARY:-}
unset GITHUB_STEP_SUMMARY # one summary at the end, not one of each command

: "${PLIMSOLL_PROGRAM:?pair.sh: PLIMSOLL_PROGRAM is to name what is built, such as runc}"
: "${PLIMSOLL_BUILD:?pair.sh: PLIMSOLL_BUILD is to be a line for the shell that builds it}"
made=${PLIMSOLL_MADE:-$PLIMSOLL_PROGRAM}
out=${PLIMSOLL_OUTPUT:-plimsoll-results}
program=$(command -v -- "${PLIMSOLL:-plimsoll}") || { echo "pair.sh: no ${PLIMSOLL:-plimsoll} on PATH" >&2; exit 1; }
as_root=()
if [ "${PLIMSOLL_SUDO:-}" = true ] && [ "$(id -u)" != 0 ]; then as_root=(sudo -E env "PATH=$PATH"); fi

# Base is cloned whole, so head is built where the whole checkout is.
top=$(git rev-parse --show-toplevel) || { echo "pair.sh: $PWD is no checkout: run it in that of head" >&2; exit 1; }
if [ "$top" != "$(pwd -P)" ]; then echo "pair.sh: run it in the checkout's own folder, $top" >&2; exit 1; fi

# The commit that head is held against.
# A pipeline of merged results has the change merged into its target, whose own changes are base's, too.
base=${PLIMSOLL_BASE:-${CI_MERGE_REQUEST_TARGET_BRANCH_SHA:-${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}}}
if [ -z "$base" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
	base=$(git merge-base HEAD "origin/$GITHUB_BASE_REF") || {
		echo "pair.sh: HEAD and origin/$GITHUB_BASE_REF have no commit in common here: check out with fetch-depth: 0" >&2
		exit 1
	}
fi
wanted=${base:-HEAD^}
base=$(git rev-parse --verify --quiet --end-of-options "$wanted^{commit}") || {
	echo "pair.sh: $wanted is no commit of this checkout: check out with its history (fetch-depth: 0, GIT_DEPTH: 0)" >&2
	exit 1
}

# Base is built in a clone that shares the objects, so that the checkout stays as it is.
mkdir -p "$out"
"${as_root[@]}" rm -rf "$out/record" "$out/junit.xml" "$out/summary.md" # a record that was cut off is still root's
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git clone --quiet --shared --no-checkout -- "$top" "$tree/base"
# What lies beside the repository, such as submodules, base's build finds where head's does.
if url=$(git config --get remote.origin.url); then git -C "$tree/base" remote set-url origin "$url"; fi
git -C "$tree/base" checkout --quiet --detach "$base"
build() {
	echo "pair.sh: building $2" >&2
	(cd "$1" && bash -euc "$PLIMSOLL_BUILD") >&2 || { echo "pair.sh: $2 can't be built" >&2; exit 1; }
	if [ ! -f "$1/$made" ]; then echo "pair.sh: the build of $2 made no file $made" >&2; exit 1; fi
}
build "$tree/base" "base, $(git rev-parse --short "$base")"
build . "head, $(git rev-parse --short HEAD)"

# Measured strictly, so that the status tells "could not tell" from "passed".
read -r -a levels <<<"${PLIMSOLL_LEVELS:-}"
course=(--budget "${PLIMSOLL_BUDGET:-2m}")
if [ -n "${PLIMSOLL_BLOCKS:-}" ]; then course=(--blocks "$PLIMSOLL_BLOCKS"); fi
status=0
"${as_root[@]}" "$program" ab "$PLIMSOLL_PROGRAM" "$tree/base/$made" "./$made" "${levels[@]}" \
	"${course[@]}" --fail-above "${PLIMSOLL_FAIL_ABOVE:-5%}" --allow-failures "${PLIMSOLL_ALLOW_FAILURES:-5%}" --strict \
	${PLIMSOLL_ENGINE:+--engine "$PLIMSOLL_ENGINE"} ${PLIMSOLL_WORKLOAD:+--workload "$PLIMSOLL_WORKLOAD"} ${PLIMSOLL_METRIC:+--metric "$PLIMSOLL_METRIC"} \
	--record "$out/record" --wait --progress plain || status=$?
if [ ${#as_root[@]} -gt 0 ] && [ -e "$out/record" ]; then sudo chown -R "$(id -u):$(id -g)" "$out/record"; fi
case $status in
0) verdict=passed ;;
3) verdict=failed ;;
4)
	verdict=open
	if [ "${PLIMSOLL_STRICT:-}" != true ]; then status=0; fi
	;;
*) exit "$status" ;;
esac
again() { "$program" ab "$out/record" "$@" 2>/dev/null || true; } # it said above what there is to say
again --format junit -o "$out/junit.xml"
{
	printf '### Plimsoll: %s\n\n' "$verdict"
	again --format markdown
} >"$out/summary.md"
if [ "${GITHUB_ACTIONS:-}" = true ]; then again --format github; fi
if [ -n "$summary" ]; then cat "$out/summary.md" >>"$summary"; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then printf 'verdict=%s\nreport=%s\n' "$verdict" "$out/summary.md" >>"$GITHUB_OUTPUT"; fi
exit "$status"
