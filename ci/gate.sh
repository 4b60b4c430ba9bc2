#!/usr/bin/env bash
# gate.sh: measure a study, and hold it against a baseline record; for CI.
#
# usage: ci/gate.sh          measure and judge; without a baseline the run becomes it
#        ci/gate.sh key      print a cache key: baselines of other machines are of no use
#
# Everything comes by the environment, and may be left out:
#   PLIMSOLL             the program (plimsoll)
#   PLIMSOLL_STUDY       a bundled study or a file (quick)
#   PLIMSOLL_ENGINES     only these engines of it, with commas
#   PLIMSOLL_BLOCKS      a fixed number of blocks (looks after 10, 20 and 40, and ends when it can tell)
#   PLIMSOLL_FAIL_ABOVE  fail where something is worse by more than this (5%)
#   PLIMSOLL_THRESHOLDS  a file of thresholds instead
#   PLIMSOLL_ALLOW_FAILURES  the share of a cell's trials that may fail beyond the baseline's (5%)
#   PLIMSOLL_AGAINST     the baseline that both are divided by, or none: absolute values, in 20 blocks (auto)
#   PLIMSOLL_STRICT      true: status 4 where it cannot tell
#   PLIMSOLL_BASELINE    directory of the baseline record (.plimsoll/baseline)
#   PLIMSOLL_RECORD      true: measure a new baseline, judge nothing
#   PLIMSOLL_FAILED_BASELINE  true: keep a baseline though trials of it failed
#   PLIMSOLL_OUTPUT      directory for record, report.html, junit.xml, summary.md (plimsoll-results)
#   PLIMSOLL_SUDO        true: measure as root by sudo
# On GitHub (GITHUB_ACTIONS, GITHUB_STEP_SUMMARY, GITHUB_OUTPUT): annotations, the summary and the
# outputs verdict and report.
# Exit status: 0 passed, could not tell, or recorded a baseline; 3 failed; 4 could not tell, with
# PLIMSOLL_STRICT; 6 trials of a new baseline failed, so that it was not kept; any other is
# plimsoll's own.
set -euo pipefail
export LC_ALL=C

study=${PLIMSOLL_STUDY:-quick}
base=${PLIMSOLL_BASELINE:-.plimsoll/baseline}
out=${PLIMSOLL_OUTPUT:-plimsoll-results}
summary=${GITHUB_STEP_SUMMARY:-}
unset GITHUB_STEP_SUMMARY # one summary at the end, not one of each command

# What bars a gate between two machines, and what is asked for.
key() {
	local cpu memory
	cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
	memory=$(awk '$1 == "MemTotal:" { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
	printf '%s-%s\n' "$(uname -m)" "$({
		printf '%s\n' "$cpu" "$(nproc)" "$memory" "$study" "${PLIMSOLL_ENGINES:-}" "${PLIMSOLL_BLOCKS:-}"
		if [ -f "$study" ]; then cat -- "$study"; fi
	} | sha256sum | cut -c 1-16)"
}

case ${1:-} in
key) key; exit ;;
'') ;;
*) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
esac

program=$(command -v -- "${PLIMSOLL:-plimsoll}") || { echo "gate.sh: no ${PLIMSOLL:-plimsoll} on PATH" >&2; exit 1; }
as_root=()
if [ "${PLIMSOLL_SUDO:-}" = true ] && [ "$(id -u)" != 0 ]; then as_root=(sudo -E env "PATH=$PATH"); fi

# Measures into a directory that is not there yet. Failed trials are part of a
# record, and judged with it; measured is the status, 6 where there are any.
measured=0
measure() {
	local to=$1 status=0
	shift
	"${as_root[@]}" "$program" run "$study" -o "$to" --wait --progress plain \
		${PLIMSOLL_ENGINES:+--engine "$PLIMSOLL_ENGINES"} "$@" || status=$?
	if [ ${#as_root[@]} -gt 0 ] && [ -e "$to" ]; then sudo chown -R "$(id -u):$(id -g)" "$to"; fi
	case $status in
	0 | 3 | 4 | 6) ;;
	*) exit "$status" ;;
	esac
	measured=$status
	if [ -e "$to/report.html" ]; then mv "$to/report.html" "$out/report.html"; fi
}

# The summary and the outputs.
publish() {
	local verdict=$1
	if [ -n "$summary" ]; then cat "$out/summary.md" >>"$summary"; fi
	if [ -n "${GITHUB_OUTPUT:-}" ]; then printf 'verdict=%s\nreport=%s\n' "$verdict" "$out/report.html" >>"$GITHUB_OUTPUT"; fi
}

mkdir -p "$out" "$(dirname "$base")"
rm -rf "$out/record" "$out/report.html" "$out/junit.xml" "$out/summary.md"

if [ "${PLIMSOLL_RECORD:-}" = true ] || [ ! -e "$base/run.json" ]; then
	measure "$out/record" --blocks "${PLIMSOLL_BLOCKS:-20}"
	if [ "$measured" = 6 ] && [ "${PLIMSOLL_FAILED_BASELINE:-}" != true ]; then
		{
			printf '### Plimsoll: no new baseline\n\nTrials failed while it was measured, so that it is not kept: what fails in it would fail unseen later.\n\n'
			"$program" report "$out/record" --format markdown
		} >"$out/summary.md"
		publish unrecorded
		echo "gate.sh: trials failed while the baseline was measured: it is not kept, and $base stays as it was." >&2
		echo "gate.sh: $out/report.html says which failed; PLIMSOLL_FAILED_BASELINE=true keeps it, where they fail each time." >&2
		exit 6
	fi
	rm -rf "$base"
	cp -R "$out/record" "$base"
	{
		printf '### Plimsoll: a new baseline\n\nLater runs of %s are held against this one.\n\n' "$study"
		"$program" report "$out/record" --format markdown
	} >"$out/summary.md"
	publish recorded
	echo "gate.sh: the baseline is in $base"
	exit 0
fi

limits=(--fail-above "${PLIMSOLL_FAIL_ABOVE:-5%}")
if [ -n "${PLIMSOLL_THRESHOLDS:-}" ]; then limits=(--thresholds "$PLIMSOLL_THRESHOLDS"); fi
if [ -n "${PLIMSOLL_ALLOW_FAILURES:-}" ]; then limits+=(--allow-failures "$PLIMSOLL_ALLOW_FAILURES"); fi

against=${PLIMSOLL_AGAINST:-auto}
if [ -n "${PLIMSOLL_BLOCKS:-}" ] || [ "$against" != auto ]; then
	measure "$out/record" --blocks "${PLIMSOLL_BLOCKS:-20}"
else
	measure "$out/record" --gate "$base" "${limits[@]}"
fi

# Judged strictly, so that the status tells "could not tell" from "passed".
compare() { "$program" compare "$base" "$out/record" "${limits[@]}" --against "$against" --strict "$@"; }
status=0
compare || status=$?
case $status in
0) verdict=passed ;;
3) verdict=failed ;;
4)
	verdict=open
	if [ "${PLIMSOLL_STRICT:-}" != true ]; then status=0; fi
	;;
*) exit "$status" ;;
esac
again() { compare "$@" 2>/dev/null || true; } # it said above what there is to say
again --format junit -o "$out/junit.xml"
{
	printf '### Plimsoll: %s\n\n' "$verdict"
	again --format markdown
} >"$out/summary.md"
if [ "${GITHUB_ACTIONS:-}" = true ]; then again --format github; fi
publish "$verdict"
exit "$status"
