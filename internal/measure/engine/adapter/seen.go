package adapter

import (
	"fmt"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Wrong says that something else is in force than what was asked for.
func Wrong(format string, args ...any) error {
	return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf(format, args...)}
}

// Seen is what a payload saw from inside, and the host that it is compared with.
type Seen struct {
	Inside map[string]string // its report
	Host   HostState
}

// Foreign says whether the payload ran on another kernel than ours (gVisor, a
// virtual machine).
func (s *Seen) Foreign() bool {
	return s.Inside["uname.release"]+" "+s.Inside["uname.version"] != s.Host.Kernel
}

// Kernel is the fact of that name.
func (s *Seen) Kernel() string {
	if s.Foreign() {
		return "foreign: " + s.Inside["uname.release"]
	}
	return "host"
}

// JudgeNetwork trusts the namespace seen from inside more than an engine's word.
// Other kernels show no namespaces of the host's.
func (s *Seen) JudgeNetwork(asked string) error {
	ns := s.Inside["ns.net"]
	if ns == "" || s.Foreign() || (ns == s.Host.Net) == (asked == "host") {
		return nil
	}
	return Wrong("asked for the network %s, and the payload saw the network namespace %s (the host's is %s)", asked, ns, s.Host.Net)
}

// JudgeNoSeccomp judges a container without a filter: where we live under one
// ourselves, so does every child, and where the engine is under the one that takes its
// durability away, that is the only one.
func (s *Seen) JudgeNoSeccomp() error {
	if n := s.Inside["seccomp.filters"]; s.Inside["fsync"] == "0" && (n == "1" || n == "") { // Linux 5.9 counts them
		return nil
	}
	if in := s.Inside["seccomp"]; in != "" && in != "0" && s.Host.Seccomp == "0" && !s.Foreign() {
		return Wrong("asked for no seccomp, and the payload ran in mode %s", in)
	}
	return nil
}

// JudgeUnconfined is JudgeNoSeccomp where the engine names the container's profile too.
func (s *Seen) JudgeUnconfined(profile string) error {
	if profile != "unconfined" {
		return Wrong("asked for no seccomp, the container's profile is %s", profile)
	}
	return s.JudgeNoSeccomp()
}

// SeccompProfile is what an engine that takes Docker's security options says of a
// container's: its default or a profile of the user's.
func SeccompProfile(options []string) string {
	for _, o := range options {
		if v, ok := strings.CutPrefix(o, "seccomp="); ok {
			return v
		}
	}
	return "default"
}
