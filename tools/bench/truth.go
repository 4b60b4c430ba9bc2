package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
	"plimsoll/tools/bench/sharp/measured"
)

// A whole process, from just before it is spawned until its end is seen: ours
// against hyperfine's, for the same argument list, some runs of each in turn.
// hyperfine itself must be started for each of its turns, and the first runs
// after that meet colder caches: in turns of 3 they are a third of all, and
// weigh on a median; in turns of 20 they do not.
const (
	perTurn               = 20
	truthFor              = 15 * time.Second // for each program, at least leastTurns
	leastTurns, mostTurns = 4, 40
)

// program is one command line to be timed by both.
type program struct {
	name string
	argv []string
}

func truth(ctx context.Context, _ ...string) (err error) {
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	path, err := probe.Extract(dir)
	if err != nil {
		return err
	}
	l, err := probe.Start(ctx, path, probe.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	hyperfine, err := exec.LookPath("hyperfine")
	if err != nil {
		return errors.New("hyperfine is needed to compare with: lab/setup test installs it")
	}
	programs, undo, err := programs(ctx, dir)
	defer undo()
	if err != nil {
		return err
	}
	fmt.Printf("(a) whole process, ours and hyperfine -N's, in turns of %d; medians\n", perTurn)
	fmt.Printf("    %-24s %6s %12s %12s %9s\n", "program", "runs", "ours", "hyperfine", "ratio")
	for _, p := range programs {
		ours, theirs, err := interleave(ctx, l, hyperfine, dir, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		a, b := stats.Median(stats.Sorted(ours)), stats.Median(stats.Sorted(theirs))
		fmt.Printf("    %-24s %6d %9.3f ms %9.3f ms %9.3f\n", p.name, len(ours), a/1e6, b/1e6, a/b)
	}
	return nil
}

func interleave(ctx context.Context, l *probe.Launcher, hyperfine, dir string, p program) (ours, theirs []float64, err error) {
	begin := time.Now()
	for turn := 0; turn < mostTurns && (turn < leastTurns || time.Since(begin) < truthFor); turn++ {
		turns := []func() error{
			func() error {
				for range perTurn {
					ns, err := once(ctx, l, p)
					if err != nil {
						return err
					}
					ours = append(ours, ns)
				}
				return nil
			},
			func() error {
				ns, err := byHyperfine(ctx, hyperfine, dir, p)
				theirs = append(theirs, ns...)
				return err
			},
		}
		if err := shuffled(turns); err != nil {
			return nil, nil, err
		}
	}
	// The first turn meets cold caches; it is the same for both.
	return ours[perTurn:], theirs[perTurn:], nil
}

// once times one run by our launcher.
func once(ctx context.Context, l *probe.Launcher, p program) (float64, error) {
	res, err := l.Run(ctx, probe.Job{
		Commands: []probe.Command{{Argv: p.argv, Env: os.Environ()}},
		Limit:    time.Minute,
	})
	if err != nil {
		return 0, err
	}
	c := res.Commands[0]
	if c.Errno != 0 || c.Status != 0 || res.TimedOut {
		return 0, fmt.Errorf("%v: status %d, errno %d: %s", p.argv, c.Status, c.Errno, c.Stderr)
	}
	return float64(c.Exit - c.Spawn), nil
}

// byHyperfine times a turn of runs by hyperfine, without a shell.
func byHyperfine(ctx context.Context, hyperfine, dir string, p program) ([]float64, error) {
	out := filepath.Join(dir, "hyperfine.json")
	args := []string{"-N", "--style", "none", "--output", "null", "--runs", strconv.Itoa(perTurn), "--export-json", out, measured.Quote(p.argv)}
	if out, err := child.Run(ctx, child.Command{Argv: append([]string{hyperfine}, args...), Together: true}); err != nil {
		return nil, fmt.Errorf("hyperfine: %w: %s", err, bytes.TrimSpace(out.Stdout))
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var r struct {
		Results []struct{ Times []float64 }
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("reading hyperfine's result: %w", err)
	}
	var ns []float64
	for _, t := range r.Results[0].Times {
		ns = append(ns, t*1e9)
	}
	return ns, nil
}

// programs are those of the engines that are here.
func programs(ctx context.Context, dir string) (ps []program, undo func(), err error) {
	var undos []func()
	undo = func() {
		for _, f := range undos {
			f()
		}
	}
	store := imagestore.NewStore("/var/lib/plimsoll/images", probe.Binary(), imagestore.Options{RunID: "bench"})
	undos = append(undos, func() { _ = store.Close() }) // only what this run named
	rootfs, err := store.Path(ctx, "payload", image.Directory)
	if err != nil {
		return nil, undo, err
	}
	payload := probe.PayloadArgs{Word: "truth"}.Argv(image.ProbePath)
	for _, rt := range []string{"crun", "runc"} {
		bin, err := exec.LookPath(rt)
		if err != nil {
			continue
		}
		bundle := filepath.Join(dir, rt)
		if err := writeBundle(ctx, bin, bundle, rootfs, payload); err != nil {
			return nil, undo, fmt.Errorf("%s: %w", rt, err)
		}
		ps = append(ps, program{name: rt + " run", argv: []string{bin, "--root", filepath.Join(dir, rt+"-state"), "run", "--bundle", bundle, "plimsoll-bench"}})
	}
	if bin, err := exec.LookPath("ch-run"); err == nil {
		if os.Getenv("USER") == "" {
			if err := os.Setenv("USER", "root"); err != nil { // ch-run looks the user up by it
				return nil, undo, err
			}
		}
		ps = append(ps, program{name: "ch-run", argv: append([]string{bin, rootfs, "--"}, payload...)})
	}
	if bin, err := exec.LookPath("docker"); err == nil {
		archive, err := store.Path(ctx, "payload", image.DockerArchive)
		if err != nil {
			return nil, undo, err
		}
		tag := store.Tag("payload", "bench")
		if out, err := child.Run(ctx, child.Command{Argv: []string{bin, "load", "-i", archive}, Limit: toolLimit}); err != nil {
			fmt.Fprintf(os.Stderr, "docker is left out: %v: %s\n", err, bytes.TrimSpace(out.Stderr))
		} else {
			undos = append(undos, func() { // best effort: it bears our label
				_, _ = child.Run(context.WithoutCancel(ctx), child.Command{Argv: []string{bin, "rmi", "-f", tag}, Limit: toolLimit})
			})
			ps = append(ps, program{name: "docker run --rm", argv: append([]string{bin, "run", "--rm", "--network", "none", tag}, payload...)})
		}
	}
	return ps, undo, nil
}

// toolLimit bounds what is not timed.
const toolLimit = time.Minute

// writeBundle makes a bundle from the runtime's own template.
func writeBundle(ctx context.Context, bin, bundle, rootfs string, argv []string) error {
	if err := os.MkdirAll(bundle, 0o755); err != nil {
		return err
	}
	if out, err := child.Run(ctx, child.Command{Argv: []string{bin, "spec"}, Dir: bundle, Limit: toolLimit}); err != nil {
		return fmt.Errorf("spec: %w: %s", err, out.Stderr)
	}
	path := filepath.Join(bundle, "config.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var spec map[string]any
	if err := json.Unmarshal(b, &spec); err != nil {
		return err
	}
	process := spec["process"].(map[string]any)
	process["args"], process["terminal"] = argv, false
	delete(process, "rlimits") // raising one needs CAP_SYS_RESOURCE
	spec["root"] = map[string]any{"path": rootfs, "readonly": true}
	if b, err = json.Marshal(spec); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}
