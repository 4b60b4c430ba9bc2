package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/stamp"
)

// The parts of the blind tests are this test's own binary under other names, in the
// places of an engine's programs: each does some work that the engine does not, times
// it, and becomes the program in whose place it stands.
var blindParts = map[string]func(job){
	"mounting-runtime":         mountMany,
	"containerd-shim-blind-v2": syncOften,
	"slow-logger":              logSlowly,
	"log-reader":               readSlowly,
	"locking-runtime":          lockFirst,
	"lock-holder":              holdLock,
}

// job is what a part is told, by a file beside it: it has no other way to tell, since
// an engine gives it its arguments and its environment.
type job struct {
	Next string // the program that it becomes
	Verb string // what that is told to do when the work is done; "": anything
	File string // what is written, locked or read
	Log  string // where the part says how long its work took
	NS   int64  // how long it holds or waits
}

// place puts a part into a directory.
func (j job) place(dir, name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	b, err := json.Marshal(j)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path+".job", b, 0o600); err != nil {
		return "", err
	}
	return path, os.Symlink(self, path)
}

// blindPart does what the part is for as which this binary was started, if it is one.
func blindPart() {
	do, ok := blindParts[filepath.Base(os.Args[0])]
	if !ok {
		return
	}
	var j job
	b, err := os.ReadFile(os.Args[0] + ".job")
	must(err)
	must(json.Unmarshal(b, &j))
	if j.Verb == "" || slices.Contains(os.Args[1:], j.Verb) {
		do(j)
	}
	if j.Next != "" {
		must(unix.Exec(j.Next, append([]string{j.Next}, os.Args[1:]...), os.Environ()))
	}
	os.Exit(0)
}

// timed does the work, and notes how long it took, without what it waited for a
// processor meanwhile: that has a name of its own on the way.
func (j job) timed(work func()) { note(j.Log, strconv.FormatInt(took(work), 10)) }

// took is how long work took, ns.
func took(work func()) int64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	waited, from := queued(), stamp.Now()
	work()
	to := stamp.Now()
	return to - from - (queued() - waited)
}

// note writes a line about the work.
func note(log, line string) {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	_, err = fmt.Fprintln(f, line)
	must(err)
	must(f.Close())
}

// queued is how long this thread has waited for a processor so far, ns
// (Documentation/scheduler/sched-stats.rst of the kernel).
func queued() int64 {
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	must(err)
	var ran, waited int64
	_, err = fmt.Sscan(string(b), &ran, &waited)
	must(err)
	return waited
}

const mounts = 1000

// mountMany makes mounts that nobody needs, in a mount namespace that the program then
// has too.
func mountMany(j job) {
	runtime.LockOSThread()
	must(unix.Unshare(unix.CLONE_NEWNS))
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	j.timed(func() {
		for range mounts {
			must(unix.Mount(j.File, j.File, "", unix.MS_BIND, ""))
		}
	})
}

const syncs = 40

// spell is what a thread worked in one start, and how the kernel counted that.
type spell struct {
	Thread int
	Spans  [][2]int64 // from, to: CLOCK_MONOTONIC, ns
	Ran    int64      // how much of that it had a processor, ns
	Waits  int64      // how often it gave that back by itself, in order to wait
}

// computed is how long this thread has had a processor so far, ns.
func computed() int64 {
	var t unix.Timespec
	must(unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return t.Nano()
}

// gaveBack is how often this thread has given its processor back by itself.
func gaveBack() int64 {
	var u unix.Rusage
	must(unix.Getrusage(unix.RUSAGE_THREAD, &u))
	return u.Nvcsw
}

// syncOften writes a file through to the disk.
func syncOften(j job) {
	f, err := os.OpenFile(j.File, os.O_CREATE|os.O_WRONLY, 0o600)
	must(err)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := spell{Thread: unix.Gettid()}
	for range syncs {
		_, err := f.Write(make([]byte, 4096))
		must(err)
		waits, ran, from := gaveBack(), computed(), stamp.Now()
		must(unix.Fsync(int(f.Fd()))) //nolint:gosec // a descriptor is small
		w.Spans = append(w.Spans, [2]int64{from, stamp.Now()})
		w.Ran += computed() - ran
		w.Waits += gaveBack() - waits
	}
	line, err := json.Marshal(w)
	must(err)
	note(j.Log, string(line))
	must(f.Close())
}

// logSlowly is a log driver of containerd's shim (a "binary" one): it has the
// container's output at 3 and 4, and by closing 5 it says that it is ready.
func logSlowly(j job) {
	j.timed(func() { pause(j.NS) })
	must(unix.Close(5))
	for fd := uintptr(3); fd < 5; fd++ {
		_, _ = io.Copy(io.Discard, os.NewFile(fd, "output"))
	}
}

// readSlowly reads what is written to a named pipe, again and again: each time it
// lets it become full, and pauses.
func readSlowly(j job) {
	b := make([]byte, 1<<20)
	for {
		f, err := os.Open(j.File)
		must(err)
		fd := int(f.Fd()) //nolint:gosec // a descriptor is small
		for last, same := -1, 0; same < 5; pause(1e6) {
			n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
			must(err)
			if same++; n != last || n < 32<<10 {
				last, same = n, 0
			}
		}
		j.timed(func() { pause(j.NS) })
		for n := 1; n > 0; {
			must(uninterrupted(func() (err error) {
				n, err = unix.Read(fd, b)
				return err
			}))
		}
		must(f.Close())
	}
}

// lockFirst takes a lock on a file, and gives it back at once. Its thread executes what
// comes after: which of a Go program's threads goes on after a wait is told elsewhere.
func lockFirst(j job) {
	runtime.LockOSThread()
	f, err := os.OpenFile(j.File, os.O_CREATE|os.O_RDONLY, 0o600)
	must(err)
	fd := int(f.Fd()) //nolint:gosec // a descriptor is small
	from := stamp.Now()
	must(uninterrupted(func() error { return unix.Flock(fd, unix.LOCK_EX) }))
	line, err := json.Marshal(spell{Thread: unix.Gettid(), Spans: [][2]int64{{from, stamp.Now()}}})
	must(err)
	must(f.Close())
	note(j.Log, string(line))
}

// holdLock holds a lock on a file for a while, again and again, on one thread.
func holdLock(j job) {
	runtime.LockOSThread()
	f, err := os.OpenFile(j.File, os.O_CREATE|os.O_RDONLY, 0o600)
	must(err)
	fd := int(f.Fd()) //nolint:gosec // a descriptor is small
	for {
		must(uninterrupted(func() error { return unix.Flock(fd, unix.LOCK_EX) }))
		pause(j.NS)
		must(unix.Flock(fd, unix.LOCK_UN))
		pause(2e6)
	}
}

// pause sleeps in the kernel: time.Sleep would leave that to Go's scheduler.
func pause(ns int64) {
	left := unix.NsecToTimespec(ns)
	must(uninterrupted(func() error { return unix.Nanosleep(&left, &left) }))
}

// uninterrupted does a system call again that a signal ended: Go's scheduler sends its own
// threads some.
func uninterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR { //nolint:errorlint // an errno, as it is
			return err
		}
	}
}
