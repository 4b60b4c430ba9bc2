package workload

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// mainRole is the role of a workload that has only one.
const mainRole = "main"

// plan makes what a trial does with these levels, one for every parameter.
func (f *document) plan(chosen map[string]string) (*Plan, error) {
	p := &Plan{
		Limit: time.Duration(f.Limit.NS), Files: Files(chosen[filesParameter]), Needs: f.needs(chosen),
		ByCommands: byCommands(chosen),
	}
	if p.Files == "" { // it does not matter to the workload, and a root file system need not be writable
		p.Files = FilesBind
	}
	for i, r := range f.allRoles() {
		out, err := f.role(r, chosen, i == len(f.allRoles())-1)
		if err != nil {
			return nil, fmt.Errorf("role %s: %w", r.name.Text, err)
		}
		p.Roles = append(p.Roles, out)
	}
	var err error
	if p.Launch, err = f.launched(chosen); err != nil {
		return nil, err
	}
	for _, l := range f.Lacks {
		p.Lacks = append(p.Lacks, Lack{Says: regexp.MustCompile(l.Says.Text), Because: l.Because.Text})
	}
	for i := range f.Metrics {
		if m := &f.Metrics[i]; holds(m.When, chosen) {
			p.Metrics = append(p.Metrics, m.extract())
		}
	}
	return p, nil
}

// allRoles gives the roles, or the single one whose keys stand at the top.
func (f *document) allRoles() []role {
	if f.Roles != nil {
		return f.Roles
	}
	return []role{{roleKeys: f.roleKeys, name: yamlfile.Word{Text: mainRole, At: f.Name.At}}}
}

func (f *document) role(r role, chosen map[string]string, last bool) (Role, error) {
	var firstErr error
	text := func(a argument) string {
		s, err := expand(a.Text, true, func(name string) (string, bool) { v, ok := chosen[name]; return v, ok })
		if err != nil && firstErr == nil {
			firstErr = err
		}
		return s
	}
	out := Role{
		Name: r.name.Text, Line: r.Ready.Line.Text, Host: r.On.Text == "host", Pod: r.Pod.Text,
		Task: probe.TaskArgs{Dir: WorkDir, Hash: last, Report: last},
	}
	for _, e := range slices.Concat(f.Env, r.Env) {
		out.Env = append(out.Env, text(e))
	}
	steps := &out.Task.Steps
	add := func(kind probe.TaskKind, list ...command) {
		for _, c := range list {
			var argv []string
			for _, p := range c.parts {
				if !holds(p.when, chosen) {
					continue
				}
				for _, a := range p.args {
					argv = append(argv, text(a))
				}
			}
			if len(argv) > 0 {
				*steps = append(*steps, probe.TaskStep{Kind: kind, Argv: argv})
			}
		}
	}
	add(probe.TaskPrepare, r.Prepare...)
	add(probe.TaskServe, r.Serve...)
	if a := r.Ready.Port; a.At.Given() {
		s := text(a)
		port, err := strconv.Atoi(s)
		if err != nil || port < 1 || port > 65535 {
			return out, fmt.Errorf("%q is not a port", s)
		}
		*steps = append(*steps, probe.TaskStep{Kind: probe.TaskPort, Port: port})
	}
	if a := r.Ready.File; a.At.Given() {
		*steps = append(*steps, probe.TaskStep{Kind: probe.TaskFile, File: text(a)})
	}
	add(probe.TaskPrepare, r.Fill...)
	if last {
		add(probe.TaskMain, r.Run)
		if n := len(*steps); n == 0 || (*steps)[n-1].Kind != probe.TaskMain {
			return out, fmt.Errorf("with these levels run has no arguments")
		}
		run := &(*steps)[len(*steps)-1]
		run.Status, run.Input, run.Output = int(r.Status.N), text(r.Input), text(r.Output)
	} else {
		*steps = append(*steps, probe.TaskStep{Kind: probe.TaskStay})
	}
	add(probe.TaskCleanup, r.Cleanup...)
	return out, firstErr
}

// holds says whether the levels are among those of a condition.
func holds(when yamlfile.Settings, chosen map[string]string) bool {
	for _, a := range when {
		if !slices.ContainsFunc(a.Levels.List, func(w yamlfile.Word) bool { return w.Text == chosen[a.Key.Text] }) {
			return false
		}
	}
	return true
}

func (f *document) needs(params map[string]string) Needs {
	return Needs{
		Network: f.Needs.Network.On, Detached: f.Needs.Detached.On, Root: f.Needs.Root.On, ICMP: f.Needs.ICMP.On,
		MemoryBytes: f.Needs.Memory.Bytes, DiskBytes: f.room(params), CPUs: int(f.Needs.CPUs.N),
	}
}

func (m *metric) metric() record.Metric {
	title := cmp.Or(m.Title.Text, m.ID.Text)
	out := record.Metric{
		ID: m.ID.Text, Unit: m.Unit.Text, Better: record.Direction(m.Better.Text), Title: title, What: m.What.Text,
	}
	if m.Check.On {
		out.Kind = record.Check
	}
	return out
}

func (m *metric) extract() Extract {
	return Extract{
		Metric: m.metric(), Role: m.Role.Text, JSON: m.JSON.Text, Regexp: m.Regexp.Text,
		Parser: m.Parser.Text, Key: m.Key.Text, Scale: m.Scale.n, All: m.All.Text,
	}
}

// Resolve puts the addresses of the roles that run into the arguments and the
// environment of a role that is to be started. It must be called for every
// role, also where there is not a reference: the escape $${ is replaced only here.
func (r Role) Resolve(addresses map[string]string) (Role, error) {
	var firstErr error
	text := func(s string) string {
		out, err := expand(s, false, func(name string) (string, bool) {
			role, ok := cutAddress(name)
			a := addresses[role]
			return a, ok && a != ""
		})
		if err != nil && firstErr == nil {
			firstErr = fmt.Errorf("role %s: %w", r.Name, err)
		}
		return out
	}
	all := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = text(s)
		}
		return out
	}
	r.Env = all(r.Env)
	steps := slices.Clone(r.Task.Steps)
	for i := range steps {
		s := &steps[i]
		s.Argv, s.File, s.Input, s.Output = all(s.Argv), text(s.File), text(s.Input), text(s.Output)
	}
	r.Task.Steps = steps
	return r, firstErr
}
