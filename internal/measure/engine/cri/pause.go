package cri

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/images/archive"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/record"
)

// pauseImage is the name of the image of pods' own process, as the user's containerd
// has it. It is not pulled: what the user's server holds stays as it is.
func (s *server) pauseImage(ctx context.Context, st *state) (string, error) {
	name := st.sandbox
	if name == "" { // containerd 2 does not say it, and pins the image
		all, err := s.image.ListImages(ctx, &v1.ListImagesRequest{})
		if err != nil {
			return "", s.wrong("looking for the image of pods", err)
		}
		for _, i := range all.GetImages() {
			if i.GetPinned() && len(i.GetRepoTags()) > 0 {
				name = i.GetRepoTags()[0]
			}
		}
	}
	missing := &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("%s has not the image of pods (%s) yet, which a private one would need", s.version.GetRuntimeName(), name),
		Fix: "run a pod on it, or crictl pull " + name}
	if name == "" {
		return "", missing
	}
	r, err := s.image.ImageStatus(ctx, &v1.ImageStatusRequest{Image: &v1.ImageSpec{Image: name}})
	if err != nil {
		return "", s.wrong("looking for the image "+name, err)
	}
	if r.GetImage() == nil {
		return "", missing
	}
	return name, nil
}

// copyImage gives an image of one containerd's CRI to another's, unpacked.
func copyImage(ctx context.Context, from, to, name, snapshotter string) error {
	wrong := func(err error) error {
		return &engine.Error{Class: record.EngineError, Text: "giving the private containerd the image " + name, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	source, err := containerdclient.Dial(ctx, from, askLimit, client.WithDefaultNamespace(kubernetes))
	if err != nil {
		return wrong(err)
	}
	defer func() { _ = source.Close() }() // it was only read from
	target, err := containerdclient.Dial(ctx, to, askLimit, client.WithDefaultNamespace(kubernetes))
	if err != nil {
		return wrong(err)
	}
	defer func() { _ = target.Close() }() // what was to be done is done
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(source.Export(ctx, w, archive.WithImage(source.ImageService(), name))) }()
	all, err := target.Import(ctx, r)
	_ = r.Close() // else what exports would wait
	if err != nil {
		return wrong(err)
	}
	for _, i := range all {
		if err := client.NewImage(target, i).Unpack(ctx, snapshotter); err != nil {
			return wrong(err)
		}
	}
	// The plug-in hears of its store's images a moment later.
	s, err := dial(ctx, to)
	if err != nil {
		return wrong(err)
	}
	defer s.close()
	for {
		r, err := s.image.ImageStatus(ctx, &v1.ImageStatusRequest{Image: &v1.ImageSpec{Image: name}})
		if err != nil || r.GetImage() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return wrong(ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
