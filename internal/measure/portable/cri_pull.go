package portable

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/moby/moby/api/pkg/authconfig"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

func (e *byCRI) pull(ctx context.Context, p pullTask) (c course, err error) {
	if err := e.ledger.Made(e.s.thing(engine.KindImage, p.ref)); err != nil {
		return c, err
	}
	req := &runtimev1.PullImageRequest{Image: &runtimev1.ImageSpec{Image: p.ref}}
	if p.auth != "" {
		if req.Auth, err = e.s.At.authOf(p.auth); err != nil {
			c.Failure = engine.FailureOf(err)
			return c, nil
		}
	}
	restore := stamp.Quiet()
	c.Events = map[record.Event]int64{record.Request: stamp.Now()}
	_, err = e.s.image.PullImage(ctx, req)
	at := stamp.Now()
	restore()
	if err != nil {
		c.Failure = engine.FailureOf(e.s.wrong("pulling "+p.ref, err))
		return c, nil
	}
	c.Events[record.Ready] = at // the CRI tells no parts of it
	return c, nil
}

// authOf turns credentials into those of the CRI. They name no server, as the kubelet's
// don't: containerd takes the name for a URL, and gives a registry that is named by its
// host alone no credentials at all.
func (a Address) authOf(encoded string) (*runtimev1.AuthConfig, error) {
	if err := a.inClear(); err != nil {
		return nil, err
	}
	c, err := authconfig.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("reading the credentials: %w", err)
	}
	return &runtimev1.AuthConfig{Username: c.Username, Password: c.Password, IdentityToken: c.IdentityToken, RegistryToken: c.RegistryToken}, nil
}

// inClear refuses to send a secret to an engine where others may read it on the way.
func (a Address) inClear() error {
	if a.Kind() != byPlain || a.onLoopback() {
		return nil
	}
	name, fix := a.Engine, "DOCKER_HOST=ssh://USER@HOST"
	switch a.Engine {
	case CRI:
		name, fix = "the CRI", forwardFix
	case Podman:
		fix = "CONTAINER_HOST=ssh://USER@HOST/run/podman/podman.sock"
	}
	return unavailable(nil, fix, "%s at %s is reached without encryption: your credentials for the registry are not sent there", name, a.Host)
}

// onLoopback says whether an address of TCP is this machine's own, where nobody listens in.
func (a Address) onLoopback() bool {
	u, err := url.Parse(a.Host)
	return err == nil && isLoopback(u.Hostname())
}

func (e *byCRI) drop(ctx context.Context, ref string) error {
	return e.ledger.dropped(e.s.thing(engine.KindImage, ref), func() error { return e.s.removeImage(ctx, ref) })
}

func (e *byCRI) stored(ctx context.Context, ref string) (stored, error) {
	have, err := e.s.lookUp(ctx, ref)
	if err != nil {
		return stored{}, err
	}
	return stored{digests: have.GetRepoDigests(), size: int64(have.GetSize())}, nil
}

// errNoImage: the server has no such image.
var errNoImage = errors.New("the server has no such image")

// lookUp gives what the server has under a reference.
func (s *Server) lookUp(ctx context.Context, ref string) (*runtimev1.Image, error) {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	r, err := s.image.ImageStatus(ctx, &runtimev1.ImageStatusRequest{Image: &runtimev1.ImageSpec{Image: ref}})
	if err != nil {
		return nil, s.wrong("looking up the image "+ref, err)
	}
	if r.GetImage() == nil {
		return nil, &engine.Error{Class: record.EngineError, Text: "looking up the image " + ref, Err: errNoImage}
	}
	return r.GetImage(), nil
}
