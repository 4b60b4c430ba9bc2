// Package dataimage names the images that have data in a layer of their own.
//
// It is opinionated: how much there is stands in the name, so that a record that
// names its image says it, and a curve can be drawn over it.
//
// Why it is so: docs/decisions/images.md.
package dataimage

import (
	"slices"
	"strconv"
	"strings"
)

// Prefix is how the names of such images begin, as if they were of a registry.
const Prefix = "plimsoll/"

// The kinds of data.
const (
	Files    = "files"    // so many small files
	Archive  = "archive"  // an archive of so many small files
	Database = "database" // a database of some size
	Layers   = "layers"   // the same small files in so many layers
)

// sizes are the five of everarts2020's databases, in bytes.
var sizes = []struct {
	name  string
	bytes float64
}{{"xs", 151.6e3}, {"sm", 536.6e3}, {"md", 2.6e6}, {"lg", 11.9e6}, {"xl", 111.6e6}}

// Sizes lists the names of the databases' sizes, ascending.
func Sizes() []string {
	var out []string
	for _, s := range sizes {
		out = append(out, s.name)
	}
	return out
}

// Bytes is how large a database of a size is, bytes.
func Bytes(size string) (float64, bool) {
	for _, s := range sizes {
		if s.name == size {
			return s.bytes, true
		}
	}
	return 0, false
}

// Image is what a name says: plimsoll/files-1000:busybox is a thousand files
// over busybox.
type Image struct{ Kind, Size, Base string }

// Parse takes a name apart; false where it is of no image with data. Whether there
// is such an image is the maker's to say.
func Parse(name string) (Image, bool) {
	rest, ok := strings.CutPrefix(name, Prefix)
	what, base, colon := strings.Cut(rest, ":")
	kind, size, dash := strings.Cut(what, "-")
	return Image{kind, size, base}, ok && colon && dash
}

// Number is how much data there is: bytes of a database (unit "bytes"), else how
// many files or layers (unit ""). False where the size is none.
func (i Image) Number() (x float64, unit string, ok bool) {
	if i.Kind == Database {
		x, ok = Bytes(i.Size)
		return x, "bytes", ok
	}
	if !slices.Contains([]string{Files, Archive, Layers}, i.Kind) {
		return 0, "", false
	}
	n, err := strconv.Atoi(i.Size)
	return float64(n), "", err == nil && n > 0
}

// What names what there is so much of, as the title of an axis.
func (i Image) What() string {
	switch i.Kind {
	case Database:
		return "size of the database in the image"
	case Archive:
		return "files in the image's archive"
	case Layers:
		return "layers of the image"
	}
	return "files in the image"
}
