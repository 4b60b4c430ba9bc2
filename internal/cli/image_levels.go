//go:build linux

package cli

import (
	"maps"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/understand/analyze"
)

// withImages gives an engine that takes images every image of the catalogue:
// which there are is the store's to say, not the adapter's.
func withImages(levels map[string][]string) map[string][]string {
	known := levels[engine.Image]
	if len(known) == 0 {
		return levels
	}
	out := maps.Clone(levels)
	all := lists.Map(imagestore.List(), func(d imagestore.Description) string { return d.Name })
	out[engine.Image] = analyze.Also(slices.Clone(known), all...)
	return out
}

// imageUsable says whether the image that is named can be had without being
// built first. One by reference is fetched when it is used, which tells.
func imageUsable(store *imagestore.Store, levels map[string]string) (ok bool, reason, fix string) {
	name := levels[engine.Image]
	if name == "" || name == engine.DefaultLevel {
		return true, "", ""
	}
	st, err := store.State(name)
	if err != nil {
		return false, err.Error(), ""
	}
	if st.State == imagestore.NotBuilt || st.State == imagestore.Unavailable {
		return false, imageReason(name, st), st.Fix
	}
	return true, "", ""
}
