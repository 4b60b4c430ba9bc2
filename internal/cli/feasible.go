//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// room is what this machine has for a plan. What is 0 is not known, and then
// not held against anything.
type room struct {
	cpus         int
	memory, disk int64
	dir          string // where disk is
}

// roomOf looks at the machine.
func roomOf(h record.Host, dir string) room {
	out := room{cpus: h.CPUs, memory: h.Memory, dir: dir}
	for {
		var fs unix.Statfs_t
		if err := unix.Statfs(dir, &fs); err == nil {
			out.disk = int64(fs.Bavail) * fs.Bsize
			return out
		} else if !os.IsNotExist(err) || dir == filepath.Dir(dir) {
			return out
		}
		dir = filepath.Dir(dir) // the state directory is made by the first run
	}
}

// feasible takes out of a plan what this machine has no room for: limits that
// an engine refuses, workloads that need more processors, memory or disk than
// there are, and pulls of images that nobody here can give.
func (s *setting) feasible(p *study.Plan, r room, pulls func(ref string) (bool, string, string)) error {
	info := map[string]engine.Info{}
	for _, e := range s.engines {
		info[e.Info().Name] = e.Info()
	}
	if err := r.refused(p, info); err != nil {
		return err
	}
	if m := p.Protocol.MemoryBytes; r.memory > 0 && m > r.memory {
		p.Remarks = append(p.Remarks, record.Remark{Code: "limit-beyond", Level: "warn",
			Text: fmt.Sprintf("The study's limit is %d MiB of memory and this machine has %d: it bounds nothing here.", m>>20, r.memory>>20)})
	}
	for _, c := range slices.Clone(p.Cells) {
		e, w := p.Environments[c.Env], p.Workloads[c.Workload]
		if info[e.Engine].Simulated {
			continue
		}
		known, err := workload.Of(w)
		if err != nil {
			return err
		}
		reason, fix := r.lacks(known.NeedsOf(w.Params), limitsOf(p, e))
		if ref := imagestore.ReferenceOf(w.Params[engine.Image]); reason == "" && known.Pulls() && ref != "" {
			if ok, why, help := pulls(ref); !ok {
				reason, fix = why, orInstead(help, w.Params[engine.Image])
			}
		}
		if reason == "" {
			continue
		}
		if err := p.DropCell(e.ID, w.ID, study.Unavailable, reason, fix); err != nil {
			return err
		}
	}
	return nil
}

// limitsOf are the limits of an environment in a plan: the study's, or its own.
func limitsOf(p *study.Plan, e record.Environment) engine.Limits {
	_, l, err := engine.Limited(e.Levels, engine.Limits{CPUs: p.Protocol.CPUs, MemoryBytes: p.Protocol.MemoryBytes})
	if err != nil {
		return engine.Limits{} // it is judged when it is opened
	}
	return l
}

// refused takes out what an engine does not start for want of processors, and
// says where a limit bounds nothing.
func (r room) refused(p *study.Plan, info map[string]engine.Info) error {
	if r.cpus <= 0 {
		return nil
	}
	fix := fmt.Sprintf("a study of your own with limits: {cpus: %d}, or a scale that has it", r.cpus)
	for _, e := range slices.Clone(p.Environments) {
		if cpus := limitsOf(p, e).CPUs; cpus > float64(r.cpus) && info[e.Engine].RefusesCPUs {
			fix := fix
			if e.Levels[engine.CPULimit] != "" {
				fix = fmt.Sprintf("%s: %d for this environment, or less", engine.CPULimit, r.cpus)
			}
			reason := fmt.Sprintf("the study's limit is %g CPUs, and %s refuses more than the %d that this machine has", cpus, info[e.Engine].Title, r.cpus)
			if err := p.Drop(e.ID, reason, fix); err != nil {
				return err
			}
		}
	}
	if cpus := p.Protocol.CPUs; cpus > float64(r.cpus) {
		p.Remarks = append(p.Remarks, record.Remark{Code: "limit-beyond", Level: "warn",
			Text: fmt.Sprintf("The study's limit is %g CPUs and this machine has %d: it bounds nothing here, and all share what there is.", cpus, r.cpus), Advice: fix})
	}
	return nil
}

// lacks says what a workload needs and does not get here.
func (r room) lacks(n workload.Needs, p engine.Limits) (reason, fix string) {
	switch {
	case r.cpus > 0 && n.CPUs > r.cpus:
		return fmt.Sprintf("it needs %d CPUs and this machine has %d", n.CPUs, r.cpus), ""
	case p.CPUs > 0 && float64(n.CPUs) > p.CPUs:
		return fmt.Sprintf("it needs %d CPUs and its limit is %g", n.CPUs, p.CPUs), ""
	case r.memory > 0 && n.MemoryBytes > r.memory:
		return fmt.Sprintf("it needs %d MiB of memory and this machine has %d", n.MemoryBytes>>20, r.memory>>20), ""
	case p.MemoryBytes > 0 && n.MemoryBytes > p.MemoryBytes:
		return fmt.Sprintf("it needs %d MiB of memory and its limit is %d", n.MemoryBytes>>20, p.MemoryBytes>>20), ""
	case r.disk > 0 && n.DiskBytes > r.disk:
		return fmt.Sprintf("it needs %d MiB on disk, and %d are free below %s", n.DiskBytes>>20, r.disk>>20, r.dir), "make room there, or choose a smaller size"
	}
	return "", ""
}
