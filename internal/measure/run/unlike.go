package run

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// UnlikeError is a run that would be gone on with on another machine, kernel
// or engine than it was begun on. Nothing of its record was changed.
type UnlikeError struct {
	RunID   string
	Differs []record.Difference
}

func (e *UnlikeError) Error() string {
	var list []string
	for _, d := range e.Differs {
		list = append(list, d.String())
	}
	return fmt.Sprintf("run %s can't be resumed here: this machine differs from what it was measured on (%s)", e.RunID, strings.Join(list, "; "))
}

// compared makes the differences of two lists of facts. What one side does not
// say is no difference.
type compared []record.Difference

func (c *compared) put(env, fact, was, now string, unlike bool) {
	if was != now && was != "" && now != "" {
		*c = append(*c, record.Difference{Env: env, Fact: fact, Was: was, Now: now, Unlike: unlike})
	}
}

// machinesDiffer compares two machines, the one of the record first.
func machinesDiffer(was, now record.Host) []record.Difference {
	var c compared
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	c.put("", "machine", was.Name, now.Name, true)
	c.put("", "architecture", was.Arch, now.Arch, true)
	c.put("", "cpu", was.CPU, now.CPU, true)
	c.put("", "cpus", number(int64(was.CPUs)), number(int64(now.CPUs)), true)
	// The same kernel on the same machine keeps a little more or less for itself.
	if d := was.Memory - now.Memory; max(d, -d) > was.Memory/100 {
		c.put("", "memory", number(was.Memory), number(now.Memory), true)
	}
	c.put("", "virtual", was.Virtual, now.Virtual, true)
	c.put("", "kernel", was.Kernel, now.Kernel, true)
	c.put("", "cgroup", was.Cgroup, now.Cgroup, true)
	c.put("", "os", was.OS, now.OS, false)
	c.put("", "filesystem", was.FileSystem, now.FileSystem, false)
	for _, k := range slices.Sorted(maps.Keys(was.More)) {
		c.put("", k, was.More[k], now.More[k], false)
	}
	return c
}

func toolsDiffer(was, now record.Tool) []record.Difference {
	var c compared
	c.put("", "plimsoll", was.Version, now.Version, false)
	c.put("", "plimsoll's commit", was.Commit, now.Commit, false)
	c.put("", "plimsoll's compiler", was.Go, now.Go, false)
	c.put("", "plimsoll's probe", was.Probe, now.Probe, false)
	return c
}

// enginesDiffer compares what environments say of the programs that make their
// containers: any version, and which they are.
func enginesDiffer(was, now []record.Environment) []record.Difference {
	var c compared
	for _, a := range was {
		i := slices.IndexFunc(now, func(b record.Environment) bool { return b.ID == a.ID })
		if i < 0 {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(a.Facts)) {
			if strings.HasSuffix(k, "version") || slices.Contains([]string{"runtime", "storage", "platform"}, k) {
				c.put(a.ID, k, a.Facts[k], now[i].Facts[k], true)
			}
		}
	}
	return c
}

// likeness refuses to go on where something is unlike that times depend on,
// unless that is wanted; all that differs is kept in the record then, with the
// facts as they were. was is the record as it stands.
func (r *runner) likeness(was *record.Run, differs []record.Difference) error {
	unlike := slices.DeleteFunc(slices.Clone(differs), func(d record.Difference) bool { return !d.Unlike })
	if len(r.writer.Complete()) == 0 || len(differs) == 0 {
		return nil // nothing was measured by what is gone, or it is the same
	}
	if len(unlike) > 0 && !r.Unlike {
		r.unchanged = true
		return &UnlikeError{RunID: was.ID, Differs: unlike}
	}
	if n := len(r.rec.Earlier); n == 0 || !r.rec.Earlier[n-1].Until.Equal(r.begun) {
		r.rec.Earlier = append(r.rec.Earlier, record.Earlier{Until: r.begun, Host: was.Host, Tool: was.Tool})
	}
	e := &r.rec.Earlier[len(r.rec.Earlier)-1]
	e.Differs = append(e.Differs, differs...)
	for _, env := range was.Environments {
		if slices.ContainsFunc(differs, func(d record.Difference) bool { return d.Env == env.ID }) {
			if e.Facts == nil {
				e.Facts = map[string]map[string]string{}
			}
			e.Facts[env.ID] = env.Facts
		}
	}
	return nil
}

// earlierRemarks keeps what doctor said to earlier parts of a run and does not
// say now.
func earlierRemarks(was, now []record.Remark) []record.Remark {
	for _, m := range was {
		if !slices.ContainsFunc(now, func(n record.Remark) bool { return n.Code == m.Code }) {
			now = append(now, m)
		}
	}
	return now
}
