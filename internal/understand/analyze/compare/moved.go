package compare

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

// Moved says which steps, and which mechanisms where they were measured, make a
// duration longer or shorter.
type Moved struct {
	Workload string        `json:"workload"`
	Metric   record.Metric `json:"metric"`
	Env      string        `json:"env"`
	NewEnv   string        `json:"new_env,omitempty"`
	// By is how much longer NEW takes, in the metric's unit, on BASE's machine:
	// BASE's median times what the ratio is more than 1. Its interval is the ratio's.
	By sample.Estimate `json:"by"`
	// Steps are the parts that it consists of, in the order of time.
	Steps []Part `json:"steps"`
	// Mechanisms are those whose cost alone has changed beyond its interval.
	Mechanisms []Part `json:"mechanisms,omitempty"`
}

// Part is a part of what moved.
type Part struct {
	// Name is a metric's id, or that of a mechanism.
	Name  string          `json:"name"`
	Title string          `json:"title,omitempty"`
	By    sample.Estimate `json:"by"`
	// Beyond says that the interval of By does not hold 0.
	Beyond bool `json:"beyond"`
}

// moved finds where each duration that is better or worse has changed. What is part
// of another one that has is said there.
func (c *Changes) moved() (out []Moved) {
	for i := range c.Cells {
		whole := &c.Cells[i]
		if !changed(whole) {
			continue
		}
		parts, top := c.partsOf(whole)
		if steps := stepsOf(parts); top && len(steps) > 0 {
			out = append(out, c.movedBy(whole, steps))
		}
	}
	return out
}

func (c *Changes) movedBy(whole *Change, steps []Part) Moved {
	return Moved{
		Workload: whole.Workload, Metric: whole.Metric, Env: whole.Env, NewEnv: whole.NewEnv, By: by(whole),
		Steps: steps, Mechanisms: c.mechanisms(whole),
	}
}

// partsOf are the cells that are parts of one, and whether it is itself part of none
// that has changed.
func (c *Changes) partsOf(whole *Change) (parts []*Change, top bool) {
	top = true
	for k := range c.Cells {
		x := &c.Cells[k]
		if x.Workload != whole.Workload || x.Env != whole.Env || x.NewEnv != whole.NewEnv || x.Ratio == nil || x.Base == nil {
			continue
		}
		top = top && !(changed(x) && analyze.Within(whole.Metric, x.Metric))
		if analyze.Within(x.Metric, whole.Metric) {
			parts = append(parts, x)
		}
	}
	return parts, top
}

// StepsBetween says by how much each step of a duration differs between two runs, in
// the order of time; nothing where the two can't be compared.
func StepsBetween(a, b *analyze.Result, workload, metric, env string) []Part {
	c, err := Between(a, b, Options{Filter: []Filter{{Key: "workload", Values: []string{workload}}, {Key: "environment", Values: []string{env}}}})
	if err != nil {
		return nil
	}
	for i := range c.Cells {
		if x := &c.Cells[i]; x.Metric.ID == metric && x.Workload == workload && x.Env == env {
			parts, _ := c.partsOf(x)
			return stepsOf(parts)
		}
	}
	return nil
}

// Most is the part that surely changed in this direction, and by the most.
func Most(parts []Part, by float64) *Part {
	var most *Part
	for i := range parts {
		if p := &parts[i]; p.Beyond && p.By.Value*by > 0 && (most == nil || math.Abs(p.By.Value) > math.Abs(most.By.Value)) {
			most = p
		}
	}
	return most
}

func changed(c *Change) bool {
	return analyze.Duration(c.Metric) && c.Ratio != nil && c.Base != nil && (c.Verdict == Worse || c.Verdict == Better)
}

// by is the change in the metric's own unit.
func by(c *Change) sample.Estimate {
	times := func(r float64) float64 { return c.Base.Value * (r - 1) }
	e := sample.Estimate{Value: times(c.Ratio.Value)}
	if c.Ratio.Lo != nil && c.Ratio.Hi != nil {
		e.Lo, e.Hi = new(times(*c.Ratio.Lo)), new(times(*c.Ratio.Hi))
	}
	return e
}

// stepsOf are the steps that parts consist of.
func stepsOf(parts []*Change) (steps []Part) {
	for _, p := range analyze.Steps(parts, func(c *Change) record.Metric { return c.Metric }) {
		steps = append(steps, partOf(p.Metric.ID, p.Metric.Title, by(p)))
	}
	return steps
}

func partOf(name, title string, e sample.Estimate) Part {
	return Part{Name: name, Title: title, By: e, Beyond: e.Lo != nil && (*e.Lo > 0 || *e.Hi < 0)}
}

// mechanisms are those whose cost alone differs between two runs that both took the
// environment's engine apart. The two are independent: the interval of the
// difference is that of Zou and Donner (2008) from those of the two.
func (c *Changes) mechanisms(whole *Change) (out []Part) {
	if c.Interleaved {
		return nil
	}
	old, next := c.waterfall(c.BaseRun.Ablations, whole, whole.Env), c.waterfall(c.NewRun.Ablations, whole, cmp.Or(whole.NewEnv, whole.Env))
	if old == nil || next == nil {
		return nil
	}
	for i := range old.Steps {
		a := &old.Steps[i]
		k := slices.IndexFunc(next.Steps, func(b ablation.Step) bool {
			return a.Mechanism != "" && b.Of == a.Of && b.Mechanism == a.Mechanism
		})
		if k < 0 || a.Alone == nil || next.Steps[k].Alone == nil {
			continue
		}
		if p := partOf(a.Mechanism, a.Title, difference(next.Steps[k].Alone, a.Alone)); p.Beyond {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(math.Abs(b.By.Value), math.Abs(a.By.Value)) })
	return out
}

func (c *Changes) waterfall(all []*ablation.Waterfall, whole *Change, env string) *ablation.Waterfall {
	for _, x := range all {
		if x.Base.Env == env && x.Workload == whole.Workload && x.Metric.ID == whole.Metric.ID {
			return x
		}
	}
	return nil
}

func difference(a, b *sample.Estimate) sample.Estimate {
	d := sample.Estimate{Value: a.Value - b.Value}
	if a.Lo != nil && b.Lo != nil {
		lo := d.Value - math.Hypot(a.Value-*a.Lo, *b.Hi-b.Value)
		hi := d.Value + math.Hypot(*a.Hi-a.Value, b.Value-*b.Lo)
		d.Lo, d.Hi = &lo, &hi
	}
	return d
}
