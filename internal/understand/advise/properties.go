package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// property is something that can be required.
type property struct {
	word string
	// row is the feature that says it of the engine, where there is one.
	row string
	// see asks the run what it knows of this environment.
	see func(v *view) Fact
	// own: only what is known of the environment itself decides. That its
	// engine could do it is a hint.
	own bool
}

// view is what one run knows of an environment.
type view struct {
	run   string
	env   record.Environment
	audit *audit.Environment
	host  record.Host
}

// Words lists the properties that a run itself can tell.
func Words() []string {
	return lists.Map(fromRun, func(p property) string { return p.word })
}

// fromRun are the properties that the record of a run can tell.
var fromRun = []property{
	{word: "rootless", row: "rootless", own: true, see: fact("rootless", map[string]State{"yes": Yes, "no": No})},
	{word: "daemonless", row: "daemonless", see: fact("daemon", map[string]State{"none": Yes, "*": No})},
	{word: "detached", row: "detached", see: held},
	{word: "engine-limits", own: true, see: fact("limits", map[string]State{"engine": Yes, "cgroup-of-ours": No})},
	{word: "own-kernel", own: true, see: ownKernel},
	{word: "vm-isolation", own: true, see: virtualMachine},
	{word: "user-namespace", own: true, see: inside("ns.user", "own", "host")},
	{word: "own-network", own: true, see: ownNetwork},
	{word: "syscall-filter", own: true, see: inside("seccomp-mode", "2", "0")},
}

// fact reads a fact of the environment. "*" stands for any other value.
func fact(key string, states map[string]State) func(*view) Fact {
	return func(v *view) Fact {
		f := Fact{State: Unknown, From: fromFacts, Text: key + ": not recorded", Source: fmt.Sprintf("run.json: environment %s, fact %s", v.env.ID, key)}
		value := v.env.Facts[key]
		if value == "" {
			return f
		}
		f.Text = key + ": " + value
		for _, k := range []string{value, "*"} {
			if s, ok := states[k]; ok {
				f.State = s
				break
			}
		}
		return f
	}
}

// held says whether the engine held a container by itself.
func held(v *view) Fact {
	f := fact("held", map[string]State{"engine": Yes, "background": No})(v)
	if why := v.env.Facts["held-reason"]; why != "" {
		f.Text += ", " + why
	}
	return f
}

// seen reads what the payload saw.
func (v *view) seen(key string) (Fact, string) {
	f := Fact{State: Unknown, From: fromInside, Text: "no payload has reported it", Source: "inside.jsonl: environment " + v.env.ID + ", " + key}
	if v.audit == nil {
		return f, ""
	}
	return f, v.audit.Isolation[key]
}

// inside reads what the payload saw. Under a kernel of its own it saw that
// kernel's, which says nothing of the host's.
func inside(key, yes, no string) func(*view) Fact {
	return func(v *view) Fact {
		f, value := v.seen(key)
		switch {
		case value == "":
		case v.audit.Guest:
			f.Text = "a kernel of its own hides the host's"
		default:
			f.Text = strings.TrimPrefix(key, "ns.") + " " + audit.Words(key, value)
			if s, ok := map[string]State{yes: Yes, no: No}[value]; ok {
				f.State = s
			}
		}
		return f
	}
}

// ownKernel compares the kernel seen from inside with the host's.
func ownKernel(v *view) Fact {
	f, kernel := v.seen("kernel")
	switch {
	case kernel == "" || v.host.Kernel == "":
	case kernel != v.host.Kernel:
		f.State, f.Text = Yes, "kernel "+kernel
	case v.audit.Guest:
		f.Text = "a kernel of the host's name with another clock"
	default:
		f.State, f.Text = No, "the host's kernel"
	}
	return f
}

// virtualMachine needs a kernel of its own, and a runtime that is known to
// give it a virtual machine: gVisor's kernel is a process of the host.
func virtualMachine(v *view) Fact {
	f := ownKernel(v)
	if f.State != Yes {
		return f
	}
	runtime := cmp.Or(v.env.Facts["runtime"], v.env.Levels["runtime"], "that is not recorded")
	f.Text += ", runtime " + runtime
	switch name := strings.ToLower(runtime); {
	case strings.Contains(name, "kata"), strings.Contains(name, "firecracker"):
	case strings.Contains(name, "runsc"), strings.Contains(name, "gvisor"):
		f.State = No
		f.Text += ", whose kernel is a process of the host"
	default:
		f.State = Unknown
	}
	return f
}

// ownNetwork: a kernel of its own has a network stack of its own unless the
// engine was told to share the host's.
func ownNetwork(v *view) Fact {
	if v.env.Facts["network"] == "host" {
		return fact("network", map[string]State{"host": No})(v)
	}
	f := inside("ns.net", "own", "host")(v)
	if f.State == Unknown && v.audit != nil && v.audit.Guest {
		return fact("network", map[string]State{"*": Yes})(v)
	}
	return f
}

// catalogue is what can be asked: the run's properties and the rows of a
// feature table.
type catalogue struct {
	features *record.Features
}

func properties(f *record.Features) catalogue { return catalogue{f} }

func (k catalogue) words() []string {
	out := Words()
	if k.features != nil {
		for _, r := range k.features.Rows {
			out = analyze.Also(out, r.ID)
		}
	}
	return out
}

// find is nil for a word that nobody knows.
func (k catalogue) find(word string) *property {
	for i := range fromRun {
		if fromRun[i].word == word {
			return &fromRun[i]
		}
	}
	if k.features != nil {
		if _, ok := k.features.Row(word); ok {
			return &property{word: word, row: word}
		}
	}
	return nil
}

// answers gives the answer of an environment to each demand, from all runs that
// have it.
func (k catalogue) answers(c *candidate, demands []Demand) []Answer {
	views := make([]*view, len(c.runs))
	for i, r := range c.runs {
		views[i] = &view{run: r.Run.ID, env: *environment(r, c.env.ID), host: r.Run.Host}
		if r.Audit != nil {
			views[i].audit = r.Audit.Environment(c.env.ID)
		}
	}
	out := []Answer{}
	for _, d := range demands {
		out = append(out, k.answer(d, views))
	}
	return out
}

func environment(r *analyze.Result, id string) *record.Environment {
	i := slices.IndexFunc(r.Environments, func(e record.Environment) bool { return e.ID == id })
	return &r.Environments[i]
}

// answer is yes where one of the properties holds, and not known where none
// is known to hold and one might.
func (k catalogue) answer(d Demand, views []*view) Answer {
	a := Answer{Is: d.Is, Why: d.Why, State: No}
	for _, word := range d.Is {
		state, facts := k.ask(k.find(word), views)
		a.Facts = append(a.Facts, facts...)
		if state == Yes || a.State != Yes && state == Unknown {
			a.State = state
		}
	}
	return a
}

// ask puts together what the runs and the feature table say: no where any says
// no, yes where one says yes and none says no. A run that has nothing to say,
// as one whose payloads look at nothing, takes nothing back.
func (k catalogue) ask(p *property, views []*view) (State, []Fact) {
	var facts []Fact
	state := Unknown
	take := func(f Fact, counts bool) {
		f.Property = p.word
		facts = append(facts, f)
		if counts && (f.State == No || f.State == Yes && state != No) {
			state = f.State
		}
	}
	if p.see != nil {
		for _, f := range seenBy(p, views) {
			take(f, true)
		}
	}
	if k.features == nil || p.row == "" {
		return state, facts
	}
	if _, ok := k.features.Row(p.row); ok {
		take(k.cell(p.row, views[0].env.Engine), !p.own)
	}
	return state, facts
}

// seenBy is what runs know of a property, the same of several once; where none
// knows it, why the first does not.
func seenBy(p *property, views []*view) []Fact {
	var out, unknown []Fact
	for _, v := range views {
		f := p.see(v)
		if len(views) > 1 {
			f.Source = "run " + v.run + ": " + f.Source
		}
		same := func(o Fact) bool { return o.State == f.State && o.From == f.From && o.Text == f.Text }
		switch {
		case f.State == Unknown:
			unknown = append(unknown, f)
		case !slices.ContainsFunc(out, same):
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return unknown[:1]
	}
	return out
}

// cell is what the feature table found by trying. What was published of the
// engine plays no part.
func (k catalogue) cell(row, engine string) Fact {
	c := k.features.Cell(row, engine)
	f := Fact{State: No, From: fromFeatures, Text: row + ": " + string(c.Value), Source: record.FeaturesFile + ": row " + row + ", engine " + engine}
	switch {
	case c.Value == record.FeatureYes:
		f.State = Yes
	case c.Value == record.FeatureUntried, c.LeavesOpen(string(record.FeatureYes)):
		f.State = Unknown
	}
	if c.Why != "" {
		f.Text += ", " + c.Why
	}
	return f
}
