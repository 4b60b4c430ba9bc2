package cri

import (
	"strings"

	ggcr "github.com/google/go-containerregistry/pkg/v1"
)

// known says which image of ours a server means by a digest. What a server
// holds bears the run's label, so that its digests differ from run to run, and
// its reference the port of the run's registry; the image without the label is
// the same in each run.
type known struct {
	digests []string // of what was served: its configuration's and its manifest's
	image   string   // the digest of the configuration without the label
}

// knownBy is for an image and what was served of it.
func knownBy(plain, served ggcr.Image) (known, error) {
	image, err := plain.ConfigName()
	if err != nil {
		return known{}, err
	}
	config, err := served.ConfigName()
	if err != nil {
		return known{}, err
	}
	manifest, err := served.Digest()
	if err != nil {
		return known{}, err
	}
	return known{digests: []string{config.Hex, manifest.Hex}, image: image.String()}, nil
}

// id is the image that a server names for a container: by a digest of either
// kind, alone or behind the name that it was pulled by. One that is not what was
// served is told as it is.
func (k known) id(ref string) string {
	for _, d := range k.digests {
		if ref == d || strings.HasSuffix(ref, "sha256:"+d) {
			return k.image
		}
	}
	return ref
}
