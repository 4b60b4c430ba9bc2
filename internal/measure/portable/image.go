package portable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/moby/moby/client"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// payloadImage is the image that is made here.
const payloadImage = "payload"

// Images give what is sent to the daemons: the payload, the images of archives, and
// those of registries, each with the probe and with the run's label.
type Images struct {
	RunID    string
	Archives map[string]string // files as docker save writes them, by the image's name
	// held says what those hold that were given, below the probe: the digest of their
	// configuration, which names their layers.
	held []record.Image
}

// Has says whether an image can be had, and if not, why and what would help.
func (im *Images) Has(name string) (reason, fix string) {
	switch {
	case len(probe.Binary()) == 0:
		return "this program carries no payload for containers of the architecture " + runtime.GOARCH, ""
	case name == payloadImage, isReference(name), im.Archives[name] != "":
		return "", ""
	}
	return "the image " + name + " is built on Linux only, and no archive of it was given",
		fmt.Sprintf("on a Linux machine: docker save -o %[1]s.tar IMAGE; here: plimsoll run --portable --image-archive %[1]s=%[1]s.tar", name)
}

// isReference tells a reference to a registry from a name of the catalogue.
func isReference(name string) bool { return strings.ContainsAny(name, ":/@") }

// get makes an image in memory, or reads it from where it lies.
func (im *Images) get(ctx context.Context, called string) (v1.Image, error) {
	labels := map[string]string{engine.Label: im.RunID}
	base, err := v1.Image(nil), error(nil)
	switch path := im.Archives[called]; {
	case path != "":
		base, err = tarball.Image(func() (io.ReadCloser, error) { return safepath.OpenRegular(path) }, nil)
	case called == payloadImage:
		return imagestore.Payload(probe.Binary(), labels)
	default:
		ref, rerr := name.ParseReference(called)
		if rerr != nil {
			return nil, rerr
		}
		base, err = remote.Image(ref, remote.WithContext(ctx), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	}
	if err != nil {
		return nil, err
	}
	id, err := base.ConfigName()
	if err != nil {
		return nil, err
	}
	im.held = append(im.held, record.Image{Name: called, WithoutProbe: id.String()})
	return imagestore.WithProbe(base, probe.Binary(), labels)
}

// tag is what an image is called in a daemon's store.
func (im *Images) tag(called string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, called)
	return "localhost/plimsoll/" + strings.Trim(plain, "-") + ":" + im.RunID
}

// write writes an image as an archive, to be loaded.
func write(img v1.Image, tag string, w io.Writer) error {
	ref, err := name.NewTag(tag, name.StrictValidation)
	if err != nil {
		return err
	}
	return tarball.Write(ref, img, w)
}

// stream gives an image as an archive that is written while it is read.
func stream(img v1.Image, tag string) io.ReadCloser {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(img, tag, w)) }()
	return r
}

// load sends an image by the API, and proves by its layers that the store holds it.
func (d *Daemon) load(ctx context.Context, img v1.Image, tag string) error {
	archive := stream(img, tag)
	defer archive.Close()
	answer, err := d.ImageLoad(ctx, archive, client.ImageLoadWithQuiet(true))
	if err != nil {
		return d.wrong("loading the image "+tag, err)
	}
	defer answer.Close()
	// That it has failed stands in the answer's stream, under a status of success.
	for dec := json.NewDecoder(answer); ; {
		var m struct{ Error string }
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return d.wrong("loading the image "+tag, err)
		}
		if m.Error != "" {
			return d.wrong("loading the image "+tag, errors.New(m.Error))
		}
	}
	have, err := d.ImageInspect(ctx, tag)
	if err != nil {
		return d.wrong("looking up the image "+tag+" after it was loaded", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return err
	}
	var want []string
	for _, h := range file.RootFS.DiffIDs {
		want = append(want, h.String())
	}
	if !slices.Equal(have.RootFS.Layers, want) {
		return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("the store's image %s has the layers %v, the one that was loaded has %v", tag, have.RootFS.Layers, want)}
	}
	return nil
}
