//go:build linux

package collect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// energy reads RAPL, the processors' own estimate of the energy that they
// took: counters in µJ that wrap around. What runs on the machine beside the
// trial is in them.
// https://docs.kernel.org/power/powercap/powercap.html
type energy struct {
	packages, memory []counter
}

type counter struct {
	file
	top  int64 // the counter goes from here to 0
	last int64
	sum  int64
}

func openEnergy(t *target) (instrument, error) {
	zones, _ := filepath.Glob(t.m.path("/sys/class/powercap/intel-rapl:*")) // the pattern is well-formed
	e := &energy{}
	for _, zone := range zones {
		name, err := os.ReadFile(zone + "/name")
		if err != nil {
			continue
		}
		var into *[]counter
		switch n := kernelName(name); {
		case strings.HasPrefix(n, "package-"):
			into = &e.packages
		case n == "dram":
			into = &e.memory
		default: // core and uncore are parts of package
			continue
		}
		c, err := openCounter(zone)
		if err != nil {
			e.close()
			return nil, err
		}
		*into = append(*into, c)
	}
	if len(e.packages) == 0 {
		return nil, absent("the processor reports no energy (RAPL): /sys/class/powercap has none")
	}
	return e, nil
}

func openCounter(zone string) (counter, error) {
	f, err := openFile(zone + "/energy_uj")
	if err != nil {
		return counter{}, err
	}
	c := counter{file: f}
	buf := make([]byte, 64)
	top, err := openFile(zone + "/max_energy_range_uj")
	if err == nil {
		c.top, err = top.number(buf)
		top.close()
	}
	if err == nil {
		c.last, err = f.number(buf)
	}
	if err != nil {
		f.close()
		return counter{}, err
	}
	return c, nil
}

// step reads the counter and gives what it has counted since it was opened.
func (c *counter) step(buf []byte) (int64, error) {
	n, err := c.number(buf)
	if err != nil {
		return 0, err
	}
	c.sum += n - c.last
	if n < c.last {
		c.sum += c.top + 1
	}
	c.last = n
	return c.sum, nil
}

func (e *energy) read(out []int64, buf []byte) error {
	for i, counters := range [...][]counter{e.packages, e.memory} {
		if len(counters) == 0 {
			continue
		}
		out[i] = 0
		for k := range counters {
			n, err := counters[k].step(buf)
			if err != nil {
				return err
			}
			out[i] += n
		}
	}
	return nil
}

func (e *energy) close() {
	for _, c := range slices.Concat(e.packages, e.memory) {
		c.file.close()
	}
}
