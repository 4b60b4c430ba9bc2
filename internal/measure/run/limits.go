package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// bound is one limit of the machine, the engine or ourselves, at a moment.
type bound struct {
	class string // record.LimitMemory …
	name  string // what it is called where it is set
	// used of max; for what is left over rather than used up (memory, disk),
	// used is what is taken.
	used, max int64
	keep      int64 // what the guard leaves at least
}

// usage is how far the likely limits are used up, by name.
type usage map[string]bound

// nearly is the share of a limit from which on it counts as exhausted,
// whatever one more container would take; diskFull is that of a disk, which many
// keep nearly full.
const (
	nearly   = 0.98
	diskFull = 0.999
)

// exhaustedOf names the bounds that leave no room for one container more, the
// tightest first. What one takes is learnt from before, when none ran.
func exhaustedOf(before, now usage, containers int) []bound {
	var out []bound
	for name, b := range now {
		if b.max <= 0 {
			continue
		}
		each := float64(0)
		if was, ok := before[name]; ok && containers > 0 {
			each = max(0, float64(b.used-was.used)/float64(containers))
		}
		if was, ok := before[name]; ok && full(was, 0) && each == 0 {
			continue // it was full before the first container, and those came all the same
		}
		if full(b, 1.5*each) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(x, y bound) int {
		return cmp.Or(cmp.Compare(y.share(), x.share()), strings.Compare(x.name, y.name))
	})
	return out
}

func full(b bound, more float64) bool {
	most := nearly
	if b.class == record.LimitDisk {
		most = diskFull
	}
	return float64(b.used)+more >= float64(b.max) || b.share() >= most
}

func (b bound) share() float64 { return float64(b.used) / float64(b.max) }

func (b bound) String() string {
	if b.class == record.LimitMemory || b.class == record.LimitDisk {
		return fmt.Sprintf("%s: %d MiB of %d MiB are taken", b.name, b.used>>20, b.max>>20)
	}
	return fmt.Sprintf("%s: %d of %d are used", b.name, b.used, b.max)
}

// hints are what the kernel's errors mean when an engine hands them on. The
// first that fits counts. A text alone names only what is likely.
var hints = []struct {
	class string
	words []string
}{
	{record.LimitBridge, []string{"exchange full"}},
	{record.LimitInotify, []string{"inotify"}},
	{record.LimitKeys, []string{"session key", "keyring", "keyctl", "disk quota exceeded"}},
	{record.LimitFiles, []string{"too many open files", "file table overflow"}},
	{record.LimitProcesses, []string{"resource temporarily unavailable", "fork", "newosproc", "pthread_create", "retry: no child processes"}},
	{record.LimitLoop, []string{"loop device", "loopback device"}},
	{record.LimitPTY, []string{"pty", "posix_openpt", "/dev/pts"}},
	{record.LimitMemory, []string{"cannot allocate memory", "out of memory", "oom"}},
	{record.LimitDisk, []string{"no space left on device"}},
	{record.LimitNamespaces, []string{"unshare", "user.max_", "namespaces"}},
	{record.LimitMounts, []string{"mount-max", "too many mounts"}},
}

func hintOf(text string) string {
	text = strings.ToLower(text)
	for _, h := range hints {
		if slices.ContainsFunc(h.words, func(w string) bool { return strings.Contains(text, w) }) {
			return h.class
		}
	}
	return ""
}

// nameLimit decides which limit stopped a ramp: the exhausted one that the
// engine's message speaks of, else an exhausted one, else what the message
// hints at, else the engine's own word. nil where nothing is exhausted and
// nothing was said.
func nameLimit(exhausted []bound, now usage, said string) *record.Limit {
	hint := hintOf(said)
	if !slices.ContainsFunc(exhausted, func(b bound) bool { return b.class == hint }) {
		// What failed has given back what it had by the time that we look.
		exhausted = append(tightest(now, hint), exhausted...)
	}
	quote := func(text string) string {
		if said == "" {
			return text
		}
		return text + "; the engine said: " + said
	}
	pick := slices.IndexFunc(exhausted, func(b bound) bool { return b.class == hint })
	// ENOSPC is inotify's watches and the disk's alike, ENOMEM and EAGAIN many things'.
	if pick < 0 && len(exhausted) > 0 {
		pick = 0
	}
	if pick >= 0 {
		b := exhausted[pick]
		return &record.Limit{Class: b.class, Text: quote(b.String()), Used: b.used, Max: b.max}
	}
	switch {
	case said == "":
		return nil
	case hint != "":
		return &record.Limit{Class: hint, Text: "by its message, though no limit that we can read is exhausted; the engine said: " + said}
	}
	return &record.Limit{Class: record.LimitEngine, Text: "no limit that we can read is exhausted; the engine said: " + said}
}

// tight is the share of a limit from which on an engine's words about it are
// believed.
const tight = 0.75

// tightest gives the tightest bound of a class, where it is tight.
func tightest(now usage, class string) []bound {
	var out []bound
	for _, b := range now {
		if b.class == class && b.max > 0 && b.share() >= tight && (out == nil || b.share() > out[0].share()) {
			out = []bound{b}
		}
	}
	return out
}

// blame names the limit behind an error of Hold.
func (a *ramp) blame(err error) *record.Limit {
	text, _ := engine.Reason(err)
	l := cmp.Or(a.exhausted(short(text)), &record.Limit{Class: record.LimitEngine, Text: "the engine said: " + short(text)})
	var e *engine.Error
	if l.Class == record.LimitEngine && errors.As(err, &e) {
		switch e.Class {
		case record.TimeOut:
			l.Class, l.Text = record.LimitTime, fmt.Sprintf("a start took more than the trial limit of %s; the engine said: %s", a.site.limit(), short(text))
		case record.OutOfMemory:
			l.Class = record.LimitMemory
		}
	}
	return l
}

// exhausted looks at the machine's limits as they are now.
func (a *ramp) exhausted(said string) *record.Limit {
	if a.o.virtual {
		return nameLimit(nil, nil, said)
	}
	now := a.usage()
	return nameLimit(exhaustedOf(a.before, now, len(a.held)), now, said)
}

// short keeps a message readable: engines wrap it many times, and its end says
// what happened.
func short(s string) string {
	const most = 400
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return "… " + string(r[len(r)-most:])
	}
	return s
}

// The guard stops a ramp while the machine is still usable.
const (
	guardShare  = 10        // MemAvailable below a tenth of the memory …
	guardMemory = 512 << 20 // … or below this, bytes
	guardTenths = 9         // nine tenths of the processes and files
	ownThreads  = 24        // what we ourselves may still need of them
)

// guard says whether one container more would endanger the machine.
func (a *ramp) guard() *record.Limit {
	if a.o.virtual {
		return nil
	}
	l, err := guardIn(proc.Here, a.what.TouchBytes, guarded())
	if err != nil {
		a.remark("the memory can't be watched: " + err.Error())
	}
	return l
}

// guarded are the bounds that must not be reached: beyond those of the machine
// the processes of our own cgroups, since a Go program that gets no thread
// dies, and its containers would be nobody's.
func guarded() []bound {
	out := machineBounds("/proc")
	for _, b := range (limitsReader{proc: "/proc", sys: "/sys"}).cgroups([]int{os.Getpid()}) {
		if b.class == record.LimitProcesses {
			b.keep = ownThreads
			out = append(out, b)
		}
	}
	return out
}

// guardIn is guardOf by what the kernel tells of the memory. The processors' own lists are
// asked for only where it depends on them, since loads are guarded while they are measured.
func guardIn(d proc.Dir, next int64, machine []bound) (*record.Limit, error) {
	info, err := withoutLists(d)
	if err != nil {
		return nil, err
	}
	l := guardOf(info, next, machine)
	if l != nil && l.Class == record.LimitMemory {
		if all, err := readMeminfo(d); err == nil {
			l = guardOf(all, next, machine)
		}
	}
	return l, nil
}

func guardOf(info meminfo, next int64, machine []bound) *record.Limit {
	keep := max(info.Total/guardShare, guardMemory)
	if info.Available-next < keep {
		return &record.Limit{Class: record.LimitMemory, Guard: true, Used: info.Total - info.Available, Max: info.Total,
			Text: fmt.Sprintf("%d MiB of %d MiB of memory are left, and we leave %d MiB to the machine", info.Available>>20, info.Total>>20, keep>>20)}
	}
	for _, b := range machine {
		if b.max <= 0 {
			continue
		}
		if keep := max(b.max-b.max*guardTenths/10, b.keep); b.used >= b.max-keep {
			return &record.Limit{Class: b.class, Guard: true, Used: b.used, Max: b.max, Text: fmt.Sprintf("%s, and we leave %d", b, keep)}
		}
	}
	return nil
}
