package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
)

// commandLimit is how long one of Slurm's commands may take: on a large site
// the controller may let a command wait for its turn.
const commandLimit = 2 * time.Minute

// Client speaks to the cluster's Slurm by its commands.
type Client struct {
	// Env is what they get; nil is our own environment.
	Env []string
}

// Commands are those that a login node must have.
var Commands = []string{"sbatch", "squeue", "scancel"}

// ErrUnknown says that Slurm does not know a job: it never did, or it has
// ended some minutes ago (MinJobAge) and was forgotten.
var ErrUnknown = errors.New("Slurm knows no such job") //nolint:staticcheck // a name

// Error is a command of Slurm's that has failed, with what it said.
type Error struct {
	Command string
	Said    string
	Err     error
}

func (e *Error) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("%s: %v", e.Command, e.Err)
	}
	return e.Said // it begins with the command's name
}

func (e *Error) Unwrap() error { return e.Err }

// Says tells whether the command said one of these.
func (e *Error) Says(texts ...string) bool {
	said := strings.ToLower(e.Said)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(said, t) })
}

func (c *Client) run(ctx context.Context, argv ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: argv, Env: c.Env, Limit: commandLimit})
	if err == nil {
		return string(out.Stdout), nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("there is no %s on the PATH: `--on slurm` is for a login node of a cluster with Slurm (a site may want `module load slurm` first)", argv[0])
	}
	return "", &Error{Command: argv[0], Said: said(out.Stderr), Err: err}
}

// said is what a command complained of: its lines in one, without those that
// only go on with the first.
func said(stderr []byte) string {
	var lines []string
	for line := range strings.Lines(string(stderr)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// Job is one job, ended or not: as the controller knows it, else as the
// accounting does where there is one, else ErrUnknown.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	if !jobID.MatchString(id) {
		return Job{}, fmt.Errorf("%q is no job's number", id)
	}
	text, err := c.run(ctx, "squeue", "--noheader", "--states=all", "--jobs="+id, "--format="+queueFormat)
	var e *Error
	if err != nil && (!errors.As(err, &e) || !e.Says("invalid job id")) {
		return Job{}, err
	}
	jobs, err := parseJobs("squeue", text)
	if err != nil {
		return Job{}, err
	}
	if j, ok := one(jobs, id); ok {
		return j, nil
	}
	// Most sites have an accounting, and forget it much later.
	text, err = c.run(ctx, "sacct", "--noheader", "--allocations", "--parsable2", "--jobs="+id, "--format="+accountFormat)
	if err != nil {
		if ctx.Err() != nil {
			return Job{}, ctx.Err()
		}
		return Job{}, ErrUnknown // no accounting, or one that is not asked from here
	}
	if jobs, err = parseJobs("sacct", text); err != nil {
		return Job{}, err
	}
	if j, ok := one(jobs, id); ok {
		return j, nil
	}
	return Job{}, ErrUnknown
}

// one is the job of this number; of several, as after it was queued again, the
// last.
func one(jobs []Job, id string) (Job, bool) {
	for _, j := range slices.Backward(jobs) {
		if j.ID == id {
			return j, true
		}
	}
	return Job{}, false
}

// Named are the jobs of this name that have not been forgotten.
func (c *Client) Named(ctx context.Context, name string) ([]Job, error) {
	text, err := c.run(ctx, "squeue", "--noheader", "--states=all", "--name="+name, "--format="+queueFormat)
	if err != nil {
		return nil, err
	}
	return parseJobs("squeue", text)
}

// Nodes says how the nodes of a list of Slurm's are.
func (c *Client) Nodes(ctx context.Context, list string) ([]Node, error) {
	text, err := c.run(ctx, "sinfo", "--noheader", "--Node", "--nodes="+list, "--format=%N|%T")
	if err != nil {
		return nil, err
	}
	return parseNodes(text)
}

// ExitCode is how a job's script has ended, as STATUS:SIGNAL; "" where the
// controller does not say.
func (c *Client) ExitCode(ctx context.Context, id string) string {
	if !jobID.MatchString(id) {
		return ""
	}
	text, err := c.run(ctx, "scontrol", "--oneliner", "show", "job", id)
	if err != nil {
		return ""
	}
	return parseShow(text)["ExitCode"]
}

// Partitions are the names of the cluster's, for messages: nil where they are
// not told.
func (c *Client) Partitions(ctx context.Context) []string {
	text, err := c.run(ctx, "sinfo", "--noheader", "--format=%R")
	if err != nil {
		return nil
	}
	return strings.Fields(text)
}
