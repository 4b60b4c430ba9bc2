//go:build linux

package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerd/ctrtest"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/understand/timeline"
)

// How much the parts do.
const (
	manyMounts = 1000
	manySyncs  = 100
	heldFor    = 20e6 // ns
	readyAfter = 20e6 // ns
)

// TestDelaysOfWorkExplained puts work into a start that the engine does not do: a thousand
// mounts at a runtime, fsyncs in a shim, a log driver that is slow to be ready, a lock that
// another process holds. The timeline finds each at that program and by its name, to a tenth
// of what the program's own stopwatch says.
func TestDelaysOfWorkExplained(t *testing.T) {
	delayed(t)
	t.Run("mounts", func(t *testing.T) {
		crun := ctrtest.Needs(t, "crun")
		path, log := part{name: "mounting-crun", next: crun, word: "create", file: mounted(t, manyMounts), work: fmt.Sprintf("MOUNTS=%d", manyMounts)}.made(t)
		w := worked{log: log, program: "mounting-crun create", causes: []string{"in mount"}, too: true} // crun mounts as well
		w.found(t, hereAsItIs, oci.New(oci.WithRuntime("crun", path)), append([]string{"oci", "runtime=crun", "client=steps"}, expedited(t)...)...)
	})
	t.Run("shim", func(t *testing.T) {
		const name = "containerd-shim-syncing-v2"
		path, log := part{name: name, next: ctrtest.Needs(t, "containerd-shim-runc-v2"), word: "start", file: filepath.Join(t.TempDir(), "written"),
			work: fmt.Sprintf("SYNCS=%d", manySyncs)}.made(t)
		w := worked{log: log, program: name, causes: []string{"fsync", "in pwrite64"}, too: true} // containerd's database is written through too
		w.found(t, hereAsItIs, nil, append([]string{"--"}, ctrtest.Start(t, "--runtime", path)...)...)
	})
	t.Run("log-driver", func(t *testing.T) {
		path, log := part{name: "slow-logger", work: fmt.Sprintf("READY=%.0f", readyAfter)}.made(t)
		w := worked{log: log, program: "slow-logger", causes: []string{"a pause that it makes itself"}}
		w.found(t, hereAsItIs, nil, append([]string{"--"}, ctrtest.Start(t, "--log-uri", "binary://"+path)...)...)
	})
	lock := func(how, holder string) func(t *testing.T) {
		return func(t *testing.T) {
			crun := ctrtest.Needs(t, "crun")
			file, ask := lockHolder(t, heldFor, how)
			path, log := part{name: "locking-crun", next: crun, word: "create", file: file, ask: ask, work: "LOCKS=1", how: how}.made(t)
			w := worked{log: log, program: holder, causes: []string{"a pause that it makes itself"}}
			w.found(t, hereAsItIs, oci.New(oci.WithRuntime("crun", path)), append([]string{"oci", "runtime=crun", "client=steps"}, expedited(t)...)...)
		}
	}
	t.Run("lock", lock("", "lock-holder, which has a lock on a file"))
	t.Run("futex", lock("SHARED", "lock-holder"))
}

// worked is work that a start waits for, by the log of its stopwatch: below programs of this
// name as much time goes into causes of these names, and none elsewhere, but where the
// engine does the like too.
type worked struct {
	log, program string
	causes       []string
	too          bool
}

func (k worked) found(t *testing.T, like World, e engine.Engine, asked ...string) {
	t.Helper()
	state := t.TempDir()
	quietly(t, func() string {
		require.NoError(t, os.RemoveAll(k.log))
		x := explained(t, state, like, e, append([]string{"--starts", "20"}, asked...))
		took := paused(t, k.log) * 1e9
		got, all := float64(spent(x.Tree, k.program, k.causes, false)), float64(spent(x.Tree, "", k.causes, true))
		said := fmt.Sprintf("%.2f ms in %s: %.2f ms are found there, in a start of %.1f ms, %.1f %% of which have no cause",
			took/1e6, k.program, got/1e6, x.NS/1e6, 100*float64(x.UnexplainedNS)/float64(x.Tree.NS))
		if math.Abs(got-took) > took/10 {
			return said + ":\n" + drawn(x.Tree, x.Tree.NS/200, "")
		}
		if elsewhere := all - got; !k.too && elsewhere > took/10 {
			return fmt.Sprintf("%s, and %.2f ms elsewhere", said, elsewhere/1e6)
		}
		t.Log(said)
		return ""
	})
}

// spent sums the time below programs of a name that went into causes of some names, ns.
func spent(s *timeline.Step, program string, causes []string, inside bool) (ns int64) {
	if s.Cause {
		if inside && slices.ContainsFunc(causes, func(c string) bool { return strings.Contains(s.Name, c) }) {
			return s.NS
		}
		return 0
	}
	for _, b := range s.Steps {
		ns += spent(b, program, causes, inside || program != "" && strings.Contains(b.Name, program))
	}
	return ns
}

// drawn is a tree of steps that take at least so long, ns.
func drawn(s *timeline.Step, least int64, indent string) string {
	text := fmt.Sprintf("%s%s %.2f ms\n", indent, s.Name, float64(s.NS)/1e6)
	for _, b := range s.Steps {
		if b.NS >= least {
			text += drawn(b, least, indent+"  ")
		}
	}
	return text
}

// otherConmon is a world in which Podman's monitor does some work where it keeps a log.
func otherConmon(t *testing.T, work string) (like World, log string) {
	t.Helper()
	program := ctrtest.Needs(t, "podman")
	path, log := part{name: "slow-conmon", next: ctrtest.Needs(t, "conmon"), word: "k8s-file:", work: work}.made(t)
	own := filepath.Join(t.TempDir(), "podman")
	require.NoError(t, os.WriteFile(own, fmt.Appendf(nil, "#!/bin/sh\nexec %q --conmon %q \"$@\"\n", program, path), 0o755)) //nolint:gosec // it is executed
	like = hereAsItIs
	like.LookPath = func(name string) (string, error) {
		if name == "podman" {
			return own, nil
		}
		return exec.LookPath(name)
	}
	return like, log
}

// TestDelaysOfWorkAblated: the same work at a runtime, or in what keeps a log, is what
// taking that mechanism away saves, to a tenth or within the interval.
func TestDelaysOfWorkAblated(t *testing.T) {
	delayed(t)
	more := func(t *testing.T, mechanism string, p func(work string) (World, engine.Engine, string), some, none string, asked ...string) {
		t.Helper()
		withIt, slow, log := p(some)
		withoutIt, quick, _ := p(none)
		asked = append(append(asked, "--mechanism", mechanism), expedited(t)...)
		quietly(t, func() string {
			require.NoError(t, os.RemoveAll(log))
			with, without := costsAlone(t, withIt, slow, asked...), costsAlone(t, withoutIt, quick, asked...)
			return moreBy(t, mechanism, with[mechanism], without[mechanism], nil, paused(t, log)*1e9)
		})
	}
	runtime := func(p part) func(string) (World, engine.Engine, string) {
		return func(work string) (World, engine.Engine, string) {
			p.name, p.next, p.word, p.work = "runc", ctrtest.Needs(t, "runc"), "create", work
			path, log := p.made(t)
			return hereAsItIs, oci.New(oci.WithRuntime("runc", path)), log
		}
	}
	t.Run("mounts", func(t *testing.T) {
		ctrtest.Needs(t, "crun")
		more(t, "runtime", runtime(part{file: mounted(t, manyMounts), how: "UNDONE"}), fmt.Sprintf("MOUNTS=%d", manyMounts), "MOUNTS=0", "oci", "client=steps", "--blocks", "30")
	})
	t.Run("syncs", func(t *testing.T) {
		ctrtest.Needs(t, "crun")
		more(t, "runtime", runtime(part{file: filepath.Join(t.TempDir(), "written")}), fmt.Sprintf("SYNCS=%d", manySyncs), "SYNCS=0", "oci", "client=steps", "--blocks", "30")
	})
	t.Run("lock", func(t *testing.T) {
		ctrtest.Needs(t, "crun")
		file, ask := lockHolder(t, heldFor, "")
		more(t, "runtime", runtime(part{file: file, ask: ask}), "LOCKS=1", "LOCKS=0", "oci", "client=steps", "--blocks", "30")
	})
	t.Run("log", func(t *testing.T) {
		more(t, "log-file", func(work string) (World, engine.Engine, string) {
			like, log := otherConmon(t, work)
			return like, podman.New(), log
		}, fmt.Sprintf("PAUSES=%.0f", readyAfter), "PAUSES=0", "podman", "network=none", "--blocks", "20")
	})
}
