//go:build linux

package imagestore

import (
	"cmp"
	"maps"
	"path"
	"slices"
)

// content is what an image holds: the whole tree, and the layers that it is
// made of.
type content struct {
	tree
	layers []tree // the lowest first; laid over each other they are tree
	// facts say what it was made from: release, versions of packages.
	facts map[string]string
	// sum and rest are the tree's digests, with the probe and without it, once they
	// were asked for.
	sum, rest string
}

// contentOf lays layers over each other.
func contentOf(facts map[string]string, layers ...tree) *content {
	c := &content{layers: layers, facts: facts}
	if len(layers) == 1 {
		c.tree = layers[0]
		return c
	}
	all := map[string]entry{}
	for _, l := range layers {
		for _, e := range l {
			if e.kind == kindGone { // with all that lies in it
				maps.DeleteFunc(all, func(p string, _ entry) bool { return within(e.path, p) })
				continue
			}
			all[e.path] = e
		}
	}
	c.tree = slices.SortedFunc(maps.Values(all), func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return c
}

// digest is the tree's, computed once.
func (c *content) digest() string {
	if c.sum == "" {
		c.sum, c.rest = c.digests()
	}
	return c.sum
}

// withoutProbe is the digest of the tree without the probe.
func (c *content) withoutProbe() string {
	c.digest()
	return c.rest
}

// labels are those of the image's configuration.
func (c *content) labels(imageName string) map[string]string {
	l := map[string]string{"org.opencontainers.image.title": "plimsoll " + imageName}
	for k, v := range c.facts {
		l["plimsoll."+k] = v
	}
	return l
}

// over gives the layer that makes whole out of base: what is new or other,
// and what is gone. Directories above it come along, as tools expect them.
func over(base, whole tree) tree {
	var out tree
	for i := range whole {
		e := &whole[i]
		if at, found := base.find(e.path); !found || !base[at].same(e) {
			out = append(out, *e)
		}
	}
	gone := ""
	for i := range base {
		e := &base[i]
		if gone != "" && within(gone, e.path) || whole.has(e.path) {
			continue
		}
		if up, ok := whole.find(path.Dir(e.path)); !ok || whole[up].kind != kindDir {
			continue // what was a directory there is none any more
		}
		gone = e.path // what lies in it goes with it
		out = append(out, entry{path: e.path, kind: kindGone})
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return out
}
