package workload

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/yamlfile"
)

// A taking is a part of what a trial takes beside the life of its container: a
// time, as often as the product of some parameters says.
type taking struct {
	at   yamlfile.Pos
	Time yamlfile.Duration `key:"time" jsonschema:"required" jsonschema_description:"A time, such as 800ms, or for each of what follows."`
	By   []argument        `key:"by" jsonschema:"minItems=1" jsonschema_description:"Parameters that are numbers or sizes: the time is taken as often as their product."`
}

// Place says where it stands.
func (x *taking) Place(at yamlfile.Pos) { x.at = at }

// longest bounds an estimate: some 290 years are what a time.Duration can say.
const longest = float64(1 << 62)

// TrialTime estimates what one trial takes where a container's life takes as long
// as is given. Of a workload of a user's that does not say, only the parameter
// seconds is known.
func (w Workload) TrialTime(params map[string]string, life time.Duration) time.Duration {
	chosen := w.chosen(params)
	if w.takes != nil {
		return w.takes(chosen, life)
	}
	all := float64(life)
	switch {
	case w.file != nil && w.file.Takes != nil:
		for _, t := range w.file.Takes {
			part := float64(t.Time.NS)
			for _, name := range t.By {
				n, _ := amount(chosen[name.Text]) // the levels were read when the file was
				part *= n
			}
			all += part
		}
	default:
		if n, ok := amount(chosen["seconds"]); ok {
			all += n * float64(time.Second)
		}
	}
	return time.Duration(min(all, longest))
}

// estimated says whether the workload tells what it takes.
func (w Workload) estimated() bool {
	return w.takes != nil || w.file != nil && w.file.Takes != nil
}

// chosen are the parameters' levels; of a missing one the first.
func (w Workload) chosen(params map[string]string) map[string]string {
	all := map[string]string{}
	for name, levels := range w.Parameters {
		all[name] = levels[0]
	}
	maps.Copy(all, params)
	return all
}

// amount reads a level that is a number, or a size such as 11.9MB or 1G.
func amount(level string) (float64, bool) {
	by := 1.0
	for _, u := range []struct {
		suffix string
		by     float64
	}{{"kB", 1e3}, {"MB", 1e6}, {"G", 1 << 30}, {"M", 1 << 20}} {
		if s, ok := strings.CutSuffix(level, u.suffix); ok {
			level, by = s, u.by
			break
		}
	}
	v, err := strconv.ParseFloat(level, 64)
	return v * by, err == nil && v >= 0
}

// takes checks what a trial is said to take.
func (c *checker) takes(t *taking) {
	if t.Time.At.Given() && t.Time.NS == 0 {
		c.Add(t.Time.At, "time is 0", "a time above 0")
	}
	for _, name := range t.By {
		p := c.f.parameter(name.Text)
		if p == nil {
			c.Unknown(name.At, "parameter", name.Text, c.f.parameterNames())
			continue
		}
		for _, l := range p.Levels.List {
			if _, ok := amount(l.Text); !ok {
				c.Add(name.At, "by has the parameter "+yamlfile.Quote(name.Text)+", of which a level is "+yamlfile.Quote(l.Text), "a parameter whose levels are numbers or sizes")
				break
			}
		}
	}
}
