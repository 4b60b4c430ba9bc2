//go:build linux

package imagestore

import (
	"slices"
	"testing"

	"plimsoll/internal/measure/image"
)

// Engines offer the images by name, and each has a recipe.
func TestNames(t *testing.T) {
	var names []string
	for _, d := range List() {
		names = append(names, d.Name)
	}
	if !slices.Equal(names, image.Names()) {
		t.Errorf("there are recipes for %q, and the images are %q", names, image.Names())
	}
}
