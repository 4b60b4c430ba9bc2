//go:build linux

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/understand/report"
)

// bisectStateVersion is that of the format of bisectState.
const bisectStateVersion = 1

// bisectState is a search as it stands, so that one that was cut off goes on.
type bisectState struct {
	Version int `json:"plimsoll-bisect"`
	// Asked is what was searched for.
	Asked bisectAsked `json:"asked"`
	Good  string      `json:"good"`
	Bad   string      `json:"bad"`
	// Given is the good commit that was asked for, where it does not come before the
	// bad one: Good is where their histories part.
	Given string `json:"given,omitempty"`
	// Steps are the answers, in the order of the questions; Digests the SHA-256 of the
	// programs that commits gave.
	Steps   []report.BisectionStep `json:"steps"`
	Digests map[string]string      `json:"digests"`
}

// bisectAsked is what the command line asked for.
type bisectAsked struct {
	Program     string        `json:"program"`
	Engine      string        `json:"engine,omitempty"`
	Rest        []string      `json:"rest,omitempty"`
	Repo        string        `json:"repo"`
	Build       string        `json:"build"`
	Made        string        `json:"made"`
	BuildLimit  time.Duration `json:"build_limit_ns"`
	FirstParent bool          `json:"first_parent,omitempty"`
	Workload    string        `json:"workload"`
	Metric      string        `json:"metric,omitempty"`
	Budget      time.Duration `json:"budget_ns"`
	Alpha       float64       `json:"alpha"`
	Seed        uint64        `json:"seed,omitempty"`
	Tuned       bool          `json:"tuned,omitempty"`
}

// bisectFile is where the state is.
const bisectFile = "bisect.json"

// noSearchIn refuses a directory where a search can't begin.
func noSearchIn(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fail(Usage, "%s is a file: choose a new or empty directory for the search", dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, bisectFile)); err == nil {
		return withHint(fail(Usage, "%s has a search already", shortPath(dir)), "plimsoll bisect --resume %s goes on with it; for a new one name another directory by --keep", shortPath(dir))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fail(Failed, "%w", err)
	}
	return nil
}

// newBisectDir makes the directory of a search, which must be new.
func newBisectDir(w World, dir string) error {
	if err := noSearchIn(dir); err != nil {
		return err
	}
	d, err := safepath.Make(dir, 0o755, callerOf(w))
	if err != nil {
		return fail(Failed, "making the directory of the search: %w", err)
	}
	d.Close()
	return nil
}

// write keeps the state: whole, or as it was.
func (s *bisectState) write(w World, dir string) error {
	return writeBy(callerOf(w), filepath.Join(dir, bisectFile), func(out io.Writer) error {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	})
}

// readBisectState reads it.
func readBisectState(dir string) (*bisectState, error) {
	path := filepath.Join(dir, bisectFile)
	data, err := safepath.ReadRegular(path, 16<<20, "the state of a search")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(Usage, "%s holds no search: expected the directory of an earlier plimsoll bisect", shortPath(dir))
	}
	if err != nil {
		return nil, fail(Failed, "reading the search: %w", err)
	}
	var s bisectState
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fail(Usage, "reading %s: %w", path, err)
	}
	if s.Version != bisectStateVersion {
		return nil, withHint(fail(Usage, "%s has the format %d, and this Plimsoll reads %d", path, s.Version, bisectStateVersion), "go on with the Plimsoll that began it, or begin a new search")
	}
	if s.Digests == nil {
		s.Digests = map[string]string{}
	}
	return &s, nil
}

// keepLog copies what a build printed to where the records are.
func keepLog(w World, from, to string) error {
	return writeBy(callerOf(w), to, func(out io.Writer) error {
		f, err := safepath.OpenRegular(from)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(out, f)
		return err
	})
}

// stepDir is a new directory for the record of a step.
func (s *bisectState) stepDir(dir, name string) string {
	for n := len(s.Steps) + 1; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%02d-%s", n, name))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
}
