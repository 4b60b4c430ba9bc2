package slurm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Job is a job as squeue and sacct show it. What they do not say is "".
type Job struct {
	ID    string
	State State
	User  string
	Nodes string // as a list of Slurm's own: n[1-2]
	// Limit is the time limit, 0 where there is none or it is not known.
	Limit  time.Duration
	Start  string // in the cluster's time: 2026-11-23T07:15:04
	Reason string // why it waits, or why it has ended
	Name   string
	// Comment is the last field, since it alone may hold anything.
	Comment string
}

// queueFormat is what squeue is asked for, by -o, and what sacct by its names.
const (
	queueFormat   = "%i|%T|%u|%N|%l|%S|%r|%j|%k"
	accountFormat = "JobID,State,User,NodeList,Timelimit,Start,ExitCode,JobName,Comment"
	fields        = 9
)

// parseJobs reads lines of squeue or sacct. Names of other people's jobs may
// hold what separates fields: such a line is read wrongly in its last fields
// only, and is nobody of ours. A line that is no job's is an error.
func parseJobs(command, text string) ([]Job, error) {
	var jobs []Job
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.SplitN(line, "|", fields)
		if len(f) < fields || !jobID.MatchString(f[0]) || state(f[1]) == "" {
			return nil, fmt.Errorf("%s, line %d: %q is no job in the %d fields that were asked for, separated by |", command, n, line, fields)
		}
		j := Job{ID: f[0], State: state(f[1]), User: f[2], Nodes: given(f[3]), Start: given(f[5]), Reason: given(f[6]), Name: f[7], Comment: given(f[8])}
		j.Limit, _ = ParseTime(f[4]) // UNLIMITED, Partition_Limit, INVALID: none that is known
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// given is a field that says something.
func given(s string) string {
	switch s = strings.TrimSpace(s); s {
	case "(null)", "N/A", "None", "None assigned", "Unknown", "n/a":
		return ""
	}
	return s
}

// jobID is a job, with its task where it is one of an array, or its part.
var jobID = regexp.MustCompile(`^[0-9]+([_+][0-9]+|_\[[0-9,:%-]+\]?(\.\.\.\]?)?)?$`)

// parseSubmitted reads what sbatch --parsable prints: 12, or 12;cluster.
func parseSubmitted(text string) (id string, err error) {
	for line := range strings.Lines(text) { // a site's plug-ins may print before it
		id, _, _ = strings.Cut(strings.TrimSpace(line), ";")
	}
	if n, err := strconv.ParseUint(id, 10, 32); err != nil || n == 0 {
		return "", fmt.Errorf("sbatch --parsable printed %q: expected a job's number as its last line", strings.TrimSpace(text))
	}
	return id, nil
}

// maxTime bounds what a time may be: a year, as Slurm does.
const maxTime = 366 * 24 * time.Hour

var timeParts = regexp.MustCompile(`^(?:([0-9]{1,4})-)?([0-9]{1,7})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?$`)

// ParseTime reads a time as Slurm's commands take and print it: minutes,
// minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
// days-hours:minutes:seconds.
func ParseTime(s string) (time.Duration, error) {
	m := timeParts.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, fmt.Errorf("%q is not a time: expected minutes, hours:minutes:seconds or days-hours:minutes:seconds", s)
	}
	var n [4]time.Duration
	parts := 0
	for i := range n {
		if m[i+1] != "" {
			v, err := strconv.Atoi(m[i+1])
			if err != nil {
				return 0, fmt.Errorf("%q is not a time: %w", s, err)
			}
			n[i] = time.Duration(v)
			parts++
		}
	}
	var d time.Duration
	switch {
	case m[1] != "":
		d = n[0]*24*time.Hour + n[1]*time.Hour + n[2]*time.Minute + n[3]*time.Second
	case parts == 3:
		d = n[1]*time.Hour + n[2]*time.Minute + n[3]*time.Second
	default:
		d = n[1]*time.Minute + n[2]*time.Second
	}
	if d > maxTime || d < 0 {
		return 0, fmt.Errorf("%q is more than a year", s)
	}
	return d, nil
}

// Node is a node and how it is: idle, allocated, down* (it does not answer) …
type Node struct{ Name, State string }

// Bad says whether a node can carry no job.
func (n Node) Bad() bool {
	bad := []string{"down", "drain", "fail", "error", "unknown", "power", "maint", "reboot"}
	return slices.ContainsFunc(bad, func(word string) bool { return strings.HasPrefix(n.State, word) }) ||
		strings.HasSuffix(n.State, "*") // it does not answer
}

// parseNodes reads sinfo -N -o '%N|%T'. A node of several partitions has a line
// in each.
func parseNodes(text string) ([]Node, error) {
	var nodes []Node
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		name, state, ok := strings.Cut(strings.TrimSpace(line), "|")
		if name == "" && !ok {
			continue
		}
		if !ok || name == "" || state == "" {
			return nil, fmt.Errorf("sinfo, line %d: %q is no node and its state, separated by |", n, strings.TrimSpace(line))
		}
		if !seen[name] {
			seen[name] = true
			nodes = append(nodes, Node{name, strings.ToLower(state)})
		}
	}
	return nodes, nil
}

var showKey = regexp.MustCompile(`(?:^| )([A-Za-z][A-Za-z0-9:/_-]*)=`)

// parseShow reads the first line of scontrol show -o: words KEY=VALUE. A value
// may hold spaces; one that holds what looks like a key is cut there, so
// nothing that a user chooses (name, comment, paths) is to be taken from it. Of a
// key that is there twice, the first counts.
func parseShow(text string) map[string]string {
	line, _, _ := strings.Cut(text, "\n")
	out := map[string]string{}
	at := showKey.FindAllStringSubmatchIndex(line, -1)
	for i, m := range at {
		end := len(line)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		key := line[m[2]:m[3]]
		if _, ok := out[key]; !ok {
			out[key] = strings.TrimSpace(line[m[1]:end])
		}
	}
	return out
}
