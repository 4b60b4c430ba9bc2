package private

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Options say what daemon to start.
type Options struct {
	// Name is unique in the run, [a-z0-9-] only, and short: sockets lie below
	// a directory of this name.
	Name string
	// Configure, where given, writes the daemon's configuration into its own
	// directory and gives the command. Else Argv is the command.
	Configure func(dir string) (argv []string, err error)
	Argv      []string
	// Env is the daemon's environment, K=V, with nothing of ours; PATH is
	// added where it is missing.
	Env []string
	// User runs the daemon; nil is ourselves.
	User *engine.User
	// UserDirs are directories of that user's, by their names in the daemon's
	// own directory, that are there before Configure is called. All else there
	// is ours alone.
	UserDirs []string
	// OwnNamespaces says that the program makes its namespaces itself, as
	// RootlessKit does: it is started in ours.
	OwnNamespaces bool
	// Hide are directories of the host that the daemon sees as empty ones of
	// its own. Only with namespaces of ours.
	Hide []string
	// FileSystems are mount points of loop file systems that the daemon needs;
	// it sees no other of ours. Only with namespaces of ours.
	FileSystems []string
	// Unsynced puts the daemon, and all that it starts, under the filter of
	// probe.Command.Unsynced. Only root's daemon can be.
	Unsynced bool
	// Cgroups are names of cgroups at the top of any hierarchy that the daemon
	// makes; they are removed when it has ended.
	Cgroups []string
	// Reaches are addresses on the host's loopback that the daemon reaches under the same
	// addresses as long as it lives. Only with namespaces of ours.
	Reaches []string
	// Linger is how long it is left alone before it is told to end.
	Linger time.Duration
	// Ready returns nil once the daemon answers. It is called again and again,
	// each time for two seconds at most.
	Ready func(ctx context.Context, d *Daemon) error
	// Limit bounds the start; 0 means 30 s. Grace is between SIGTERM and
	// SIGKILL; 0 means 15 s.
	Limit, Grace time.Duration
}

// UnsyncedFact is the fact fsync of a daemon that is Unsynced.
const UnsyncedFact = "answered at once, by a filter around the daemon and all that it starts"

// Daemon is a daemon of ours.
type Daemon struct {
	Dir string // its own directory: Kit.Dir/private/NAME
	PID int

	kit   *engine.Kit
	opts  Options
	note  *note
	ended chan struct{}
	cut   []func() error // ends what it reaches
	mu    sync.Mutex
	done  bool // Close has succeeded
}

// thing is what the ledger says of the daemon.
func (d *Daemon) thing() engine.Thing {
	return engine.Thing{Kind: engine.KindDaemon, Name: d.note.label()}
}

// Start starts a daemon and waits until it is ready. The error has the last
// words of its log, and nothing of the daemon is left then.
func Start(ctx context.Context, kit *engine.Kit, o Options) (*Daemon, error) {
	o.Limit = child.Stretch(cmp.Or(o.Limit, 30*time.Second))
	o.Grace = cmp.Or(o.Grace, 15*time.Second)
	if !o.OwnNamespaces {
		if err := Root(kit); err != nil {
			return nil, err
		}
	}
	d := &Daemon{kit: kit, opts: o, note: newNote(kit.RunID, o.Name), ended: make(chan struct{})}
	d.note.Cgroups = o.Cgroups
	for _, g := range o.Cgroups {
		if err := d.note.ownGroup(g); err != nil {
			return nil, err
		}
	}
	if o.User != nil && kit.Root {
		d.note.UID = o.User.UID
	}
	if err := kit.Ledger.Made(d.thing()); err != nil {
		return nil, err
	}
	err := d.start(ctx)
	if err == nil {
		return d, nil
	}
	if d.PID == 0 {
		close(d.ended) // it never began
	}
	if _, ok := errors.AsType[*engine.Error](err); !ok {
		err = &engine.Error{Class: record.Unavailable, Text: "starting a private " + o.Name, Err: err}
	}
	return nil, errors.Join(err, d.Close(context.WithoutCancel(ctx)))
}

func (d *Daemon) start(ctx context.Context) (err error) {
	if d.Dir, err = ownFolder(d.kit, d.opts.Name); err != nil {
		return err
	}
	if err := d.note.write(d.Dir); err != nil {
		return err
	}
	for _, name := range d.opts.UserDirs {
		if err := adapter.OwnDir(filepath.Join(d.Dir, name), d.opts.User, d.kit); err != nil {
			return err
		}
	}
	argv := d.opts.Argv
	if d.opts.Configure != nil {
		if argv, err = d.opts.Configure(d.Dir); err != nil {
			return err
		}
	}
	if d.opts.Unsynced {
		argv = probe.Unsynced(d.kit.ProbePath, argv)
	}
	hidden, err := d.hide()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(d.logPath(), os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{adapter.Path}
	if d.opts.User == nil {
		// Killed by a dockerd that lost patience with it, containerd writes its stacks there.
		cmd.Env = append(cmd.Env, "TMPDIR="+d.Dir)
	}
	cmd.Env = append(cmd.Env, d.opts.Env...)
	cmd.Env = append(cmd.Env, markKey+"="+d.note.mark())
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, "/"
	// A session of its own: Ctrl-C is for us, not for the daemon.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if d.kit.Root {
		cmd.SysProcAttr.Credential = adapter.Credential(d.opts.User)
	}
	begin := cmd.Start
	if !d.opts.OwnNamespaces {
		begin = func() error {
			return thread.Own(func() error {
				seal := func() error { return d.note.seal(d.Dir) }
				if err := unshare(hidden, d.opts.FileSystems, seal); err != nil {
					return err
				}
				return cmd.Start()
			})
		}
	}
	if err := begin(); err != nil {
		return err
	}
	d.PID = cmd.Process.Pid
	p, _ := readProcess(d.PID)
	go func() {
		_ = cmd.Wait() // what it ended with, its log says better
		close(d.ended)
	}()
	d.note.PID, d.note.Start = d.PID, p.StartText()
	if err := d.note.write(d.Dir); err != nil {
		return err
	}
	for _, addr := range d.opts.Reaches {
		cut, err := Relay(d.PID, addr)
		if err != nil {
			return err
		}
		d.cut = append(d.cut, cut)
	}
	return d.await(ctx)
}

// await waits for readiness, the daemon's end or the time limit.
func (d *Daemon) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.opts.Limit)
	defer cancel()
	for {
		once, done := context.WithTimeout(ctx, 2*time.Second)
		err := d.opts.Ready(once, d)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-d.ended:
			return d.said("it ended at once")
		case <-ctx.Done():
			why, _ := engine.Reason(err) // what would help the user's daemon helps none of ours
			return d.said(fmt.Sprintf("it was not ready within %v (%s)", d.opts.Limit, why))
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// said is the error of a start that did not succeed.
func (d *Daemon) said(what string) error {
	log, _ := os.ReadFile(d.logPath())
	if len(log) > 16<<10 {
		log = log[len(log)-16<<10:]
	}
	text := fmt.Sprintf("starting a private %s: %s", d.opts.Name, what)
	if words := adapter.Words(log); words != "" {
		text += ": " + words
	}
	return &engine.Error{Class: record.Unavailable, Text: text}
}

func (d *Daemon) logPath() string { return filepath.Join(d.Dir, "log") }

// Log gives the last bytes of what the daemon has logged.
func (d *Daemon) Log(bytes int) string {
	log, _ := os.ReadFile(d.logPath())
	return string(log[max(0, len(log)-bytes):])
}

// Path is a path of the daemon's mount namespace, as we can reach it.
func (d *Daemon) Path(path string) string {
	return filepath.Join("/proc", fmt.Sprint(d.PID), "root", path)
}

// Alive says whether the daemon's first process still runs.
func (d *Daemon) Alive() bool {
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// Close ends the daemon in order: SIGTERM, the grace, then SIGKILL for it and
// whatever it left. It is safe to call twice.
func (d *Daemon) Close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it must end after an interrupt too
	if d.opts.Linger > 0 && d.Alive() {
		select {
		case <-d.ended:
		case <-time.After(d.opts.Linger):
		}
	}
	if d.Alive() {
		if p, ok := readProcess(d.PID); ok {
			if _, err := p.signal(syscall.SIGTERM, d.note.UID); err != nil {
				return err
			}
		}
		select {
		case <-d.ended:
		case <-time.After(d.opts.Grace):
		}
	}
	if d.Dir != "" { // its helpers end a moment after it
		last, cancel := context.WithTimeout(ctx, time.Second)
		d.note.wait(last)
		cancel()
	}
	for _, cut := range d.cut { // after its last words
		_ = cut()
	}
	d.cut = nil
	if d.Dir != "" {
		if err := d.note.finish(ctx, d.Dir); err != nil {
			return fmt.Errorf("ending the private %s: %w", d.opts.Name, err)
		}
	}
	d.done = true
	return d.kit.Ledger.Gone(d.thing())
}

// finish kills what is left of a daemon and removes what it made. A directory
// that can't be removed keeps its note, so that the next sweep finds it.
func (n *note) finish(ctx context.Context, dir string) error {
	if err := n.kill(ctx); err != nil {
		return err
	}
	var errs []error
	for _, name := range n.Cgroups {
		errs = append(errs, n.removeCgroups(name))
	}
	for _, made := range n.Made {
		made.remove()
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return removeFolder(dir)
}
