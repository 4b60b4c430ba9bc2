package clirun

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
)

// launcherGrace is how long a launcher has to end its ranks after SIGTERM.
const launcherGrace = 5 * time.Second

// Launched puts a launcher of parallel programs before the command of a container:
// the container's own environment goes to the launcher, which hands it on.
func Launched(ranks engine.Ranks, task engine.Task, cmd probe.Command) Plan {
	cmd.Argv = slices.Concat(ranks.Launcher, cmd.Argv)
	cmd.Env = slices.Concat(cmd.Env, ranks.Env)
	p := Attached(task, cmd)
	// A launcher that is killed leaves ranks on other nodes.
	p.Gentle = launcherGrace
	return p
}

// singleCopy is how Open MPI 4's ranks copy large messages through shared memory.
const singleCopy = "OMPI_MCA_btl_vader_single_copy_mechanism="

// Apart are ranks each in a user namespace of its own, by which the kernel keeps
// them from reading each other's memory. Open MPI 4 sees that while it connects
// and falls back on emulated copies; in 4.1.4 the ranks then wait for each other
// for ever as soon as some MiB are on their way at once. Told so from the start, it
// makes the same copies and does not hang. What the user has set stays.
func Apart(ranks engine.Ranks) engine.Ranks {
	set := func(e string) bool { return strings.HasPrefix(e, singleCopy) }
	if !ranks.Shared && !slices.ContainsFunc(ranks.Env, set) {
		ranks.Env = append(slices.Clone(ranks.Env), singleCopy+"emulated")
	}
	return ranks
}

// rankMark stands at the end of a word for the rank's number.
const rankMark = "%rank%"

// EachName is what each rank's container is called in the command that all ranks
// have, and RankName what comes of it.
func EachName(name string) string { return name + "-" + rankMark }

// RankName is the name of a rank's own container.
func RankName(name string, rank int) string { return name + "-" + strconv.Itoa(rank) }

// asRank replaces the mark by the number that the launcher has given the rank.
const asRank = `rank=${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-}}}
case $rank in
'' | *[!0-9]*) echo "the launcher has given this rank no number (PMIX_RANK, PMI_RANK, SLURM_PROCID)" >&2; exit 125 ;;
esac
n=$#
while [ "$n" -gt 0 ]; do
	case $1 in
	*%rank%) word=${1%"%rank%"}$rank ;;
	*) word=$1 ;;
	esac
	shift
	set -- "$@" "$word"
	n=$((n - 1))
done
exec "$@"`

// AsRank is a command with EachName in it: a launcher gives all ranks the same
// one, and each container's name must be its own.
func AsRank(cmd probe.Command) probe.Command {
	cmd.Argv = append([]string{"/bin/sh", "-c", asRank, "rank"}, cmd.Argv...)
	return cmd
}
