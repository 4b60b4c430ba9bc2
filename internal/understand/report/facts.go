package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// headline names the run.
func headline(res *analyze.Result) string {
	s := words.Clean(res.Run.Study)
	if res.Run.Title != "" {
		s += ": " + words.Clean(res.Run.Title)
	}
	return s
}

// protocol says how the trials were run.
func protocol(res *analyze.Result) string {
	p := res.Run.Protocol
	parts := []string{
		words.Plural(len(res.Environments), "environment"),
		fmt.Sprintf("%s of %s each", blocksOf(res.Run), words.Plural(max(1, p.PerBlock), "trial")),
	}
	if p.Warmup > 0 {
		parts = append(parts, words.Plural(p.Warmup, "warm-up block")+" before, not counted")
	}
	if p.Order != "" {
		parts = append(parts, p.Order+" order")
	}
	if p.Cache != "" {
		parts = append(parts, p.Cache+" cache")
	}
	if levels := levelsIn(res, "cpu-limit"); levels != "" {
		parts = append(parts, "CPU limit "+levels)
	} else if p.CPUs > 0 {
		parts = append(parts, fmt.Sprintf("at most %.3g CPU", p.CPUs))
	}
	if levels := levelsIn(res, "memory-limit"); levels != "" {
		parts = append(parts, "memory limit "+levels)
	} else if p.MemoryBytes > 0 {
		parts = append(parts, "at most "+sizeOf(p.MemoryBytes))
	}
	return strings.Join(parts, ", ")
}

// levelsIn lists the levels of a factor that every environment names; "" where one
// has the study's own.
func levelsIn(res *analyze.Result, factor string) string {
	var levels []string
	for _, e := range res.Environments {
		l := words.Clean(e.Levels[factor])
		if l == "" {
			return ""
		}
		levels = analyze.Also(levels, l)
	}
	return strings.Join(levels, " or ")
}

// blocksOf says how many blocks count, and how many there could have been where
// the number was left open.
func blocksOf(r analyze.RunInfo) string {
	if p := r.Protocol; p.Open() || r.Gate != nil {
		return fmt.Sprintf("%d of at most %s", r.Blocks, words.Plural(p.Blocks, "block"))
	}
	return words.Plural(r.Protocol.Blocks, "block")
}

// machine describes the host.
func machine(h record.Host) string {
	var parts []string
	add := func(format string, v any) {
		if s := strings.TrimSpace(fmt.Sprint(v)); s != "" && s != "0" {
			parts = append(parts, words.Clean(fmt.Sprintf(format, s)))
		}
	}
	add("%s", h.Name)
	add("%s", h.OS)
	add("Linux %s", h.Kernel)
	add("%s", h.Arch)
	add("%s", h.CPU)
	if h.CPUs > 0 {
		parts = append(parts, words.Plural(h.CPUs, "CPU"))
	}
	if h.Memory > 0 {
		parts = append(parts, sizeOf(h.Memory))
	}
	add("cgroup %s", h.Cgroup)
	add("%s", h.FileSystem)
	add("virtual: %s", h.Virtual)
	add("tuned: %s", h.More["tuned"])
	switch {
	case h.Kernel == "":
		// Nobody of ours was there: another program measured.
		parts = append(parts, "otherwise unknown")
		if len(parts) == 1 {
			return "unknown"
		}
	case h.Root:
		parts = append(parts, "as root")
	default:
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
	if t := res.Run.Time; t != nil {
		of := func(ns int64) float64 { return 100 * float64(ns) / float64(t.Wall) }
		s += fmt.Sprintf(" (of the time from first to last trial %.0f %% trials, %.0f %% waiting for a calm machine)", of(t.Trials), of(t.Calm))
	}
	if v := res.Run.Tool.Version; v != "" {
		s += ", plimsoll " + words.Clean(v)
	}
	return s + ", run " + words.Clean(res.Run.ID)
}

// short are the facts that a page has room for, in this order; JSON and
// Markdown have all of them.
var short = []string{
	"version", "endpoint", "client", "runtime", "runtime-version", "storage", "network", "rootless", "user",
	"isolation", "cgroup", "limits", "seccomp-inside", "log-driver", "pulls-from", "simulated",
}

// describe says what an environment is: what is in force, and where nothing
// is known of that, what was asked for.
func describe(e record.Environment, keys []string) string {
	in := map[string]string{}
	maps.Copy(in, e.Levels)
	maps.Copy(in, e.Facts)
	if keys == nil {
		keys = slices.Sorted(maps.Keys(in))
	}
	var parts []string
	for _, k := range keys {
		if in[k] != "" && in[k] != "default" {
			parts = append(parts, words.Clean(k+" "+in[k]))
		}
	}
	if e.Clock == record.ClockForeign {
		parts = append(parts, "clock of its own")
	}
	return strings.Join(parts, ", ")
}

func sizeOf(n int64) string {
	s := words.UnitFor("bytes", []float64{float64(n)})
	return fmt.Sprintf("%.3g %s", float64(n)/s.By, s.Name)
}
