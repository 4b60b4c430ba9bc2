package workload

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// sizeParts is a level that is a size: a plain number of bytes, one with the
// letter of a power of 1024, as fio and sysbench have it, or with a unit.
var sizeParts = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(|[KMGT]|B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$`)

var sizeUnits = map[string]float64{
	"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// bytesOf reads such a level.
func bytesOf(level string) (float64, bool) {
	m := sizeParts.FindStringSubmatch(level)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n * sizeUnits[m[2]], err == nil
}

// room is what a trial with these parameters takes on disk: what the file says,
// or the product of the parameters that it names where that is more.
func (f *document) room(params map[string]string) int64 {
	least := f.Needs.Disk.Bytes
	if len(f.Needs.DiskOf.List) == 0 {
		return least
	}
	product := 1.0
	for _, w := range f.Needs.DiskOf.List {
		n, ok := bytesOf(params[w.Text])
		if !ok {
			return least
		}
		product *= n
	}
	return max(least, int64(min(product, math.MaxInt64/2)))
}

// diskOf checks that the room is of parameters that are sizes or numbers.
func (c *checker) diskOf() {
	for _, w := range c.f.Needs.DiskOf.List {
		p := c.f.parameter(w.Text)
		if p == nil {
			c.Add(w.At, fmt.Sprintf("disk-of names the parameter %s, and the workload has none of that name", w.Text), "a parameter")
			continue
		}
		for _, l := range p.Levels.List {
			if _, ok := bytesOf(l.Text); !ok {
				c.Add(w.At, fmt.Sprintf("disk-of names the parameter %s, whose level %s is not a size", w.Text, l.Text), "sizes, such as 64M or 11.9MB, or numbers")
			}
		}
	}
}
