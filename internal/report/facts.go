package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/analyze"
	"plimsoll/internal/record"
)

// headline names the run.
func headline(res *analyze.Result) string {
	s := clean(res.Run.Study)
	if res.Run.Title != "" {
		s += ": " + clean(res.Run.Title)
	}
	return s
}

// protocol says how the trials were run.
func protocol(res *analyze.Result) string {
	p := res.Run.Protocol
	parts := []string{
		plural(len(res.Environments), "environment"),
		fmt.Sprintf("%s of %s each", plural(p.Blocks, "block"), plural(max(1, p.PerBlock), "trial")),
	}
	if p.Warmup > 0 {
		parts = append(parts, plural(p.Warmup, "warm-up block")+" before, not counted")
	}
	if p.Order != "" {
		parts = append(parts, p.Order+" order")
	}
	if p.Cache != "" {
		parts = append(parts, p.Cache+" cache")
	}
	if p.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("at most %.3g CPU", p.CPUs))
	}
	if p.MemoryBytes > 0 {
		parts = append(parts, "at most "+sizeOf(p.MemoryBytes))
	}
	return strings.Join(parts, ", ")
}

// machine describes the host.
func machine(h record.Host) string {
	var parts []string
	add := func(format string, v any) {
		if s := strings.TrimSpace(fmt.Sprint(v)); s != "" && s != "0" {
			parts = append(parts, clean(fmt.Sprintf(format, s)))
		}
	}
	add("%s", h.Name)
	add("%s", h.OS)
	add("Linux %s", h.Kernel)
	add("%s", h.Arch)
	add("%s", h.CPU)
	if h.CPUs > 0 {
		parts = append(parts, plural(h.CPUs, "CPU"))
	}
	if h.Memory > 0 {
		parts = append(parts, sizeOf(h.Memory))
	}
	add("cgroup %s", h.Cgroup)
	add("%s", h.FileSystem)
	add("virtual: %s", h.Virtual)
	if h.Root {
		parts = append(parts, "as root")
	} else {
		parts = append(parts, "not as root")
	}
	return strings.Join(parts, ", ")
}

// when says when, and by which program.
func when(res *analyze.Result) string {
	s := res.Run.Started.UTC().Format("2006-01-02 15:04 UTC")
	if d := res.Run.Finished.Sub(res.Run.Started); !res.Run.Finished.IsZero() && d > 0 {
		s += ", in " + d.Round(time.Second).String()
	}
	if v := res.Run.Tool.Version; v != "" {
		s += ", plimsoll " + clean(v)
	}
	return s + ", run " + clean(res.Run.ID)
}

// describe says what an environment is: its levels and facts.
func describe(e record.Environment) string {
	var parts []string
	for _, m := range []map[string]string{e.Levels, e.Facts} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if m[k] != "" && m[k] != "default" {
				parts = append(parts, clean(k+" "+m[k]))
			}
		}
	}
	if e.Clock == record.ClockForeign {
		parts = append(parts, "clock of its own")
	}
	return strings.Join(slices.Compact(parts), ", ")
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func sizeOf(n int64) string {
	s := scaleFor("bytes", []float64{float64(n)})
	return fmt.Sprintf("%.3g %s", float64(n)/s.by, s.unit)
}
