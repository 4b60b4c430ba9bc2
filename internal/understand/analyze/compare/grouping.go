package compare

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// Filter keeps the cells whose factor Key has one of Values.
type Filter struct {
	Key    string
	Values []string
}

// ParseFilter reads "factor=level" or "factor=level,level".
func ParseFilter(s string) (Filter, error) {
	key, values, ok := strings.Cut(s, "=")
	if !ok || key == "" || values == "" {
		return Filter{}, fmt.Errorf("filter %q: expected factor=level or factor=level,level, such as client=api", s)
	}
	return Filter{Key: key, Values: strings.Split(values, ",")}, nil
}

// The factors that every cell has.
var always = []string{"workload", "metric", "engine", "environment"}

// Grouping is the table of --row and --col.
type Grouping struct {
	Row  []string   `json:"row"`
	Col  []string   `json:"col"`
	Rows [][]string `json:"rows"` // the levels of each row's factors
	Cols [][]string `json:"cols"`
	// Places has the cells of each row and column, as indices of Changes.Cells.
	Places [][]Place `json:"places"`
}

// Place is where a row and a column meet.
type Place struct {
	Cells []int `json:"cells"`
	// Hidden are the factors in which several cells differ: no number stands
	// for all of them.
	Hidden []string `json:"hidden,omitempty"`
}

// Level is a cell's level of a factor, "-" where it has none.
func (c *Change) Level(factor string) string {
	switch factor {
	case "workload":
		return c.Workload
	case "metric":
		return c.Metric.ID
	case "engine":
		return c.Engine
	case "environment":
		return c.Name()
	}
	if l, ok := c.Levels[factor]; ok && l != "" {
		return l
	}
	return "-"
}

// factors are all that the cells have, those of every cell first.
func (c *Changes) factors() []string {
	set := map[string]bool{}
	for i := range c.Cells {
		for f := range c.Cells[i].Levels {
			set[f] = true
		}
	}
	return append(slices.Clone(always), slices.DeleteFunc(audit.InOrder(set), func(f string) bool { return slices.Contains(always, f) })...)
}

// levels are all levels of a factor, in the order of the cells.
func (c *Changes) levels(factor string) []string {
	var out []string
	for i := range c.Cells {
		out = analyze.Also(out, c.Cells[i].Level(factor))
	}
	return out
}

// Keep leaves the chosen cells, and sampled metrics only where they are
// asked for.
func (c *Changes) Keep(o Options) error {
	known := c.factors()
	for _, k := range append(slices.Clone(o.Row), o.Col...) {
		if !slices.Contains(known, k) {
			return &analyze.ChoiceError{What: "factor", Word: k, Known: known}
		}
	}
	asked := slices.Clone(o.Metrics)
	for _, f := range o.Filter {
		if !slices.Contains(known, f.Key) {
			return &analyze.ChoiceError{What: "factor", Word: f.Key, Known: known}
		}
		levels := c.levels(f.Key)
		for _, v := range f.Values {
			if !slices.Contains(levels, v) {
				return &analyze.ChoiceError{What: "level of " + f.Key, Word: v, Known: levels}
			}
		}
		if f.Key == "metric" {
			asked = append(asked, f.Values...)
		}
	}
	c.Cells = slices.DeleteFunc(c.Cells, func(ch Change) bool {
		if ch.Metric.Kind != "" && !slices.ContainsFunc(asked, func(g string) bool { return Glob(g, ch.Metric.ID) }) {
			return true
		}
		return slices.ContainsFunc(o.Filter, func(f Filter) bool { return !slices.Contains(f.Values, ch.Level(f.Key)) })
	})
	c.Failures = slices.DeleteFunc(c.Failures, func(f FailureChange) bool {
		return !slices.ContainsFunc(c.Cells, func(ch Change) bool { return ch.Workload == f.Workload && ch.Env == f.Env })
	})
	return nil
}

// Glob matches a name; * stands for any characters, also for none.
func Glob(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// group makes the table of rows and columns, or nil where none is asked for.
func (c *Changes) group(row, col []string) *Grouping {
	if len(row)+len(col) == 0 {
		return nil
	}
	g := &Grouping{Row: row, Col: col}
	label := func(ch *Change, factors []string) []string {
		out := []string{}
		for _, f := range factors {
			out = append(out, ch.Level(f))
		}
		return out
	}
	place := func(list *[][]string, l []string) int {
		if i := slices.IndexFunc(*list, func(o []string) bool { return slices.Equal(o, l) }); i >= 0 {
			return i
		}
		*list = append(*list, l)
		return len(*list) - 1
	}
	at := make([][2]int, len(c.Cells))
	for i := range c.Cells {
		at[i] = [2]int{place(&g.Rows, label(&c.Cells[i], row)), place(&g.Cols, label(&c.Cells[i], col))}
	}
	g.Places = make([][]Place, len(g.Rows))
	for r := range g.Places {
		g.Places[r] = make([]Place, len(g.Cols))
	}
	for i, p := range at {
		cells := &g.Places[p[0]][p[1]].Cells
		*cells = append(*cells, i)
	}
	factors := c.factors()
	for r := range g.Places {
		for k := range g.Places[r] {
			g.Places[r][k].Hidden = c.varying(g.Places[r][k].Cells, factors)
		}
	}
	return g
}

// varying names the factors in which cells differ. The environment stands for
// its factors, and is named only where no other tells the cells apart.
func (c *Changes) varying(cells []int, factors []string) []string {
	var out []string
	for _, f := range factors {
		if f == "environment" {
			continue
		}
		for _, i := range cells {
			if c.Cells[i].Level(f) != c.Cells[cells[0]].Level(f) {
				out = append(out, f)
				break
			}
		}
	}
	if out == nil && len(cells) > 1 {
		out = []string{"environment"}
	}
	return out
}

// hidden is the remark on a grouping in which a factor varies unseen.
func (c *Changes) hidden() {
	if c.Grouping == nil {
		return
	}
	var all []string
	places := 0
	for _, row := range c.Grouping.Places {
		for _, p := range row {
			if len(p.Hidden) == 0 {
				continue
			}
			places++
			all = analyze.Also(all, p.Hidden...)
		}
	}
	if places == 0 {
		return
	}
	c.Remarks = append(c.Remarks, record.Remark{Code: "hidden-factor", Level: "warn",
		Text:   fmt.Sprintf("the grouping has several cells in %d of its places, which differ in %s: no number stands for them", places, strings.Join(all, ", ")),
		Advice: fmt.Sprintf("add --row %s, or keep one level of it by --filter", all[0])})
}
