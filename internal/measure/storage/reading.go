package storage

import (
	"fmt"
	"maps"
	"slices"
)

// Reading is what a source counted up to one moment, by instance: a mount, a
// target, a brick.
type Reading map[string]Instance

// Instance is one set of counters, which began together.
type Instance struct {
	// Born tells two lives of one name apart, as far as the file system says
	// anything of it: a mount that was made again, a server that was restarted.
	Born string
	// Counters are by id. One whose name begins with a dot is not handed on: it
	// only shows that all began anew.
	Counters map[string]int64
	// Earlier holds what counters had come to when they last began anew on
	// purpose, such as with each hour; nil where they never do.
	Earlier map[string]int64
}

// difference is what was counted between two readings of one source. Where a
// part of it can't be known, no value is given at all, since a sum without it
// would be too small; remarks say why.
func difference(source string, before, after Reading) (values map[string]int64, remarks []string) {
	values = map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[name]; !there {
			remarks = append(remarks, fmt.Sprintf("%s: %s went away within the window, so that what it did is not known", source, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, there := before[name]
		grown, ok := after[name].since(old, there)
		if !ok {
			remarks = append(remarks, fmt.Sprintf("%s: the counters of %s began anew within the window, so that what it did is not known", source, name))
			continue
		}
		for id, n := range grown {
			values[id] += n
		}
	}
	if len(remarks) > 0 {
		return nil, remarks
	}
	return values, nil
}

// since is what an instance counted after an older reading of it; without one
// it was made within the window, and all is of it.
func (i Instance) since(old Instance, there bool) (map[string]int64, bool) {
	out := map[string]int64{}
	rolled := there && i.Earlier != nil && !maps.Equal(i.Earlier, old.Earlier)
	if there && i.Born != old.Born {
		return nil, false
	}
	for id, n := range i.Counters {
		before := old.Counters[id]
		switch {
		case rolled && i.Earlier[id] >= before:
			n += i.Earlier[id] - before
		case rolled || n < before:
			return nil, false
		default:
			n -= before
		}
		if id[0] != '.' {
			out[id] = n
		}
	}
	return out, true
}
