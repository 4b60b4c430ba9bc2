package charliecloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// A pull is `ch-image pull` into a storage directory of the environment's
// own, without the build cache, which is for builds; where the environment
// runs SquashFS, `ch-convert` makes the file of it.

const (
	puller    = "ch-image"
	converter = "ch-convert"
)

// store is ch-image's storage directory.
func (e *environment) store() string { return filepath.Join(e.pulls, "storage") }

// escaped is a reference as ch-image spells it in file names.
func escaped(ref string) string {
	return strings.NewReplacer("/", "%", ":", "+").Replace(ref)
}

// through gives a reference by the forwarder.
func (e *environment) through(ref string) (string, error) {
	host, rest, ok := strings.Cut(ref, "/")
	if !ok {
		return "", fmt.Errorf("%q names no registry", ref)
	}
	if e.forward == nil || e.behind != host {
		var err error
		if e.forward != nil {
			err = e.forward.close()
		}
		var ferr error
		if e.forward, ferr = forwardTo(host); ferr != nil || err != nil {
			return "", errors.Join(err, ferr)
		}
		e.behind = host
	}
	return e.forward.addr + "/" + rest, nil
}

func (e *environment) tool(name string, args ...string) (probe.Command, error) {
	path, err := e.Kit.LookPath(name)
	if err != nil {
		return probe.Command{}, &engine.Error{Class: record.Unavailable, Text: name + " is not installed", Fix: "apt-get install charliecloud-builders", Err: err}
	}
	env := []string{"CH_IMAGE_STORAGE=" + e.store()}
	return adapter.As(probe.Command{Argv: append([]string{path}, args...), Env: env, Dir: "/"}, e.user, e.Kit), nil
}

func (e *environment) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	if err := adapter.OwnDir(e.pulls, e.user, e.Kit); err != nil {
		return engine.Pulled{}, err
	}
	ref, err := e.through(task.Ref)
	if err != nil {
		return engine.Pulled{}, err
	}
	pull, err := e.tool(puller, "pull", "--no-cache", "--tls-no-verify", ref)
	if err != nil {
		return engine.Pulled{}, err
	}
	convert, err := e.tool(converter, "-i", "ch-image", "-o", "squash", ref, e.archive(ref))
	if err != nil {
		return engine.Pulled{}, err
	}
	if e.squash { // ch-convert replaces nothing
		remove := func() error { return safepath.RemoveAll(e.archive(ref)) }
		if err := adapter.AsUser(e.user, e.Kit, remove); err != nil {
			return engine.Pulled{}, err
		}
	}
	w, err := adapter.Watch(ctx, adapter.Child(pull, 0))
	p := engine.Pulled{Events: map[record.Event]int64{record.Request: w.Begin}, Client: w.Client}
	if err != nil {
		p.Failure = adapter.PullFailure(err, []adapter.Pattern{{Text: "not in registry", Class: record.Unavailable}})
		return p, nil
	}
	p.Steps, p.Events[record.Ready] = steps(&w), w.End
	if got, err := e.digest(ref); err != nil || got != task.Digest {
		p.Failure = &record.Failure{Class: record.WrongComponent, Text: fmt.Sprintf("ch-image arrived at the manifest %s, and %s was asked for (%v)", got, task.Digest, err)}
		return p, nil
	}
	if !e.squash {
		return p, nil
	}
	c, err := adapter.Watch(ctx, adapter.Child(convert, 0))
	if err != nil {
		p.Failure = adapter.PullFailure(err, nil)
		return p, nil
	}
	p.Steps = append(p.Steps, record.Step{Name: engine.StepConvert, At: c.End})
	p.Events[record.Ready] = c.End
	p.Client.UserNS += c.Client.UserNS
	p.Client.SystemNS += c.Client.SystemNS
	p.Client.MaxRSS = max(p.Client.MaxRSS, c.Client.MaxRSS)
	return p, nil
}

// steps reads what ch-image said: each line tells that a part begins.
func steps(w *adapter.Watched) []record.Step {
	var out []record.Step
	if at := w.At("config: "); at != 0 {
		out = append(out, record.Step{Name: engine.StepResolve, At: at})
	}
	if at := w.At("flattening image"); at != 0 {
		out = append(out, record.Step{Name: engine.StepTransfer, At: at}, record.Step{Name: engine.StepUnpack, At: w.End})
	}
	return out
}

func (e *environment) archive(ref string) string {
	return filepath.Join(e.pulls, escaped(ref)+".sqfs")
}

func (e *environment) unpacked(ref string) string {
	return filepath.Join(e.store(), "img", escaped(ref))
}

func (e *environment) downloads() string { return filepath.Join(e.store(), "dlcache") }

func (e *environment) manifest(ref string) string {
	return filepath.Join(e.downloads(), escaped(ref)+"%skinny.manifest.json")
}

func (e *environment) digest(ref string) (string, error) {
	text, err := os.ReadFile(e.manifest(ref))
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), err
}

// files are what a manifest names, as files among the downloads.
func (e *environment) files(manifest string) (map[string]bool, error) {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return nil, err
	}
	var m struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("reading the manifest %s: %w", manifest, err)
	}
	file := func(digest, ending string) string {
		return filepath.Join(e.downloads(), strings.TrimPrefix(digest, "sha256:")+ending)
	}
	out := map[string]bool{file(m.Config.Digest, ".json"): true}
	for _, l := range m.Layers {
		out[file(l.Digest, ".tar.gz")] = true
	}
	return out, nil
}

// others are the files that the other pulled images use.
func (e *environment) others(ref string) (map[string]bool, error) {
	all, err := filepath.Glob(filepath.Join(e.downloads(), "*%skinny.manifest.json"))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, m := range all {
		if m == e.manifest(ref) {
			continue
		}
		files, err := e.files(m)
		if err != nil {
			return nil, err
		}
		for f := range files {
			out[f] = true
		}
	}
	return out, nil
}

// Drop removes the downloads that no other image uses by hand: ch-image delete
// leaves them, and ch-image reset removes everything. They belong to this run
// alone.
func (e *environment) Drop(_ context.Context, ref string) error {
	if _, err := os.Stat(e.store()); os.IsNotExist(err) {
		return nil
	}
	ref, err := e.through(ref)
	if err != nil {
		return err
	}
	return adapter.AsUser(e.user, e.Kit, func() error { return e.drop(ref) })
}

func (e *environment) drop(ref string) error {
	keep, err := e.others(ref)
	if err != nil {
		return err
	}
	errs := []error{safepath.RemoveAll(e.unpacked(ref)), safepath.RemoveAll(e.archive(ref))}
	all, err := os.ReadDir(e.downloads())
	errs = append(errs, err)
	for _, f := range all {
		p := filepath.Join(e.downloads(), f.Name())
		ours := strings.HasPrefix(f.Name(), escaped(ref)+"%") || strings.HasPrefix(f.Name(), escaped(ref)+".")
		blob := !strings.Contains(f.Name(), "%")
		if ours || blob && !keep[p] {
			errs = append(errs, safepath.RemoveAll(p))
		}
	}
	return errors.Join(errs...)
}

// Sizes measures the directories itself: no command of Charliecloud prints the
// size of an image.
func (e *environment) Sizes(_ context.Context, ref string) (engine.ImageSizes, error) {
	z := engine.ImageSizes{Printed: -1, Converted: -1, How: "st_blocks of the unpacked image, its downloads and what was made of it"}
	ref, err := e.through(ref)
	if err != nil {
		return z, err
	}
	files, err := e.files(e.manifest(ref))
	if err != nil {
		return z, &engine.Error{Class: record.Unavailable, Text: "ch-image has not pulled " + ref, Err: err}
	}
	used, err := e.others(ref)
	if err != nil {
		return z, err
	}
	var shared []string
	unique := []string{e.manifest(ref), filepath.Join(e.downloads(), escaped(ref)+".fat.json")}
	for f := range files {
		if used[f] {
			shared = append(shared, f)
		} else {
			unique = append(unique, f)
		}
	}
	parts := map[*adapter.Usage][]string{}
	var s, u, root, made adapter.Usage
	parts[&s], parts[&u], parts[&root], parts[&made] = shared, unique, []string{e.unpacked(ref)}, []string{e.archive(ref)}
	for into, paths := range parts {
		if *into, err = adapter.DiskUsage(paths...); err != nil {
			return z, err
		}
	}
	z.Unpacked, z.Shared, z.Unique = root.Apparent, s.Allocated, u.Allocated+root.Allocated+made.Allocated
	z.Disk = z.Shared + z.Unique
	if e.squash {
		z.Converted = made.Apparent
	}
	return z, nil
}

// endPulls takes away what pulls have left.
func (e *environment) endPulls() error {
	var err error
	if e.forward != nil {
		err = e.forward.close()
		e.forward = nil
	}
	return errors.Join(err, adapter.RemoveDir(e.pulls, e.user, e.Kit))
}
