package workload

import (
	"fmt"
	"regexp"
	"slices"

	"plimsoll/internal/common/yamlfile"
)

// roles checks the roles, or the single one whose keys stand at the top.
func (c *checker) roles(top yamlfile.Pos) {
	f := c.f
	if f.Roles == nil {
		c.role(&role{roleKeys: f.roleKeys, at: top, name: yamlfile.Word{Text: mainRole}}, nil, true)
		return
	}
	if at, key := f.first(); at.Given() {
		c.Add(at, fmt.Sprintf("%s can't stand next to roles", key), "it in one of the roles: at the top it is of a workload with a single one")
	}
	var before []*role
	for i := range f.Roles {
		c.role(&f.Roles[i], before, i == len(f.Roles)-1)
		before = append(before, &f.Roles[i])
	}
}

// first gives the first key that only a role has.
func (k *roleKeys) first() (yamlfile.Pos, string) {
	list := func(cs []command) yamlfile.Pos {
		if len(cs) > 0 {
			return cs[0].at
		}
		return yamlfile.Pos{}
	}
	for _, x := range []struct {
		at  yamlfile.Pos
		key string
	}{
		{k.On.At, "on"}, {k.Pod.At, "pod"}, {list(k.Prepare), "prepare"}, {list(k.Serve), "serve"}, {k.Ready.at, "ready"},
		{list(k.Fill), "fill"}, {k.Run.at, "run"}, {k.Status.At, "status"}, {k.Input.At, "input"}, {k.Output.At, "output"},
		{list(k.Cleanup), "cleanup"},
	} {
		if x.at.Given() {
			return x.at, x.key
		}
	}
	return yamlfile.Pos{}, ""
}

func (c *checker) role(r *role, before []*role, last bool) {
	name := "role " + r.name.Text
	if c.f.Roles == nil {
		name = "the workload"
	}
	switch {
	case last && !r.Run.at.Given():
		c.Add(r.at, name+" has no key \"run\"", "run: [program, argument, …]")
	case !last && r.Run.at.Given():
		c.Add(r.Run.at, name+" has a command that is measured", "only servers before the last role: serve instead of run")
	}
	if !last {
		for _, x := range []struct {
			at  yamlfile.Pos
			key string
		}{{r.Status.At, "status"}, {r.Input.At, "input"}, {r.Output.At, "output"}} {
			if x.at.Given() {
				c.Add(x.at, fmt.Sprintf("%s has %s", name, x.key), "it in the last role: it belongs to run")
			}
		}
		if r.On.Text == "host" {
			c.Add(r.On.At, name+" is a server on the host", "on: host in the last role: the host has no one address that all containers reach")
		}
	}
	c.ready(r, name, last)
	c.references(r, before)
}

func (c *checker) ready(r *role, name string, last bool) {
	ways := 0
	for _, at := range []yamlfile.Pos{r.Ready.Port.At, r.Ready.File.At, r.Ready.Line.At} {
		if at.Given() {
			ways++
		}
	}
	switch given := r.Ready.at.Given(); {
	case !given && len(r.Serve) > 0:
		c.Add(r.Serve[0].at, name+" serves and does not say when it is ready", "ready: {port: 80}, {file: /work/up} or {line: 'regular expression'}")
	case given && len(r.Serve) == 0:
		c.Add(r.Ready.at, name+" has ready without serve", "serve: [[program, argument, …]]")
	case given && ways != 1:
		c.Add(r.Ready.at, fmt.Sprintf("ready has %d conditions", ways), "one of port, file and line")
	}
	if l := r.Ready.Line; l.At.Given() {
		if last {
			c.Add(l.At, name+" waits for a line of its own server", "port or file: only the output of a container of its own is watched")
		}
		if _, err := regexp.Compile(l.Text); err != nil {
			c.Add(l.At, err.Error(), "a regular expression (RE2)")
		}
	}
}

var isEnv = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`).MatchString

// references checks what ${…} names, and the conditions on the way.
func (c *checker) references(r *role, before []*role) {
	valid := c.f.parameterNames()
	for _, b := range before {
		valid = append(valid, b.name.Text+addressOf)
	}
	text := func(a argument) {
		names, err := references(a.Text)
		if err != nil {
			c.Add(a.At, err.Error(), `"}", or "$${" for the characters themselves`)
		}
		for _, n := range names {
			if !slices.Contains(valid, n) {
				if len(valid) == 0 {
					c.Add(a.At, "unknown reference "+yamlfile.Quote(n), "none: the workload has neither parameters nor servers before this role")
				} else {
					c.Unknown(a.At, "reference", n, valid)
				}
			}
			if _, ok := cutAddress(n); ok {
				c.f.Needs.Network.On = true
			}
		}
	}
	for _, e := range slices.Concat(c.f.Env, r.Env) {
		text(e)
		if !isEnv(e.Text) {
			c.Add(e.At, "env has "+yamlfile.Quote(e.Text), "NAME=value")
		}
	}
	commands := slices.Concat(r.Prepare, r.Serve, r.Fill, r.Cleanup)
	for _, cmd := range append(commands, r.Run) {
		for _, p := range cmd.parts {
			c.when(p.when, "when")
			for _, a := range p.args {
				text(a)
			}
		}
	}
	for _, a := range []argument{r.Ready.Port, r.Ready.File, r.Input, r.Output} {
		text(a)
		if names, _ := references(a.Text); slices.ContainsFunc(names, func(n string) bool { _, ok := cutAddress(n); return ok }) {
			c.Add(a.At, yamlfile.Quote(a.Text)+" holds an address", "addresses only in commands and env")
		}
	}
	for _, a := range []argument{r.Ready.File, r.Input, r.Output} {
		if a.At.Given() && a.Text != "" && a.Text[0] != '/' && a.Text[0] != '$' {
			c.Add(a.At, yamlfile.Quote(a.Text), "an absolute path, such as "+WorkDir+"/file")
		}
	}
}
