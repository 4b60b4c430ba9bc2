package portable

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/progress"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// pullTask is one pull.
type pullTask struct {
	ref   string
	auth  string // of the user, for an API; "" is nobody
	plain bool   // the registry speaks HTTP without TLS
}

// course is one pull as the engine told of it.
type course struct {
	engine.Pulled
	held int // layers that it has already, by its own word; Podman tells of none
	// nothing says of a pull that failed that no layer of it can have arrived: Podman tells
	// of the first before it copies any. Others don't tell.
	nothing bool
}

// stored is what an engine's store has under a reference.
type stored struct {
	digests []string // NAME@DIGEST of the manifests
	size    int64    // as the engine prints it
}

// has says whether one of the manifests is this one. By which name the engine knows it is
// the engine's own affair: the digest has the run's mark in it.
func (s stored) has(digest string) bool {
	for _, d := range s.digests {
		if strings.HasSuffix(d, "@"+digest) {
			return true
		}
	}
	return false
}

func (e *byAPI) pull(ctx context.Context, p pullTask) (course, error) {
	if err := e.ledger.Made(e.d.thing(engine.KindImage, p.ref)); err != nil {
		return course{}, err
	}
	pull := e.d.pullDocker
	if e.d.At.Engine == Podman {
		pull = e.d.pullPodman
	}
	c, err := pull(ctx, p)
	if err != nil {
		c.Failure, c.Steps = engine.FailureOf(e.d.wrong("pulling "+p.ref, told(err))), nil
	}
	return c, nil
}

func (e *byAPI) drop(ctx context.Context, ref string) error {
	return e.ledger.dropped(e.d.thing(engine.KindImage, ref), func() error { return e.d.removeImage(ctx, ref) })
}

func (e *byAPI) stored(ctx context.Context, ref string) (stored, error) {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	have, err := e.d.ImageInspect(ctx, ref)
	if err != nil {
		return stored{}, e.d.wrong("looking up the image "+ref, err)
	}
	return stored{digests: have.RepoDigests, size: have.Size}, nil
}

// pullDocker asks for a pull by Docker's API, which tells of each layer.
func (d *Daemon) pullDocker(ctx context.Context, p pullTask) (c course, err error) {
	var said progress.Pull
	defer stamp.Quiet()()
	c.Events = map[record.Event]int64{record.Request: stamp.Now()}
	answer, err := d.ImagePull(ctx, p.ref, client.ImagePullOptions{RegistryAuth: p.auth})
	if err != nil {
		return c, err
	}
	for m, err := range answer.JSONMessages(ctx) {
		at := stamp.Now()
		if err == nil && m.Error != nil {
			err = m.Error
		}
		if err != nil {
			return c, err
		}
		said.Add(at, m.ID, m.Status)
	}
	c.Events[record.Ready] = stamp.Now()
	c.Steps, c.held = said.Steps(false), said.Held
	return c, nil
}

// libpod is Podman's own interface, as Podman 4 and 5 have it. By Docker's, which it has
// beside that, nobody can ask for a registry without TLS.
const libpod = "http://podman/v4.0.0/libpod"

// direct speaks to the daemon without Docker's client.
func (d *Daemon) direct() *http.Client {
	dial := d.Dialer()
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}}
}

// pullPodman asks for a pull by Podman's own API, over a connection that is open before.
func (d *Daemon) pullPodman(ctx context.Context, p pullTask) (c course, err error) {
	h := d.direct()
	defer h.CloseIdleConnections()
	opened, err := ask(ctx, h, http.MethodGet, libpod+"/_ping", "")
	if err != nil {
		return c, err
	}
	_, err = io.Copy(io.Discard, opened.Body)
	if err = errors.Join(err, opened.Body.Close()); err != nil {
		return c, err
	}
	query := url.Values{"reference": {p.ref}, "policy": {"always"}}
	if p.plain {
		query.Set("tlsVerify", "false")
	}
	defer stamp.Quiet()()
	c.Events = map[record.Event]int64{record.Request: stamp.Now()}
	answer, err := ask(ctx, h, http.MethodPost, libpod+"/images/pull?"+query.Encode(), p.auth)
	if err != nil {
		_, c.nothing = errors.AsType[refusal](err) // it comes before all that is told
		return c, err
	}
	defer answer.Body.Close()
	var said []line
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		at := stamp.Now()
		var report struct{ Stream, Error string }
		if err := json.Unmarshal(lines.Bytes(), &report); err != nil {
			return c, fmt.Errorf("reading what Podman says of a pull: %w", err)
		}
		if report.Error != "" {
			c.nothing = len(copying(said)) == 0
			return c, errors.New(report.Error)
		}
		said = append(said, line{at, strings.TrimSpace(report.Stream)})
	}
	if err := lines.Err(); err != nil {
		return c, err
	}
	c.Events[record.Ready] = stamp.Now()
	c.Steps = copying(said)
	return c, nil
}

// refusal is an answer of a daemon that is none.
type refusal struct {
	status int
	said   string
}

func (r refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.said) }

// ask sends a request; an answer that is a refusal is an error in the daemon's words.
func ask(ctx context.Context, h *http.Client, method, address, auth string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	if auth != "" {
		req.Header.Set(registry.AuthHeader, auth)
	}
	answer, err := h.Do(req)
	if err != nil || answer.StatusCode < http.StatusMultipleChoices {
		return answer, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	var said struct{ Message string }
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = string(text)
	}
	return nil, errors.Join(refusal{answer.StatusCode, brief(said.Message)}, err)
}
