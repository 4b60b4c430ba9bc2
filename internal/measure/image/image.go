// Package image says what engines and workloads know of the workload images:
// which there are, their formats, and what a registry serves. The package imagestore
// builds and serves them; what only takes images is linked without it.
//
// Why it is so: docs/decisions/images.md.
package image

import (
	"context"
	"slices"
)

// Format is a form in which an engine takes an image.
type Format string

// The formats.
const (
	OCILayout     Format = "oci-layout"     // a directory in OCI image layout
	DockerArchive Format = "docker-archive" // a tar as docker save writes it
	Directory     Format = "directory"      // an unpacked root file system
	SquashFS      Format = "squashfs"
	SIF           Format = "sif"
)

// ProbePath is where the probe lies in every image.
const ProbePath = "/plimsoll-probe"

// WorkDir is a directory that is in every image and empty, where any user may
// write.
const WorkDir = "/work"

// Image is one image, whatever its format.
type Image struct {
	Name   string `json:"name"`   // "payload", "busybox"
	Digest string `json:"digest"` // of the OCI manifest, sha256:…
	Tree   string `json:"tree"`   // of the content: the same in every format
	// WithoutProbe is Tree without the probe, which each version of this program brings
	// along: by it, content is known again.
	WithoutProbe string `json:"without_probe"`
	Bytes        int64  `json:"bytes"` // apparent size, unpacked
	// Facts say what it was made from: distribution, versions of packages, the
	// digest in the registry that it came from.
	Facts map[string]string `json:"facts,omitempty"`
}

// Provider is what an imagestore.Store does.
type Provider interface {
	// Get builds the image where that is needed and describes it.
	Get(ctx context.Context, name string) (Image, error)
	// Path converts where that is needed and gives the path of the image in
	// this format. The file or directory is shared: nobody writes to it, and
	// nobody but us can reach it.
	Path(ctx context.Context, name string, f Format) (string, error)
	// PathFor is Path for an engine of an ordinary user, by number and group:
	// what nobody else can reach is given to that user as their own copy, without
	// set-user-ID bits. It is Path where the user is ourselves.
	PathFor(ctx context.Context, name string, f Format, uid, gid int) (string, error)
	// Tag is the reference under which an engine's own store holds the image
	// for a run: "localhost/plimsoll/payload:RUNID".
	Tag(name, runID string) string
}

// names are the images that have a name of their own, the default first. How each is
// made is a recipe of imagestore, whose tests hold the two together.
var names = []string{"payload", "busybox", "debian", "ubuntu-base", "toolbox", "alpine", "ubuntu", "centos"}

// Names lists them in the order in which they are shown. The list is the caller's own.
func Names() []string { return slices.Clone(names) }
