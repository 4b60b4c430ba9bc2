package image

import "strings"

// Published is an image as a registry serves it.
type Published struct {
	Ref    string // HOST:PORT/plimsoll/NAME:RUNID
	Digest string // of the manifest
	// Layers are the digests of the compressed layers, the lowest first.
	Layers []string
	// Compressed is the size of the configuration and the layers by the
	// manifest, in bytes: what a pull into an empty store transfers besides
	// the manifest.
	Compressed int64
	// Base counts the layers, from the lowest, that the sibling has too.
	Base int
	// Sibling has the same base and another top layer; SiblingDigest is its
	// manifest's.
	Sibling, SiblingDigest string
}

// Traffic is what a registry has answered.
type Traffic struct {
	Requests int              // of any kind
	Bytes    int64            // of all bodies: manifests, configurations, layers
	Blobs    map[string]int64 // bytes by digest, of configurations and layers
}

// Since is what was served after an earlier look.
func (t Traffic) Since(before Traffic) Traffic {
	out := Traffic{Requests: t.Requests - before.Requests, Bytes: t.Bytes - before.Bytes, Blobs: map[string]int64{}}
	for d, n := range t.Blobs {
		if n -= before.Blobs[d]; n != 0 {
			out.Blobs[d] = n
		}
	}
	return out
}

// FileName makes an image's name one that can stand in a path and in a
// reference: alpine:3 becomes alpine-3.
func FileName(imageName string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, strings.ToLower(imageName)), "-.")
}
