package cri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// payload is the image that is the probe alone. It is the image of pods, too: its init is
// as little as a pod's own process can do.
const payload = "payload"

// crioProgram is the one on the PATH, else what root's server was started from: what
// another user runs, or what lies in a container, we do not run as root.
func (s *server) crioProgram(kit *engine.Kit) (string, error) {
	path, err := kit.LookPath(crio)
	if err == nil {
		return path, nil
	}
	if s.peer.Load() == 0 {
		path, err = programBehind(s.path)
	}
	if err != nil || filepath.Base(path) != crio { // systemd may have put one of its own in front
		return "", &engine.Error{Class: record.Unavailable, Text: "the program crio, for a private daemon, is not on the PATH", Fix: "name it: --build crio:LEVEL=PATH"}
	}
	return path, nil
}

// programBehind is the file of the program that serves a socket. It is an error that it
// lies elsewhere than that path says out here, or was replaced meanwhile.
func programBehind(socket string) (string, error) {
	pid, err := proc.Here.Behind(socket)
	if err != nil {
		return "", err
	}
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	path, err := os.Readlink(exe)
	if err != nil {
		return "", err
	}
	theirs, err := os.Stat(exe)
	if err != nil {
		return "", err
	}
	here, err := os.Stat(path)
	if err == nil && !os.SameFile(theirs, here) {
		err = fmt.Errorf("%s is not what serves %s", path, socket)
	}
	return path, err
}

// crioConfig asks a CRI-O for its whole configuration, which it serves beside the CRI.
func crioConfig(ctx context.Context, socket string) (map[string]any, error) {
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://crio/config", http.NoBody)
	if err != nil {
		return nil, err
	}
	r, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	text, err := confile.Read(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", r.Status)
	}
	if err != nil {
		return nil, err
	}
	return confile.Parse(crioFile, "what CRI-O says of its configuration", text)
}

// startCRIO starts a private CRI-O, and gives it an image of pods.
func startCRIO(ctx context.Context, kit *engine.Kit, user *server, set string, path []string) (*ownServer, error) {
	like, err := crioConfig(ctx, user.path)
	if err != nil {
		return nil, &engine.Error{Class: record.EngineError, Text: "asking CRI-O for its configuration", Err: err}
	}
	program, err := user.crioProgram(kit)
	if err != nil {
		return nil, err
	}
	plugins, err := cni.Find(kit)
	if err != nil {
		return nil, err
	}
	pause, err := serveImage(ctx, kit, payload, image.ProbePath, "init")
	if err != nil {
		return nil, err
	}
	defer pause.close()
	name := nameOf(set)
	o := &ownServer{program: crio, group: groupOf(kit, name), configuredBy: crioConfiguredBy}
	if o.given, err = buildconfig.Of(kit, crio); err == nil {
		err = o.given.Ours(crioFile, keptByCRIO)
	}
	if err != nil {
		return nil, err
	}
	score, may, err := ownScore()
	if err != nil {
		return nil, fmt.Errorf("reading this process's oom_score_adj: %w", err)
	}
	if err := podScored(o.given.File(crioFile), like, score, may); err != nil {
		return nil, err
	}
	c := crioConfiguration{pause: pause.ref, plugins: plugins, like: like, monitor: monitorOf(kit, like), builds: kit.AllBuilds, plain: plainRuntimes(kit), spans: kit.Spans}
	opts := private.Options{Name: name, Hide: slices.Concat(crioHidden, left), Cgroups: []string{o.group}, Ready: o.ready, Reaches: kit.Spans.Reach(), Linger: kit.Spans.Linger()}
	opts.Configure = func(dir string) ([]string, error) {
		c.dir, o.socket = dir, filepath.Join(dir, "c.sock")
		return c.command(program, o.socket), c.write(o.given)
	}
	opts.Env = slices.Concat(path, o.given.Variables, kit.Spans.Env(), []string{"CONTAINERS_STORAGE_CONF=" + filepath.Join(kit.Dir, "private", name, storageFile)})
	if o.Daemon, err = private.Start(ctx, kit, opts); err != nil {
		return nil, err
	}
	if err := errors.Join(o.understood(ctx, kit.Spans), o.pull(ctx, pause)); err != nil {
		return nil, o.stop(ctx, err)
	}
	return o, nil
}

// pull gives a private server an image that is served.
func (o *ownServer) pull(ctx context.Context, r *served) error {
	s, err := dial(ctx, o.socket)
	if err != nil {
		return err
	}
	defer s.close()
	s.own = o
	stop, err := s.relay(r.ref)
	if err != nil {
		return err
	}
	_, err = s.pullServed(ctx, r)
	return errors.Join(err, stop())
}

// understood says which setting of a build's configuration, or of the tracing, CRI-O does
// not have: it passes over those that it doesn't know in silence.
func (o *ownServer) understood(ctx context.Context, spans *engine.Collector) error {
	over := o.given.File(crioFile)
	if over == nil && spans == nil {
		return nil
	}
	is, err := crioConfig(ctx, o.socket)
	if err != nil {
		return &engine.Error{Class: record.EngineError, Text: "asking the private CRI-O for its configuration", Err: err}
	}
	if s := confile.Lacks(is, crioTracing(spans)); s != nil {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("this CRI-O was given %s, to send its spans, and has another value", s)}
	}
	if s := confile.Lacks(is, over); s != nil {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s has %s, and this CRI-O knows no such setting, or has another value", crioFile, s)}
	}
	return nil
}
