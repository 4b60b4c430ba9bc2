package trace

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// waiting is where a thread waits now, as the kernel's functions; what runs has none.
func (g *gathering) waiting(pid, tid int) []int {
	task := filepath.Join("/proc", strconv.Itoa(pid), "task", strconv.Itoa(tid))
	b, err := os.ReadFile(filepath.Join(task, "stack"))
	if err != nil {
		return nil // it has just ended, or this kernel does not tell
	}
	var stack []int
	for line := range strings.Lines(string(b)) {
		// [<0>] do_wait+0x5a/0xd0
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, _, _ = strings.Cut(name, "+")
		if name, _, _ = strings.Cut(name, "."); name != "" {
			stack = append(stack, g.frame(name))
		}
	}
	if g.sleeps(stack) {
		if b, err := os.ReadFile(filepath.Join(task, "syscall")); err == nil {
			// The last is where in its program the thread is.
			f := strings.Fields(string(b))
			if at, err := strconv.ParseUint(f[len(f)-1], 0, 64); err == nil {
				g.dozes = append(g.dozes, doze{tid, pid, at})
			}
		}
	}
	return stack
}

// frame is the number of a function.
func (g *gathering) frame(name string) int {
	i, ok := g.frames[name]
	if !ok {
		i = len(g.names)
		g.names, g.frames[name] = append(g.names, name), i
	}
	return i
}

// sleeps says whether a stack is that of a thread that asked for a pause.
func (g *gathering) sleeps(stack []int) bool {
	return slices.ContainsFunc(stack, func(f int) bool { return g.names[f] == "hrtimer_nanosleep" })
}

// doze is a pause in which a thread was before the start, of which it is to be found out
// who asked for it: once nothing is followed any more, since for that programs' files
// are read.
type doze struct {
	thread, pid int
	at          uint64 // where in its program the thread is
}

// nap is a pause, of which it is to be found out who asked for it.
type nap struct {
	event, pid int
	at         uint64 // where in its program the thread was
}

// goSleep is the function by which Go's runtime makes pauses of its own: the thread
// that looks after the others does so, and no program's time.Sleep.
const goSleep = "runtime.usleep"

func (p *programs) ownSleep(pid int, at uint64) bool {
	_, function := p.of(pid, at)
	return strings.HasPrefix(function, goSleep)
}

// nameNaps adds to the stacks of pauses that Go's runtime makes the function that does.
func (g *gathering) nameNaps() {
	for _, n := range g.naps {
		if g.programs.ownSleep(n.pid, n.at) {
			e := &g.events[n.event]
			e.Stack = append(e.Stack, g.frame(goSleep))
		}
	}
	g.naps = nil
}
