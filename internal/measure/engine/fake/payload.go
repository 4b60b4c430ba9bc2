package fake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// program is what a fake can pretend to run.
type program interface {
	// begin is what it has printed by the time it is ready, and finish what it
	// prints after that. Times are of our clock.
	begin(t *trial, first int64) []byte
	finish(t *trial, done int64) []byte
	stays() bool   // it ends only when it is told to
	ignores() bool // it does not end by SIGTERM
	status() int
	lasts(work time.Duration) time.Duration
	touches() int64 // bytes of memory
}

// parse finds the program of an argument list; nil for what a fake can't run.
func parse(argv []string) program {
	if len(argv) > 1 && argv[0] == "/bin/echo" {
		return echo(argv[1:])
	}
	if len(argv) < 3 || argv[0] != image.ProbePath {
		return nil
	}
	switch argv[1] {
	case "payload":
		if a, ok := parsePayload(argv); ok {
			return payload{a}
		}
	case "task":
		if k, ok := parseTask(argv); ok {
			return task{k}
		}
	}
	return nil
}

// payload is the probe's payload.
type payload struct{ probe.PayloadArgs }

func (p payload) stays() bool                            { return p.Stay }
func (p payload) ignores() bool                          { return p.OnTerm == "ignore" || p.OnTerm == "none" }
func (p payload) status() int                            { return p.Exit }
func (p payload) lasts(work time.Duration) time.Duration { return work + p.Rest }
func (p payload) touches() int64                         { return 0 }

func (p payload) begin(t *trial, first int64) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "plimsoll 1 %s first %d\n", p.Word, t.inside(first))
	if p.Report {
		seen := report()
		for _, k := range slices.Sorted(maps.Keys(seen)) {
			fmt.Fprintf(&b, "k %s %s\n", k, seen[k])
		}
	}
	return []byte(b.String())
}

func (p payload) finish(t *trial, done int64) []byte {
	return fmt.Appendf(nil, "plimsoll done %d\n", t.inside(done))
}

// parsePayload undoes probe.PayloadArgs.Argv.
func parsePayload(argv []string) (probe.PayloadArgs, bool) {
	a := probe.PayloadArgs{Word: argv[2]}
	for i := 3; i < len(argv); i++ {
		value := func() string {
			i++
			if i < len(argv) {
				return argv[i]
			}
			return ""
		}
		switch argv[i] {
		case "--stay":
			a.Stay = true
		case "--report":
			a.Report = true
		case "--echo":
			a.Echo = true
		case "--on-term":
			a.OnTerm = value()
		case "--rest":
			n, err := strconv.ParseInt(value(), 10, 64)
			if err != nil {
				return a, false
			}
			a.Rest = time.Duration(n)
		case "--exit":
			n, err := strconv.Atoi(value())
			if err != nil {
				return a, false
			}
			a.Exit = n
		default:
			return a, false
		}
	}
	return a, true
}

// report is what a simulated payload sees: all its own, and said to be so.
func report() map[string]string {
	return map[string]string{
		"simulated": "yes", "proc": "present", "pid": "1", "uid": "0", "gid": "0",
		"uname.release": "simulated", "seccomp": "0", "no_new_privs": "0",
		"ns.mnt": "1", "ns.pid": "2", "ns.net": "3", "ns.ipc": "4", "ns.uts": "5",
		"ns.user": "6", "ns.cgroup": "7", "ns.time": "8",
	}
}
