// Package place says where the ranks of a parallel workload run, and by which
// launcher: this machine or the hosts of a list by mpirun, the nodes of a Slurm
// allocation by srun.
//
// It is opinionated: a site's own launcher starts the ranks, never one of ours;
// what a rank prints goes to a file of its own, since streams that a launcher has
// mixed can't be told apart again; and nothing here asks for root.
//
// Why it is so: docs/decisions/mpi.md.
package place

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Kind is where ranks run.
type Kind string

// The kinds of places.
const (
	Local  Kind = "local"  // by mpirun, on this machine
	Mpirun Kind = "mpirun" // by mpirun, on the hosts of a list
	Srun   Kind = "srun"   // by srun, on the nodes of the allocation that we run in
)

// Kinds are the words for --on that are of this package.
var Kinds = []Kind{Local, Mpirun, Srun}

// Place is where the ranks of a run's parallel workloads run. The zero value is
// this machine.
type Place struct {
	Kind Kind
	// Hosts are mpirun's, each HOST or HOST:SLOTS; none means this machine.
	Hosts []string
}

// Job is what is to be started.
type Job struct {
	Ranks, Nodes int
	// Dir is an empty directory in which every node can write: the ranks'
	// streams go there.
	Dir string
	// Scratch is where the launcher keeps its own files; every node has it, or
	// makes it.
	Scratch string
}

// Launch is a launcher, ready to stand before a rank's command.
type Launch struct {
	Argv []string
	Env  []string // of the launcher and of the ranks
	// Name is the launcher with its version, for the facts.
	Name string
}

// Look finds a program on the user's PATH.
type Look func(name string) (string, error)

// settings are what of our own environment is handed on: what a site, or its
// modules, tell MPI libraries and their launchers.
var settings = []string{"OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "UCX_", "FI_", "SLURM_CONF="}

// handedOn are those of the settings that are there.
func handedOn(environ []string, prefixes ...string) (env []string) {
	for _, v := range environ {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(v, p) }) {
			env = append(env, v)
		}
	}
	return env
}

// Launch gives the launcher for a job. Its error says what is missing.
func (p Place) Launch(ctx context.Context, j Job, look Look) (Launch, error) {
	if j.Ranks < 1 || j.Nodes < 1 || j.Nodes > j.Ranks {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("%d ranks can't be on %d nodes", j.Ranks, j.Nodes)}
	}
	if p.Kind == Srun {
		return srun(ctx, j, look)
	}
	return p.mpirun(ctx, j, look)
}

// String is the place for people.
func (p Place) String() string {
	switch {
	case p.Kind == "" || p.Kind == Local:
		return "this machine, by mpirun"
	case len(p.Hosts) > 0:
		return "by mpirun on " + strings.Join(p.Hosts, ", ")
	}
	return "by " + string(p.Kind)
}

// Hosts reads what --hosts was given: a list with commas between, or a file with
// a host a line as mpirun has it ("node1 slots=2", "#" begins a comment).
func Hosts(given string) ([]string, error) {
	if _, err := os.Stat(given); err == nil {
		data, err := safepath.ReadGiven(given, 1<<20, "a host a line")
		if err != nil {
			return nil, fmt.Errorf("reading the hosts: %w", err)
		}
		return hostFile(given, string(data))
	}
	var hosts []string
	for h := range strings.SplitSeq(given, ",") {
		if err := checkHost(h); err != nil {
			return nil, fmt.Errorf("--hosts %s: %w", given, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

func hostFile(name, text string) ([]string, error) {
	var hosts []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		host := f[0]
		for _, option := range f[1:] {
			slots, ok := strings.CutPrefix(option, "slots=")
			if !ok {
				return nil, fmt.Errorf("%s:%d: %q is none of what is known here: HOST, or HOST slots=N", name, n, option)
			}
			host += ":" + slots
		}
		if err := checkHost(host); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		hosts = append(hosts, host)
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s names no host", name)
	}
	return hosts, nil
}

// checkHost refuses what mpirun could take for an option, or for several hosts.
func checkHost(h string) error {
	name, slots, has := strings.Cut(h, ":")
	good := name != "" && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if !good || has && (slots == "" || strings.Trim(slots, "0123456789") != "" || len(slots) > 5 || slots[0] == '0') {
		return fmt.Errorf("%q is not a host; expected NAME or NAME:SLOTS", h)
	}
	return nil
}

// Output is what one rank printed.
type Output struct {
	Rank           int
	Stdout, Stderr []byte
}

// Outputs reads what the ranks printed, in the order of their numbers; of each
// stream at most so many bytes. A rank that printed nothing may be missing.
func Outputs(dir string, most int64) ([]Output, error) {
	found := map[int]*Output{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rank, stream, ok := fileOf(rel)
		if !ok {
			return nil
		}
		data, err := head(path, most)
		if err != nil {
			return err
		}
		if found[rank] == nil {
			found[rank] = &Output{Rank: rank}
		}
		if stream == "stdout" {
			found[rank].Stdout = data
		} else {
			found[rank].Stderr = data
		}
		return nil
	})
	var out []Output
	for _, o := range found {
		out = append(out, *o)
	}
	slices.SortFunc(out, func(a, b Output) int { return a.Rank - b.Rank })
	return out, err
}
