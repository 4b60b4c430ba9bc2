package adapter

import (
	"strings"

	"plimsoll/internal/common/dataimage"
	"plimsoll/internal/measure/engine"
)

// JudgeLayers holds the payload's overlay against the layers that its image was made
// with, of an engine that keeps them apart: one that has laid them together first would
// be said to do so for nothing. What is no overlay tells nothing of them.
func JudgeLayers(spec engine.Spec, inside map[string]string) error {
	image, _ := dataimage.Parse(engine.ImageName(spec))
	want, _, ok := image.Number()
	if image.Kind != dataimage.Layers || !ok || inside["root.fs"] != "overlay" {
		return nil
	}
	if got := lower(inside["root.options"]); got < int(want) {
		return Wrong("asked for an image with %.0f layers, and the payload saw an overlay over %d directories", want, got)
	}
	return nil
}

// lower counts the directories below an overlay, by its mount options: all in one, or
// one in each where they were given one by one (lowerdir+, of Linux 6.8).
func lower(options string) (n int) {
	for o := range strings.SplitSeq(options, ",") {
		key, value, _ := strings.Cut(o, "=")
		switch key {
		case "lowerdir":
			n += 1 + strings.Count(value, ":")
		case "lowerdir+":
			n++
		}
	}
	return n
}

// Count counts the bytes that are written to it, and keeps none.
type Count int64

func (c *Count) Write(p []byte) (int, error) {
	*c += Count(len(p))
	return len(p), nil
}
