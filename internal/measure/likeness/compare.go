package likeness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// compared makes the differences of two lists of facts. What one side does not
// say is no difference.
type compared []record.Difference

func (c *compared) put(env, fact, was, now string, unlike bool) {
	if was != now && was != "" && now != "" {
		*c = append(*c, record.Difference{Env: env, Fact: fact, Was: was, Now: now, Unlike: unlike})
	}
}

// Machines compares two machines, the one of the record first.
func Machines(was, now record.Host) []record.Difference {
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

// Tools compares the programs that measured.
func Tools(was, now record.Tool) []record.Difference {
	var c compared
	c.put("", "plimsoll", was.Version, now.Version, false)
	c.put("", "plimsoll's commit", was.Commit, now.Commit, false)
	c.put("", "plimsoll's compiler", was.Go, now.Go, false)
	c.put("", "plimsoll's probe", was.Probe, now.Probe, false)
	return c
}

// Engines compares what environments say of the programs that make their containers:
// any version, which they are, and the further facts that are named.
func Engines(was, now []record.Environment, further ...string) []record.Difference {
	var c compared
	facts := append([]string{"runtime", "storage", "platform"}, further...)
	for _, a := range was {
		i := slices.IndexFunc(now, func(b record.Environment) bool { return b.ID == a.ID })
		if i < 0 {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(a.Facts)) {
			if k == "api-version" {
				continue // what this program and the engine agreed on
			}
			if strings.HasSuffix(k, "version") || slices.Contains(facts, k) {
				c.put(a.ID, k, a.Facts[k], now[i].Facts[k], true)
			}
		}
	}
	return c
}
