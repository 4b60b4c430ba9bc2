package fake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/image"
	"plimsoll/internal/probe"
)

// parseArgs undoes probe.PayloadArgs.Argv; false for anything but a payload.
func parseArgs(argv []string) (probe.PayloadArgs, bool) {
	var a probe.PayloadArgs
	if len(argv) < 3 || argv[0] != image.ProbePath || argv[1] != "payload" {
		return a, false
	}
	a.Word = argv[2]
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

// answer is what a payload prints: what probe.ParsePayload reads.
func answer(p probe.Payload, word string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "plimsoll 1 %s first %d\n", word, p.First)
	for _, k := range slices.Sorted(maps.Keys(p.Report)) {
		fmt.Fprintf(&b, "k %s %s\n", k, p.Report[k])
	}
	if p.Done != 0 {
		fmt.Fprintf(&b, "plimsoll done %d\n", p.Done)
	}
	return []byte(b.String())
}

// report is what a simulated payload sees: all its own, and said to be so.
func (e *environment) report() map[string]string {
	return map[string]string{
		"simulated": "yes", "proc": "present", "pid": "1", "uid": "0", "gid": "0",
		"uname.release": "simulated", "seccomp": "0", "no_new_privs": "0",
		"ns.mnt": "1", "ns.pid": "2", "ns.net": "3", "ns.ipc": "4", "ns.uts": "5",
		"ns.user": "6", "ns.cgroup": "7", "ns.time": "8",
	}
}
