package workload

import (
	"fmt"
	"strconv"

	"plimsoll/internal/common/yamlfile"
)

// The parameter that says how many containers carry the ranks of a node.
const (
	perParameter = "ranks-per-container"
	perRank      = "one" // each rank is a container
	perNode      = "all" // the ranks of a node share one
)

// The parameter that says whose MPI library the ranks load.
const (
	libraryParameter = "mpi-library"
	libraryImage     = "image" // the image's: the hybrid model
	libraryHost      = "host"  // the host's, bound into the container: the bind model
)

// maxRanks bounds a job: more than any machine that this was made for has.
const maxRanks = 1 << 20

// launched is the parallel program that a file asks for with these levels; nil is
// none.
func (f *document) launched(chosen map[string]string) (*Launch, error) {
	if !f.Launch.at.Given() {
		return nil, nil
	}
	number := func(what string, a argument) (int, error) {
		s, err := expand(a.Text, true, func(name string) (string, bool) { v, ok := chosen[name]; return v, ok })
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxRanks {
			return 0, fmt.Errorf("launch: %s is %q, which is not a number from 1 to %d", what, s, maxRanks)
		}
		return n, nil
	}
	l := &Launch{Nodes: 1, Shared: chosen[perParameter] == perNode, Bound: chosen[libraryParameter] == libraryHost, Program: f.Launch.Program.On}
	var err error
	if l.Ranks, err = number("ranks", f.Launch.Ranks); err != nil {
		return nil, err
	}
	if f.Launch.Nodes.At.Given() {
		if l.Nodes, err = number("nodes", f.Launch.Nodes); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// launch checks what a parallel program can't have beside it.
func (c *checker) launch() {
	f := c.f
	at := f.Launch.at
	if !at.Given() {
		for _, p := range f.Parameters {
			if p.name.Text == perParameter {
				c.Add(p.name.At, "there is a parameter "+perParameter+" and no launch", "launch: {ranks: …}, which it is for")
			}
			if p.name.Text == libraryParameter {
				c.Add(p.name.At, "there is a parameter "+libraryParameter+" and no launch", "launch: {ranks: …, program: true}, which it is for")
			}
		}
		return
	}
	for _, a := range []argument{f.Launch.Ranks, f.Launch.Nodes} {
		names, err := references(a.Text)
		if err != nil {
			c.Add(a.At, err.Error(), `"}", or "$${" for the characters themselves`)
		}
		for _, n := range names {
			if f.parameter(n) == nil {
				c.Add(a.At, "unknown reference "+yamlfile.Quote(n), "a parameter of the workload")
			}
		}
	}
	for _, x := range []struct {
		there bool
		what  string
	}{
		{f.Roles != nil, "roles"}, {len(f.Serve) > 0, "serve"}, {f.On.At.Given(), "on"}, {f.Pod.At.Given(), "pod"},
		{len(f.Prepare) > 0, "prepare"}, {len(f.Fill) > 0, "fill"}, {len(f.Cleanup) > 0, "cleanup"},
	} {
		if x.there {
			c.Add(at, "launch can't stand next to "+x.what, "run alone: every rank would do the rest as well")
		}
	}
	if p := f.parameter(libraryParameter); p != nil {
		if !f.Launch.Program.On {
			c.Add(p.name.At, "there is a parameter "+libraryParameter+" without Plimsoll's MPI program", "launch: {program: true}: only that says from inside which library it has loaded")
		}
		for _, l := range p.Levels.List {
			if l.Text != libraryImage && l.Text != libraryHost {
				c.Add(l.At, libraryParameter+" can't be "+l.Text, libraryImage+" or "+libraryHost)
			}
		}
	}
	for _, p := range f.Parameters {
		if p.name.Text != filesParameter && p.name.Text != startedByParameter {
			continue
		}
		for _, l := range p.Levels.List {
			if l.Text != string(FilesBind) && l.Text != startedByRun {
				c.Add(l.At, p.name.Text+" can be "+l.Text+" next to launch", "no such level: ranks are started by their launcher, and meet in a directory of the host")
			}
		}
	}
}
