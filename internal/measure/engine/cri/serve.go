package cri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	ggcr "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// served is one image in a registry on loopback.
type served struct {
	server *http.Server
	ref    string // 127.0.0.1:PORT/plimsoll/NAME:RUNID
	config string // hexadecimal digest of its configuration, which is its id
	known  known
}

// serveImage serves the very layers that other engines are given, unlike the
// registry for measured pulls, whose layers are marked so that nobody has
// them. Only the configuration bears a label of the run: servers remove an
// image with all of its names, and another run's must not go with ours. entry, where given,
// is what is executed in it by itself.
func serveImage(ctx context.Context, kit *engine.Kit, imageName string, entry ...string) (*served, error) {
	path, err := kit.Images.Path(ctx, imageName, image.OCILayout)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("building the image %s as an OCI layout", imageName), Err: err}
	}
	s, err := serveLayout(ctx, path, imageName, kit.RunID, entry)
	if err != nil {
		return nil, &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("serving the image %s on loopback", imageName), Err: err}
	}
	return s, nil
}

func serveLayout(ctx context.Context, path, imageName, runID string, entry []string) (_ *served, err error) {
	plain, err := only(path)
	if err != nil {
		return nil, err
	}
	img, err := labelled(plain, runID, entry)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigName()
	if err != nil {
		return nil, err
	}
	known, err := knownBy(plain, img)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	s := &served{config: config.Hex, known: known, ref: fmt.Sprintf("%s/plimsoll/%s:%s", listener.Addr(), image.FileName(imageName), runID),
		server: &http.Server{Handler: registry.New(registry.Logger(quiet)), ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}}
	go func() { _ = s.server.Serve(listener) }()
	tag, err := name.NewTag(s.ref, name.Insecure)
	if err == nil {
		err = remote.Write(tag, img, remote.WithContext(ctx), remote.WithTransport(&http.Transport{DisableKeepAlives: true}))
	}
	if err != nil {
		s.close()
		return nil, fmt.Errorf("writing %s: %w", s.ref, err)
	}
	return s, nil
}

// only is the one image of a layout.
func only(path string) (ggcr.Image, error) {
	index, err := layout.ImageIndexFromPath(path)
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) != 1 {
		return nil, fmt.Errorf("%s has %d images, expected one", path, len(m.Manifests))
	}
	return index.Image(m.Manifests[0].Digest)
}

// labelled is an image with the run's label, and with another entry point where one is
// given.
func labelled(img ggcr.Image, runID string, entry []string) (ggcr.Image, error) {
	cf, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	cf = cf.DeepCopy()
	if cf.Config.Labels == nil {
		cf.Config.Labels = map[string]string{}
	}
	cf.Config.Labels[engine.Label] = runID
	if len(entry) > 0 {
		cf.Config.Entrypoint, cf.Config.Cmd = entry, nil
	}
	return mutate.ConfigFile(img, cf)
}

func (s *served) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		_ = s.server.Close()
	}
}
