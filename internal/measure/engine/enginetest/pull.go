package enginetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest/images"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// PullOptions say what is special about an engine's pulls.
type PullOptions struct {
	// Kit replaces the one that Kit(t) makes.
	Kit *engine.Kit
	// NoSharing says why a base that is held is transferred again.
	NoSharing string
	// NoDisk says why nobody can tell what an image takes on the disk.
	NoDisk string
	// MustOpen: fail, and do not skip, where the environment is unavailable.
	MustOpen bool
}

// Pulls puts an environment's engine.Puller through a cold, a shared and a
// warm pull from a registry of the test's own, and through the pulls that
// must fail. The registry's own count decides what was transferred.
func Pulls(t *testing.T, e engine.Engine, levels map[string]string, opts PullOptions) {
	t.Helper()
	Real(t)
	kit := opts.Kit
	if kit == nil {
		kit, levels = withBuilds(t, Kit(t), e, levels)
	}
	ctx, cancel := child.Within(t.Context(), 3*time.Minute)
	defer cancel()
	env, err := e.Open(ctx, kit, engine.Spec{ID: "pulls", Levels: levels, Limits: engine.Limits{CPUs: 1, MemoryBytes: 256 << 20}})
	if err != nil {
		if c := class(err); !opts.MustOpen && (c == record.Unavailable || c == record.Unsupported) {
			t.Skipf("can't be had here: %v", err)
		}
		t.Fatalf("Open: %v", err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			_ = env.Close(context.WithoutCancel(ctx))
		}
	})
	p, ok := env.(engine.Puller)
	if !ok {
		t.Fatal("the environment is no engine.Puller")
	}
	s := &pullSuite{kit: kit, puller: p, opts: opts}
	s.serve(t)
	s.cold(t, ctx)
	s.shared(t, ctx)
	s.warm(t, ctx)
	s.refused(t, ctx)
	s.drop(t, ctx)
	if err := env.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	closed = true
	checkGone(t, &suite{engine: e, kit: kit})
}

type pullSuite struct {
	kit      *engine.Kit
	puller   engine.Puller
	opts     PullOptions
	registry images.Registry
	image    *image.Published
}

func (s *pullSuite) serve(t *testing.T) {
	t.Helper()
	var err error
	if s.registry, err = images.Serve(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.registry.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.image, err = s.registry.Publish(t.Context(), s.kit.Images, "busybox", s.kit.RunID); err != nil {
		t.Skipf("the image busybox can't be had here: %v", err)
	}
	if len(s.image.Layers) < 2 || s.image.Base != len(s.image.Layers)-1 {
		t.Fatalf("the image busybox has the layers %v, %d of them base: sharing can't be tried", s.image.Layers, s.image.Base)
	}
}

// pull must succeed; it gives what the registry served for it.
func (s *pullSuite) pull(t *testing.T, ctx context.Context, ref, digest string) image.Traffic {
	t.Helper()
	before := s.registry.Traffic()
	pulled, err := s.puller.Pull(ctx, engine.PullTask{Ref: ref, Digest: digest})
	if err != nil {
		t.Fatalf("Pull %s: %v", ref, err)
	}
	if pulled.Failure != nil {
		t.Fatalf("Pull %s: %s: %s", ref, pulled.Failure.Class, pulled.Failure.Text)
	}
	request, ready := pulled.Events[record.Request], pulled.Events[record.Ready]
	if request == 0 || ready < request {
		t.Errorf("Pull %s: odd events %v", ref, pulled.Events)
	}
	at := request
	order := []string{engine.StepResolve, engine.StepTransfer, engine.StepVerify, engine.StepUnpack, engine.StepConvert}
	for _, step := range pulled.Steps {
		for len(order) > 0 && order[0] != step.Name {
			order = order[1:]
		}
		if len(order) == 0 {
			t.Errorf("Pull %s: step %q is unknown, twice or out of order", ref, step.Name)
			break
		}
		order = order[1:]
		if step.At < at || step.At > ready {
			t.Errorf("Pull %s: step %s at %d lies outside %d to %d", ref, step.Name, step.At, at, ready)
		}
		at = step.At
	}
	served := s.registry.Traffic().Since(before)
	t.Logf("Pull %s: %v, steps %v, %d requests, %d bytes", ref, time.Duration(ready-request), stepTimes(pulled.Steps, request), served.Requests, served.Bytes)
	return served
}

func stepTimes(steps []record.Step, from int64) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name+" "+time.Duration(s.At-from).String())
	}
	return out
}

func (s *pullSuite) dropAll(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, ref := range []string{s.image.Ref, s.image.Sibling} {
		if err := s.puller.Drop(ctx, ref); err != nil {
			t.Fatalf("Drop %s: %v", ref, err)
		}
	}
}

// cold is tried twice: what Drop left of the first would be missing in the
// transfer of the second.
func (s *pullSuite) cold(t *testing.T, ctx context.Context) {
	for range 2 {
		s.dropAll(t, ctx)
		served := s.pull(t, ctx, s.image.Ref, s.image.Digest)
		for _, d := range s.image.Layers {
			if served.Blobs[d] == 0 {
				t.Errorf("a cold pull did not fetch the layer %s", d)
			}
		}
		if served.Bytes < s.image.Compressed*9/10 {
			t.Errorf("a cold pull transferred %d bytes of %d", served.Bytes, s.image.Compressed)
		}
		s.sizes(t, ctx)
	}
}

func (s *pullSuite) sizes(t *testing.T, ctx context.Context) {
	t.Helper()
	z, err := s.puller.Sizes(ctx, s.image.Ref)
	if err != nil {
		t.Fatalf("Sizes: %v", err)
	}
	t.Logf("Sizes: %+v, compressed %d", z, s.image.Compressed)
	im, err := s.kit.Images.Get(ctx, "busybox")
	require.NoError(t, err)
	for name, v := range map[string]int64{"Printed": z.Printed, "Unpacked": z.Unpacked, "Disk": z.Disk, "Shared": z.Shared, "Unique": z.Unique, "Converted": z.Converted} {
		if v < -1 || name != "Shared" && v == 0 {
			t.Errorf("Sizes: %s is %d; what there is not is -1", name, v)
		}
	}
	if z.Unpacked >= 0 && (z.Unpacked < im.Bytes*9/10 || z.Unpacked > im.Bytes*13/10+1<<20) {
		t.Errorf("Sizes: unpacked %d, and the files of the image are %d", z.Unpacked, im.Bytes)
	}
	if z.Disk < 0 && z.Converted < 0 && s.opts.NoDisk == "" {
		t.Error("Sizes: neither the disk nor an archive: an image takes something")
	}
	if z.Disk >= 0 && z.How == "" {
		t.Error("Sizes: how Disk was read is not said")
	}
	if saver, ok := s.puller.(engine.Saver); ok {
		n, err := saver.Save(ctx, s.image.Ref)
		t.Logf("Save: %d bytes", n)
		// A compressed archive can be smaller than the registry's layers, by little.
		if err != nil || n < s.image.Compressed*8/10 || z.Unpacked > 0 && n > z.Unpacked*13/10+1<<20 {
			t.Errorf("Save: %d bytes of an image of %d compressed and %d unpacked: %v", n, s.image.Compressed, z.Unpacked, err)
		}
	}
	if z.Shared >= 0 && z.Unique >= 0 && z.Disk >= 0 && z.Shared+z.Unique != z.Disk {
		t.Errorf("Sizes: shared %d and unique %d do not make disk %d", z.Shared, z.Unique, z.Disk)
	}
}

func (s *pullSuite) shared(t *testing.T, ctx context.Context) {
	s.dropAll(t, ctx)
	s.pull(t, ctx, s.image.Sibling, s.image.SiblingDigest)
	served := s.pull(t, ctx, s.image.Ref, s.image.Digest)
	base := s.image.Layers[0]
	switch {
	case s.opts.NoSharing == "" && served.Blobs[base] != 0:
		t.Errorf("the base is held and was fetched again (%d bytes)", served.Blobs[base])
	case s.opts.NoSharing != "" && served.Blobs[base] == 0:
		t.Errorf("the base was not fetched again, though %s", s.opts.NoSharing)
	}
	s.sizes(t, ctx)
}

func (s *pullSuite) warm(t *testing.T, ctx context.Context) {
	served := s.pull(t, ctx, s.image.Ref, s.image.Digest)
	t.Logf("warm: %d bytes", served.Bytes)
}

// refused tries what must fail: a digest that is another image's, and an
// image that is not there.
func (s *pullSuite) refused(t *testing.T, ctx context.Context) {
	s.dropAll(t, ctx)
	wrong := "sha256:" + strings.Repeat("0", 64)
	pulled, err := s.puller.Pull(ctx, engine.PullTask{Ref: s.image.Ref, Digest: wrong})
	if got := failed(pulled, err); got != record.WrongComponent {
		t.Errorf("a pull that arrives at another digest: class %q (%v, %+v), want %s", got, err, pulled.Failure, record.WrongComponent)
	}
	s.dropAll(t, ctx)
	none := s.registry.Ref("no-such-image", s.kit.RunID)
	pulled, err = s.puller.Pull(ctx, engine.PullTask{Ref: none, Digest: wrong})
	if failed(pulled, err) == "" {
		t.Error("a pull of what the registry has not worked")
	} else {
		t.Logf("what is said of an image that is not there: %v %+v", err, pulled.Failure)
	}
}

func failed(p engine.Pulled, err error) record.Class {
	switch {
	case err != nil:
		return class(err)
	case p.Failure != nil:
		return p.Failure.Class
	}
	return ""
}

// drop: what is not there can be dropped, and has no sizes.
func (s *pullSuite) drop(t *testing.T, ctx context.Context) {
	s.dropAll(t, ctx)
	s.dropAll(t, ctx)
	if z, err := s.puller.Sizes(ctx, s.image.Ref); err == nil {
		t.Errorf("an image that is not there has the sizes %+v", z)
	}
}
