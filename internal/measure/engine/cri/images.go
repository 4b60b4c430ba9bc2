package cri

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/errdefs"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

type provided struct {
	ref   string
	spec  *v1.ImageSpec
	known known
}

// pullLimit bounds the pull of an image over loopback.
const pullLimit = time.Minute

// provide gets an image into the server's store, unless another environment
// of this run has done so. There is but one way in: the server pulls, here
// from a registry on loopback that lives as long as the pull.
func (e *Engine) provide(ctx context.Context, s *server, kit *engine.Kit, name string) (*provided, func(context.Context) error, error) {
	return e.images.Get(ctx, adapter.Socket(s.path)+" "+kit.RunID+" "+name, func(ctx context.Context) (*provided, func(context.Context) error, error) {
		p, err := fetch(ctx, s, kit, name)
		return p, func(ctx context.Context) error {
			if s.own != nil {
				return nil
			}
			if err := s.removeImage(ctx, p.ref); err != nil {
				return err
			}
			return kit.Ledger.Gone(s.thing(engine.KindImage, p.ref))
		}, err
	})
}

// fetch serves the image, lets the server pull it, and verifies that what the
// store holds is the image.
func fetch(ctx context.Context, s *server, kit *engine.Kit, name string) (*provided, error) {
	r, err := serveImage(ctx, kit, name)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if s.own != nil { // what it holds goes with it
		stop, err := s.relay(r.ref)
		if err != nil {
			return nil, err
		}
		spec, err := s.pullServed(ctx, r)
		return &provided{ref: r.ref, spec: spec, known: r.known}, errors.Join(err, stop())
	}
	if err := kit.Ledger.Made(s.thing(engine.KindImage, r.ref)); err != nil {
		return nil, err
	}
	spec, err := s.pullServed(ctx, r)
	if err != nil {
		if rerr := s.removeImage(ctx, r.ref); rerr != nil {
			return nil, errors.Join(err, rerr)
		}
		return nil, errors.Join(err, kit.Ledger.Gone(s.thing(engine.KindImage, r.ref)))
	}
	return &provided{ref: r.ref, spec: spec, known: r.known}, nil
}

// relayed is the fact of a registry that is reached through a copy.
const relayed = "relayed into the daemon's network namespace"

// relay lets a private server, in a network namespace of its own, reach the registry on
// our loopback.
func (s *server) relay(ref string) (stop func() error, err error) {
	addr, _, _ := strings.Cut(ref, "/")
	if s.own == nil || !strings.HasPrefix(addr, "127.") {
		return func() error { return nil }, nil
	}
	return private.Relay(s.own.PID, addr)
}

func (s *server) pullServed(ctx context.Context, r *served) (*v1.ImageSpec, error) {
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	if _, err := s.image.PullImage(ctx, &v1.PullImageRequest{Image: &v1.ImageSpec{Image: r.ref}}); err != nil {
		return nil, s.pullError(r.ref, err)
	}
	have, err := s.lookUp(ctx, r.ref)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(have.GetId(), r.config) {
		return nil, &engine.Error{Class: record.WrongComponent,
			Text: fmt.Sprintf("the CRI server holds the image %s under %s, the one that was served is %s", have.GetId(), r.ref, r.config)}
	}
	// The id and the user's name for it, as the kubelet gives them; CRI-O
	// refuses a container without the second.
	return &v1.ImageSpec{Image: have.GetId(), UserSpecifiedImage: r.ref}, nil
}

// pullError says what to do about a server that wants TLS on loopback.
func (s *server) pullError(ref string, err error) *engine.Error {
	e := s.wrong("pulling the image "+ref, err)
	said := strings.ToLower(words(err))
	if strings.Contains(said, "server gave http response to https client") || strings.Contains(said, "tls: first record does not look like a tls handshake") {
		e.Class = record.Unavailable
		e.Text = "the CRI server asks a registry on loopback for TLS, and there is no other way to give it an image"
		e.Fix = "[[registry]] location = \"127.0.0.1\", insecure = true in /etc/containers/registries.conf.d/loopback.conf, then restart " + s.version.GetRuntimeName()
	}
	for _, w := range []string{": not found", "name unknown", "manifest unknown"} {
		if strings.Contains(said, w) {
			e.Class = record.Unavailable
		}
	}
	return e
}

// lookUp gives what the server holds under a reference.
func (s *server) lookUp(ctx context.Context, ref string) (*v1.Image, error) {
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	r, err := s.image.ImageStatus(ctx, &v1.ImageStatusRequest{Image: &v1.ImageSpec{Image: ref}})
	if err != nil {
		return nil, s.wrong("looking up the image "+ref, err)
	}
	if r.GetImage() == nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "the CRI server has no image " + ref}
	}
	return r.GetImage(), nil
}

// removeImage takes an image away; one that is not there is gone. Under a name
// that somebody else has given it, it stays: CRI-O takes one name away, and
// containerd's CRI all of them, so that its own API is used there.
func (s *server) removeImage(ctx context.Context, ref string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	r, err := s.image.ImageStatus(ctx, &v1.ImageStatusRequest{Image: &v1.ImageSpec{Image: ref}})
	if err != nil {
		return s.wrong("removing the image "+ref, err)
	}
	i := r.GetImage()
	if i == nil {
		return nil
	}
	repo := ref[:strings.LastIndexByte(ref, ':')]
	ours := func(name string) bool { return name == ref || strings.HasPrefix(name, repo+"@") }
	names := append(slices.Clone(i.GetRepoTags()), i.GetRepoDigests()...)
	if slices.ContainsFunc(names, func(n string) bool { return !ours(n) }) && endpointOf(s.version.GetRuntimeName()) == containerd {
		return s.untag(ctx, slices.DeleteFunc(names, func(n string) bool { return !ours(n) }))
	}
	if _, err := s.image.RemoveImage(ctx, &v1.RemoveImageRequest{Image: &v1.ImageSpec{Image: ref}}); err != nil && !notFound(err) {
		return s.wrong("removing the image "+ref, err)
	}
	return nil
}

// kubernetes is the namespace in which containerd's CRI has everything.
const kubernetes = "k8s.io"

// untag takes names of an image away by containerd's own API.
func (s *server) untag(ctx context.Context, names []string) error {
	c, err := containerdclient.Dial(ctx, s.path, askLimit, client.WithDefaultNamespace(kubernetes))
	if err != nil {
		return &engine.Error{Class: record.EngineError, Text: fmt.Sprintf("taking the names %v away by containerd's API", names), Err: err}
	}
	defer func() { _ = c.Close() }() // what was to be done is done
	for _, n := range names {
		if err := c.ImageService().Delete(ctx, n); err != nil && !errdefs.IsNotFound(err) {
			return &engine.Error{Class: record.EngineError, Text: "taking the name " + n + " away by containerd's API", Err: err}
		}
	}
	return nil
}
