package apptainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// A pull is `apptainer pull` into an image file, or `apptainer build
// --sandbox` into a directory, with a cache of the environment's own: what it
// keeps is the cache (blobs, and a second copy of the image file) and the
// result.

// pullPatterns part an image that is not there from other failures.
var pullPatterns = []adapter.Pattern{{Text: "manifest unknown", Class: record.Unavailable}, {Text: "name_unknown", Class: record.Unavailable}}

func (e *environment) sandbox() bool { return e.Facts()["storage"] == "sandbox" }

// pulled is where the result of a pull lies.
func (e *environment) pulled(ref string) string {
	name := strings.NewReplacer("/", "_", ":", "_").Replace(ref)
	if !e.sandbox() {
		name += ".sif"
	}
	return filepath.Join(e.home, "pulled", name)
}

func (e *environment) cache() string { return filepath.Join(e.home, "cache") }

func (e *environment) pullCommand(ref string) probe.Command {
	argv := []string{e.program.path, "pull", "--force", "--no-https", e.pulled(ref), "docker://" + ref}
	if e.sandbox() {
		argv = []string{e.program.path, "build", "--force", "--no-https", "--sandbox", e.pulled(ref), "docker://" + ref}
	}
	return e.tool(argv)
}

// tool is a command with the environment's own settings, cache and directory
// for what is temporary.
func (e *environment) tool(argv []string) probe.Command {
	prefix := strings.ToUpper(e.program.name)
	env := []string{prefix + "_CONFIGDIR=" + e.home, prefix + "_CACHEDIR=" + e.home, prefix + "_TMPDIR=" + e.home}
	return adapter.As(probe.Command{Argv: argv, Env: env, Dir: "/"}, e.user, e.Kit)
}

// Pull replaces the result of an earlier pull, as a user's --force does; only the
// cache makes a pull warm.
func (e *environment) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	if e.storage == byArchive {
		return engine.Pulled{Failure: &record.Failure{Class: record.Unsupported, Text: "a Docker archive is not pulled: the storages sif and sandbox are"}}, nil
	}
	if err := adapter.OwnDir(filepath.Dir(e.pulled(task.Ref)), e.user, e.Kit); err != nil {
		return engine.Pulled{}, err
	}
	if e.sandbox() { // build asks before it replaces a directory that is none of its own
		if err := e.asUser(func() error { return safepath.RemoveAll(e.pulled(task.Ref)) }); err != nil {
			return engine.Pulled{}, err
		}
	}
	w, err := adapter.Watch(ctx, adapter.Child(e.pullCommand(task.Ref), 0))
	p := engine.Pulled{Events: map[record.Event]int64{record.Request: w.Begin}, Client: w.Client}
	if err != nil {
		p.Failure = adapter.PullFailure(err, pullPatterns)
		return p, nil
	}
	p.Events[record.Ready] = w.End
	// Each line says that a part begins, so that the one before it has ended.
	for _, s := range []struct{ name, line string }{
		{engine.StepResolve, "Fetching OCI image"},
		{engine.StepTransfer, "Extracting OCI image"},
		{engine.StepUnpack, "Inserting Apptainer configuration"},
		{engine.StepUnpack, "Inserting Singularity configuration"},
	} {
		if at := w.At(s.line); at != 0 {
			p.Steps = append(p.Steps, record.Step{Name: s.name, At: at})
		}
	}
	if len(p.Steps) > 0 && !e.sandbox() {
		p.Steps = append(p.Steps, record.Step{Name: engine.StepConvert, At: w.End})
	}
	if got, err := e.digests(); err != nil || !slices.Contains(got, task.Digest) {
		p.Failure = &record.Failure{Class: record.WrongComponent, Text: fmt.Sprintf("the cache holds the manifests %v, and %s was asked for (%v)", got, task.Digest, err)}
		return p, nil
	}
	return p, e.remember(task)
}

// digests are those of the manifests in the cache.
func (e *environment) digests() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(e.cache(), "blob", "index.json"))
	if err != nil {
		return nil, err
	}
	var index struct{ Manifests []struct{ Digest string } }
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, err
	}
	var out []string
	for _, m := range index.Manifests {
		out = append(out, m.Digest)
	}
	return out, nil
}

// remember keeps which manifest a reference came to: the cache knows no names.
func (e *environment) remember(task engine.PullTask) error {
	return e.asUser(func() error { return os.WriteFile(e.pulled(task.Ref)+".digest", []byte(task.Digest), 0o644) })
}

// asUser is for what is done in the environment's own directories: they are
// the user's.
func (e *environment) asUser(f func() error) error { return adapter.AsUser(e.user, e.Kit, f) }

// held gives the manifests of all that was pulled, by reference.
func (e *environment) held() (map[string]string, error) {
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(e.home, "pulled", "*.digest"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		digest, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(f, ".digest")] = string(digest)
	}
	return out, nil
}

// blobs are the files of a manifest in the cache: itself, its configuration
// and its layers.
func (e *environment) blobs(digest string) ([]string, error) {
	path := func(d string) string {
		return filepath.Join(e.cache(), "blob", "blobs", "sha256", strings.TrimPrefix(d, "sha256:"))
	}
	text, err := os.ReadFile(path(digest))
	if err != nil {
		return nil, err
	}
	var m struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("reading the manifest %s: %w", digest, err)
	}
	out := []string{path(digest), path(m.Config.Digest)}
	for _, l := range m.Layers {
		out = append(out, path(l.Digest))
	}
	return out, nil
}

// Drop takes what no other pulled image uses out of the cache by hand, since
// Apptainer can only empty the cache as a whole, by kind or by age. The cache
// belongs to this run alone. All image files in it go: they are made again from
// the blobs.
func (e *environment) Drop(_ context.Context, ref string) error {
	return e.asUser(func() error { return e.drop(ref) })
}

func (e *environment) drop(ref string) error {
	errs := []error{safepath.RemoveAll(e.pulled(ref)), adapter.RemoveIfThere(e.pulled(ref) + ".digest")}
	held, err := e.held()
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	if len(held) == 0 {
		return errors.Join(append(errs, safepath.RemoveAll(e.cache()))...)
	}
	keep := map[string]bool{}
	var manifests []string
	for _, digest := range held {
		files, err := e.blobs(digest)
		errs = append(errs, err)
		for _, f := range files {
			keep[f] = true
		}
		manifests = append(manifests, digest)
	}
	all, err := filepath.Glob(filepath.Join(e.cache(), "blob", "blobs", "sha256", "*"))
	errs = append(errs, err, safepath.RemoveAll(filepath.Join(e.cache(), "oci-tmp")), e.keepManifests(manifests))
	for _, f := range all {
		if !keep[f] {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(errs...)
}

// keepManifests takes every other manifest out of the cache's index.
func (e *environment) keepManifests(digests []string) error {
	file := filepath.Join(e.cache(), "blob", "index.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var index map[string]any
	if err := json.Unmarshal(text, &index); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	list, _ := index["manifests"].([]any)
	index["manifests"] = slices.DeleteFunc(list, func(m any) bool {
		d, _ := m.(map[string]any)
		s, _ := d["digest"].(string)
		return !slices.Contains(digests, s)
	})
	if text, err = json.Marshal(index); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func (e *environment) Sizes(ctx context.Context, ref string) (engine.ImageSizes, error) {
	z := engine.ImageSizes{Printed: -1, Unpacked: -1, Converted: -1, How: "st_blocks of the result and of what the cache holds of it"}
	held, err := e.held()
	if err != nil {
		return z, err
	}
	digest, ok := held[e.pulled(ref)]
	if !ok {
		return z, &engine.Error{Class: record.Unavailable, Text: "apptainer has not pulled " + ref}
	}
	own, err := e.blobs(digest)
	if err != nil {
		return z, err
	}
	used := map[string]bool{}
	for other, d := range held {
		if other == e.pulled(ref) {
			continue
		}
		files, err := e.blobs(d)
		if err != nil {
			return z, err
		}
		for _, f := range files {
			used[f] = true
		}
	}
	var shared, unique []string
	for _, f := range own {
		if used[f] {
			shared = append(shared, f)
		} else {
			unique = append(unique, f)
		}
	}
	if f, err := e.cachedSIF(ctx, ref); err != nil {
		return z, err
	} else if f != "" {
		unique = append(unique, f)
		if z.Printed, err = e.printed(ctx, filepath.Base(f)); err != nil {
			return z, err
		}
	}
	result, err := adapter.DiskUsage(e.pulled(ref))
	if err != nil {
		return z, err
	}
	a, err := adapter.DiskUsage(shared...)
	if err != nil {
		return z, err
	}
	b, err := adapter.DiskUsage(unique...)
	if err != nil {
		return z, err
	}
	z.Shared, z.Unique = a.Allocated, b.Allocated+result.Allocated
	z.Disk = z.Shared + z.Unique
	if e.sandbox() {
		z.Unpacked = result.Apparent
	} else {
		z.Converted = result.Apparent
	}
	return z, nil
}

// cachedSIF is the copy of a pulled image file in the cache: the one with the
// same content, since the cache knows no names. "" where there is none.
func (e *environment) cachedSIF(ctx context.Context, ref string) (string, error) {
	if e.sandbox() {
		return "", nil
	}
	all, err := filepath.Glob(filepath.Join(e.cache(), "oci-tmp", "*"))
	if err != nil {
		return "", err
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		same, err := sameContent(f, e.pulled(ref))
		if err != nil || same {
			return f, err
		}
	}
	return "", nil
}

// printed is the size that `apptainer cache list` gives for an image file in
// the cache, -1 where it has no such line.
func (e *environment) printed(ctx context.Context, name string) (int64, error) {
	w, err := adapter.Watch(ctx, adapter.Child(e.tool([]string{e.program.path, "cache", "list", "--verbose"}), 0))
	if err != nil {
		return -1, err
	}
	return parseCacheList(w.Text(), name), nil
}

// parseCacheList reads lines of NAME (cut short), DATE, TIME, SIZE, UNIT, TYPE.
func parseCacheList(text, name string) int64 {
	units := map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 6 || f[5] != "oci-tmp" || f[0] == "" || !strings.HasPrefix(name, f[0]) {
			continue
		}
		if v, err := strconv.ParseFloat(f[3], 64); err == nil && units[f[4]] != 0 {
			return int64(v * units[f[4]])
		}
	}
	return -1
}
