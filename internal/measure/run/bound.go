package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/mpi"
	"plimsoll/internal/measure/place"
	"plimsoll/internal/record"
)

// hostLibrary is this machine's MPI library, which is gathered once a run, for the
// first trial that wants it.
type hostLibrary struct {
	got *mpi.Host
	err error
}

// hostName is the directory's name in the run's folder, and its mount point's in
// the ranks' working directory, since not every image has another.
const hostName = "host-mpi"

// boundAt is where ranks see it.
const boundAt = image.WorkDir + "/" + hostName

func (h *hostLibrary) gather(ctx context.Context, dir string, look place.Look, getenv func(string) string) (*mpi.Host, error) {
	if h.got != nil || h.err != nil {
		return h.got, h.err
	}
	dir = filepath.Join(dir, hostName)
	got, err := mpi.Gather(ctx, dir, look, getenv)
	if ctx.Err() != nil { // the next trial may try again
		return nil, errors.Join(ctx.Err(), safepath.RemoveAll(dir))
	}
	if err != nil {
		h.err = &engine.Error{Class: record.Unavailable, Text: "the host's MPI library can't be bound into containers", Fix: "apt-get install openmpi-bin", Err: err}
		return nil, h.err
	}
	h.got = got
	return got, nil
}

// bind makes ranks load the host's library: its directory is bound below their
// working directory, and variables that the launcher does not see lead to it.
func (j *ranked) bind(ctx context.Context, ranks *engine.Ranks, task *engine.Task) error {
	h, err := j.host.gather(ctx, j.kit.Dir, j.look, j.kit.Getenv)
	if err != nil {
		j.settled = ctx.Err() == nil
		return err
	}
	if err := os.Mkdir(filepath.Join(j.work, hostName), 0o755); err != nil { //nolint:gosec // a mount point
		return err
	}
	j.bound = h
	task.Mounts = append(task.Mounts, engine.Mount{Kind: engine.Bind, Source: h.Dir, Target: boundAt})
	ranks.Inside = h.Env(boundAt)
	return nil
}

// mismatch says why the ranks could not load the host's library; "" where that
// was not it.
func (j *ranked) mismatch(said []place.Output) string {
	if j.bound == nil {
		return ""
	}
	for _, o := range said {
		for _, text := range [][]byte{o.Stderr, o.Stdout} {
			if why := j.bound.Refused(text); why != "" {
				return why
			}
		}
	}
	return ""
}
