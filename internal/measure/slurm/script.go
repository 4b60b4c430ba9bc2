package slurm

import (
	"fmt"
	"strings"
)

// Script is what a job's script is made from. All paths are absolute, and those
// of the login node and of the nodes alike.
type Script struct {
	Run     string
	Program string   // plimsoll
	Dir     string   // the record's
	Jobs    string   // where the log and the job's end go
	State   string   // what plimsoll keeps; "" is a place of each node's own
	Images  string   // the login node's image store, which the job reads
	Begin   []string // the arguments of plimsoll that begin the run
	Resume  []string // and those that go on with it, once it is begun
}

// quoted is a word of the shell that stands for nothing but itself.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func words(argv []string) string {
	var b strings.Builder
	for _, a := range argv {
		b.WriteString(" " + quoted(a))
	}
	return b.String()
}

// scriptText is for any POSIX shell. What outlives a run (images, the folder of a
// run under way) must be one node's or one run's own: whether the process that a
// run belongs to is alive can be seen on its own node only, and a home directory
// is often all nodes'. So the node's place has its name, and another is the run's.
//
// The first SIGTERM, which is sent to this script alone (before the time limit,
// or by a cancellation), is handed on: the run ends after the trial in flight.
const scriptText = `#!/bin/sh
# Plimsoll's job for the run %[1]s. It begins the run, or goes on with it.
program=%[2]s
dir=%[3]s
jobs=%[4]s
node=${SLURMD_NODENAME:-$(hostname)}
export PLIMSOLL_STATE=%[7]s
# Nodes seldom reach a registry or a package source: what was built or fetched on
# the login node is taken from there, where the node sees it.
images=%[8]s
export PLIMSOLL_IMAGES="${PLIMSOLL_IMAGES:-$images}"

# finish STATUS: says how the job has ended to who looks later.
finish() {
	printf '%%s\n' "$1" >"$jobs/end-$SLURM_JOB_ID.new" && mv "$jobs/end-$SLURM_JOB_ID.new" "$jobs/end-$SLURM_JOB_ID"
	exit "$1"
}

if [ ! -x "$program" ]; then
	echo "plimsoll: node $node does not have $program: put the program where all nodes find it under this path, such as your home directory" >&2
	finish 127
fi
if [ ! -d "$dir" ]; then
	echo "plimsoll: node $node does not have $dir: choose a directory on a file system that all nodes share, by --output" >&2
	finish 127
fi
if [ -e "$dir/run.json" ]; then
	set --%[6]s
else
	set --%[5]s
fi

child= asked=
ask() {
	asked=yes
	[ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap ask TERM
"$program" "$@" </dev/null &
child=$!
[ -z "$asked" ] || kill -TERM "$child" 2>/dev/null
# A wait that a signal has ended is begun again; of a child that has ended
# meanwhile it still gives the status.
while :; do
	wait "$child"
	status=$?
	kill -0 "$child" 2>/dev/null || break
done
if [ -n "$asked" ]; then
	wait "$child"
	late=$?
	[ $late -eq 127 ] || status=$late
fi
finish $status
`

// Text is the script.
func (s *Script) Text() string {
	state := `"${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/plimsoll-$(id -u)-$node"`
	if s.State != "" {
		state = quoted(s.State)
	}
	return fmt.Sprintf(scriptText, s.Run, quoted(s.Program), quoted(s.Dir), quoted(s.Jobs), words(s.Begin), words(s.Resume), state, quoted(s.Images))
}
