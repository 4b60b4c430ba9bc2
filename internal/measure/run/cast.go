package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// A cast is the containers of one trial, by role: servers are held until the
// last role has ended, and then ended in the opposite order.
type cast struct {
	benchmark
	o         *openEnv
	seq       int
	dir       string // the host's directory for files=bind; "" otherwise
	limit     time.Duration
	servers   []*server
	addresses map[string]string
	said      probe.Task      // the last role's own account
	sampled   *collect.Series // of the last role
}

// last is the role that is measured.
func (c *cast) last() workload.Role { return c.plan.Roles[len(c.plan.Roles)-1] }

// server is a role that is held.
type server struct {
	role  workload.Role
	word  string
	held  engine.Held
	ended *engine.Result
	// series is taken from when it was ready until the last role has ended.
	series *collect.Watch
	since  int64
}

// outputLimit is what is kept of each stream of a role. More is no output of
// a benchmark.
const outputLimit = 1 << 20

// roleGrace is between SIGTERM and SIGKILL for a server.
const roleGrace = 5 * time.Second

// raise starts all roles but the last, each when the one before it is ready.
func (c *cast) raise(ctx context.Context) error {
	for _, role := range c.plan.Roles[:len(c.plan.Roles)-1] {
		if err := c.hold(ctx, role); err != nil {
			return err
		}
	}
	return nil
}

func (c *cast) hold(ctx context.Context, role workload.Role) error {
	env, err := c.envOf(ctx, role)
	if err != nil {
		return err
	}
	holder, ok := env.(engine.Holder)
	if !ok {
		return c.no("%s can't hold a container for the role %s", c.o.rec.ID, role.Name)
	}
	word := newWord()
	task, err := c.task(role, word)
	if err != nil {
		return err
	}
	held, err := holdGuarded(ctx, holder, task)
	if err != nil {
		return fmt.Errorf("starting the role %s: %w", role.Name, err)
	}
	s := &server{role: role, word: word, held: held}
	c.servers = append(c.servers, s)
	if err := s.await(ctx); err != nil {
		return err
	}
	if !role.Host {
		s.since = stamp.Now()
		s.series = c.watching.begin(c.o, role.Name, word, held)
	}
	place := held.Place()
	switch {
	case place.Address == "" && c.plan.Needs.Network:
		return c.no("the role %s can't be reached: %s", role.Name, place.NoAddress)
	case place.Inner && c.plan.Needs.Network && c.last().Host:
		return c.no("the role %s can't be reached from the host: its address %s lies in a namespace of the engine's own", role.Name, place.Address)
	case place.Address != "":
		c.addresses[role.Name] = place.Address
	}
	return nil
}

// no is a refusal for what can't change within the run.
func (c *cast) no(format string, args ...any) error {
	c.settled = true
	return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf(format, args...)}
}

// envOf is where a role runs: the environment, or the host's own network with
// the programs of the same image.
func (c *cast) envOf(ctx context.Context, role workload.Role) (engine.Environment, error) {
	if !role.Host || c.o.virtual {
		return c.o.env, nil
	}
	return c.onHost(ctx, c.o)
}

// task makes a role's container.
func (c *cast) task(role workload.Role, word string) (engine.Task, error) {
	resolved, err := role.Resolve(c.addresses)
	if err != nil {
		return engine.Task{}, err
	}
	args := resolved.Task
	args.Word = word
	args.Report = true
	argv, err := args.Argv(probePath)
	if err != nil {
		return engine.Task{}, err
	}
	t := engine.Task{
		Name: fmt.Sprintf("plimsoll-%s-%d-%s", c.rec.ID, c.seq, role.Name),
		Argv: argv, Env: resolved.Env, Limit: c.limit, OutputLimit: outputLimit, Checked: c.cold(),
	}
	if len(c.plan.Roles) == 1 {
		t.Name = fmt.Sprintf("plimsoll-%s-%d", c.rec.ID, c.seq)
	}
	dir := ""
	if c.dir != "" {
		if dir, err = ownDir(c.dir, role.Name); err != nil {
			return engine.Task{}, err
		}
	}
	t.Mounts = c.plan.Files.Mounts(dir)
	t.Own, t.ICMP = c.plan.Files == workload.FilesOwn, c.plan.Needs.ICMP
	// Programs put temporary files there where they are told to, and a root
	// file system need not be writable.
	t.Env = append([]string{"TMPDIR=" + workload.WorkDir, "HOME=" + workload.WorkDir}, t.Env...)
	if role.Pod != "" && !role.Host {
		if i := slices.IndexFunc(c.servers, func(s *server) bool { return s.role.Pod == role.Pod }); i >= 0 {
			t.Beside = c.servers[i].held
		}
	}
	return t, nil
}

// ownDir makes a directory that any user inside may write to: a rootless
// container's root is an ordinary user of the host.
func ownDir(parts ...string) (string, error) {
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777|os.ModeSticky)
}

// readyPoll is how often a server's output is looked at: how long a server
// takes to come up is no metric of the trial, so that a poll does.
const readyPoll = 2 * time.Millisecond

// await waits until the server has said that it is ready.
func (s *server) await(ctx context.Context) error {
	line, err := s.pattern()
	if err != nil {
		return err
	}
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		over := false
		select {
		case <-ctx.Done():
			return &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("the role %s was not ready in time", s.role.Name), Err: ctx.Err()}
		case <-s.held.Ended():
			over = true
		case <-tick.C:
		}
		out, errOut := s.held.Output()
		said, perr := probe.ParseTask(out, s.word)
		ready := said.Ready != 0
		if line != nil {
			ready = line.Match(out) || line.Match(errOut)
		}
		switch {
		case over:
			return s.died(said, perr, errOut)
		case ready:
			return nil
		}
	}
}

func (s *server) pattern() (*regexp.Regexp, error) {
	if s.role.Line == "" {
		return nil, nil
	}
	return regexp.Compile("(?m)" + s.role.Line)
}

// died says why a server has ended instead of becoming ready.
func (s *server) died(said probe.Task, perr error, stderr []byte) error {
	text := fmt.Sprintf("the role %s ended before it was ready", s.role.Name)
	class := record.Crash
	if f := failedStep(s.role.Task, said); f != nil {
		class, text = f.Class, text+": "+f.Text
	} else if perr != nil && !errors.Is(perr, probe.ErrTorn) {
		class, text = record.NoProof, text+": "+perr.Error()
	}
	if line := lastLine(stderr); line != "" {
		text += "; the last it said: " + line
	}
	return &engine.Error{Class: class, Text: text}
}

// endSeries ends the servers' series while they still run.
func (c *cast) endSeries(t *record.Trial) {
	for _, s := range c.servers {
		c.keepWatched(t, ended(s.series, s.since), false)
	}
}

// end ends the servers, in the opposite order, and gives the first failure.
func (c *cast) end(ctx context.Context) *record.Failure {
	var failure *record.Failure
	for _, s := range slices.Backward(c.servers) {
		res, err := endGuarded(ctx, s.held, engine.Stop{Grace: roleGrace})
		if err != nil {
			failure = engine.FailureOf(err)
		}
		s.ended = &res
		if res.Failure != nil && failure == nil {
			failure = &record.Failure{Class: res.Failure.Class, Text: "ending the role " + s.role.Name + ": " + res.Failure.Text}
		}
	}
	if c.dir != "" {
		if err := safepath.RemoveAll(c.dir); err != nil && failure == nil {
			failure = &record.Failure{Class: record.UncleanEnd, Text: "removing the directory of the trial: " + err.Error()}
		}
	}
	return failure
}
