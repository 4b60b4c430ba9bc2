package study

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// Mechanism is something that an engine does at each start and that a level of a
// factor takes away, or adds: To instead of From.
type Mechanism struct {
	Name             string
	Factor, From, To string
	Title, Price     string
	Adds             bool
	Foreground       bool
	Beside           string `json:",omitempty"`
	ByName           bool   `json:",omitempty"`
}

// AllMechanisms stands in a study for all that can be taken away from an engine,
// AllAdditions for all that it can do and does not by itself.
const (
	AllMechanisms = "all"
	AllAdditions  = "additions"
)

const (
	withoutFactor = "without"
	tunedFactor   = "tuned"
	withFactor    = "with"
	joint         = "+"
)

// joinedFactors are those of which several levels may be joined.
var joinedFactors = []string{withoutFactor, withFactor, tunedFactor}

// parts are the levels that a level is made of.
func parts(factor, level string) []string {
	if !slices.Contains(joinedFactors, factor) {
		return []string{level}
	}
	return strings.Split(level, joint)
}

// heldOut is how many combinations of an ablation are there to be predicted, and
// heldOutOf of how many mechanisms each.
const (
	heldOut   = 3
	heldOutOf = 3
)

// again are the names under which the base is there once more.
var again = []string{"again", "again-2"}

// levelSet are the levels that an environment names, by factor.
type levelSet map[string]string

// without gives the levels with a mechanism taken away, or added; false where it is
// not there, or is already.
func (l levelSet) without(m *Mechanism) (levelSet, bool) {
	out := maps.Clone(l)
	if slices.Contains(joinedFactors, m.Factor) {
		before := l[m.Factor]
		if before == "" || before == defaultLevel {
			out[m.Factor] = m.To
			return out, true
		}
		out[m.Factor] = before + joint + m.To
		return out, !slices.Contains(parts(m.Factor, before), m.To)
	}
	out[m.Factor] = m.To
	return out, l[m.Factor] == m.From
}

// ablator makes the environments of the ablations of a study.
type ablator struct {
	cat    *Catalogue
	views  map[string]*view
	judge  *judge
	inside []inside              // what is to run in them
	over   map[*Mechanism]string // what one of two mechanisms in one takes away beside
	seed   uint64
	levels []levelSet // of the ablation that is being made, each environment once
	engine []string
}

// ablated is an ablation whose environments have no ids yet: they are numbers in
// entries.
type ablated struct {
	record.Ablation
	entries []Entry
}

// ablate puts the environments of its ablations in the place of the entries that
// ask for them. What can't be had here is not asked for, and said.
func (s *Study) ablate(cat *Catalogue, opts Options, seed uint64) (*Study, []*ablated) {
	var found []*ablated
	out := *s
	out.Parts = slices.Clone(s.Parts)
	for p := range out.Parts {
		var entries []Entry
		for _, e := range out.Parts[p].Environments {
			if e.Ablate == nil {
				entries = append(entries, e)
				continue
			}
			for _, name := range e.Engines {
				a := &ablator{cat: cat, views: views(cat), judge: newJudge(s, cat, opts.Usable), inside: s.insides(&out.Parts[p], cat), over: map[*Mechanism]string{}, seed: seed}
				x := a.make(s, &e, cat.engine(name))
				found = append(found, x)
				entries = append(entries, x.entries...)
			}
		}
		out.Parts[p].Environments = entries
	}
	return &out, found
}

// env is the number of an environment, written as the id that it has until names
// are given.
func (a *ablator) env(engine string, l levelSet) string {
	for i := range a.levels {
		if a.engine[i] == engine && maps.Equal(a.levels[i], l) {
			return fmt.Sprint(i)
		}
	}
	a.levels, a.engine = append(a.levels, l), append(a.engine, engine)
	return fmt.Sprint(len(a.levels) - 1)
}

// can says whether an environment can be had here, and if not, why.
func (a *ablator) can(engine string, l levelSet) string {
	c := combination{engine: a.views[engine], named: make([]string, len(a.cat.Factors))}
	for i, f := range a.cat.Factors {
		if v := l[f]; v != defaultLevel {
			c.named[i] = v
		}
	}
	v := a.judge.environment(&c)
	if v.kind == "" {
		v = a.judge.usable(&c, c.levels(a.cat))
	}
	if v.kind == "" {
		return a.idle(&c)
	}
	return v.reason
}

// first are the levels with everything: those that are named, else those that the
// mechanisms take away.
func first(e *EngineInfo, named levelSet) levelSet {
	out := maps.Clone(named)
	for _, m := range e.Mechanisms {
		if !m.Adds && m.Factor != withoutFactor && out[m.Factor] == "" {
			out[m.Factor] = m.From
		}
	}
	return out
}

func (a *ablator) make(s *Study, e *Entry, info *EngineInfo) *ablated {
	named := levelSet{}
	for f, l := range s.Common {
		if info.knows(f, l) {
			named[f] = l
		}
	}
	for _, axis := range e.Factors {
		named[axis.Name] = axis.Levels[0]
	}
	base := first(info, named)
	x := &ablated{Ablation: record.Ablation{Engine: info.Name, Base: a.env(info.Name, base)}}
	var asked []*Mechanism
	for i := range info.Mechanisms {
		m := &info.Mechanisms[i]
		if e.ablates(m) && (!m.Foreground || !a.keeps()) {
			asked = append(asked, m)
		}
	}
	asked = a.overBridges(info, base, asked)
	chain := base
	var gone []string
	var simple []*Mechanism
	for _, m := range asked {
		if m.Adds {
			if a.add(x, info.Name, base, m) {
				simple = append(simple, m)
			}
			continue
		}
		next, there := chain.without(m)
		if !there {
			continue // it is not in this base
		}
		step := record.AblationStep{Mechanism: m.Name, Title: m.Title, Price: m.Price}
		if a.alone(&step, info.Name, base, m, asked) {
			simple = append(simple, m)
		}
		if why := a.can(info.Name, next); why == "" {
			chain, step.After = next, a.env(info.Name, next)
			step.Missing = ""
			gone = append(gone, m.Name, a.over[m])
		}
		x.Steps = append(x.Steps, step)
	}
	x.Steps = append(x.Steps, unasked(e, info)...)
	a.holdOut(x, info.Name, base, simple)
	if len(x.Steps) > 0 {
		a.below(x, e, info, chain, gone)
	}
	for i, l := range a.levels {
		entry := Entry{Engines: []string{a.engine[i]}, at: e.at}
		for _, f := range slices.Sorted(maps.Keys(l)) {
			entry.Factors = append(entry.Factors, Axis{Name: f, Levels: []string{l[f]}})
		}
		x.entries = append(x.entries, entry)
	}
	for _, alias := range again {
		same := x.entries[0] // the base was the first
		same.As = []string{alias}
		x.Again = append(x.Again, fmt.Sprint(len(x.entries)))
		x.entries = append(x.entries, same)
	}
	return x
}

// add finds two environments of which one has a mechanism beside what the base
// does. It says whether the other one is the base.
func (a *ablator) add(x *ablated, engine string, base levelSet, m *Mechanism) bool {
	from := base
	if !slices.Contains(joinedFactors, m.Factor) {
		from = maps.Clone(base)
		from[m.Factor] = m.From
	}
	for _, beside := range parts(withFactor, m.Beside) {
		if more, ok := from.without(&Mechanism{Factor: withFactor, To: beside}); ok && beside != "" {
			from = more
		}
	}
	to, there := from.without(m)
	if !there {
		return false
	}
	if m.Factor == withoutFactor { // it is there by itself, but not in the base
		from, to = to, from
	}
	step := record.AblationStep{Mechanism: m.Name, Title: m.Title, Price: m.Price}
	if step.Missing = a.can(engine, from); step.Missing == "" {
		step.Missing = a.can(engine, to)
	}
	if step.Missing == "" {
		step.With, step.Without = a.env(engine, to), a.env(engine, from)
	}
	x.Added = append(x.Added, step)
	return step.Missing == "" && maps.Equal(from, base)
}

// unasked names what is not taken away with the others: settings of the daemon, and what
// only its name asks for. What other settings add is asked for like all additions.
func unasked(e *Entry, info *EngineInfo) (steps []record.AblationStep) {
	if !slices.Contains(e.Ablate, AllMechanisms) {
		return nil
	}
	for i := range info.Mechanisms {
		m := &info.Mechanisms[i]
		step := record.AblationStep{Mechanism: m.Name, Title: m.Title, Price: m.Price}
		switch {
		case e.ablates(m):
			continue
		case m.ByName:
			step.Missing = "only --mechanism " + m.Name + " asks for it: " + m.Price
		case m.Beside != "" && m.Factor == withoutFactor:
			step.Missing = "a setting of the daemon, for all its containers: --mechanism " + m.Name + " asks two private ones"
		default:
			continue
		}
		steps = append(steps, step)
	}
	return steps
}

// ablates says whether an entry asks for a mechanism.
func (e *Entry) ablates(m *Mechanism) bool {
	all := AllMechanisms
	if m.Adds {
		all = AllAdditions
	}
	return slices.Contains(e.Ablate, m.Name) || slices.Contains(e.Ablate, all) && !m.ByName
}

// alone finds two environments that differ in a mechanism and in nothing else:
// with the base, else with one other mechanism taken away from both. It says
// whether it is the base.
func (a *ablator) alone(step *record.AblationStep, engine string, base levelSet, m *Mechanism, all []*Mechanism) bool {
	if to, there := base.without(m); there {
		if step.Missing = a.can(engine, to); step.Missing == "" {
			step.With, step.Without = a.env(engine, base), a.env(engine, to)
			return true
		}
	}
	for _, other := range all {
		given, ok := base.without(other)
		if !ok || other == m || other.Adds {
			continue
		}
		if to, there := given.without(m); there && a.can(engine, given) == "" && a.can(engine, to) == "" {
			step.With, step.Without, step.Given, step.Missing = a.env(engine, given), a.env(engine, to), other.Name, ""
			return false
		}
	}
	return false
}

// holdOut takes several mechanisms away at once, of those that are estimated one
// by one. Of two or three there is only one combination of all: the chain has it, but
// what each costs alone is estimated without it. Of three there are pairs besides.
func (a *ablator) holdOut(x *ablated, engine string, base levelSet, simple []*Mechanism) {
	if len(simple) < 2 {
		return
	}
	r := rand.New(rand.NewPCG(a.seed, 0x61626c617465))
	a.holdOutOf(x, r, min(heldOutOf, len(simple)), engine, base, simple)
	if len(simple) == heldOutOf {
		a.holdOutOf(x, r, heldOutOf-1, engine, base, simple)
	}
}

// holdOutOf takes n of them away at once.
func (a *ablator) holdOutOf(x *ablated, r *rand.Rand, n int, engine string, base levelSet, simple []*Mechanism) {
	seen := map[string]bool{}
	for range 20 * heldOut {
		if len(x.HeldOut) == heldOut {
			return
		}
		l, there := base, true
		var names []string
		for _, i := range r.Perm(len(simple))[:n] {
			var ok bool
			l, ok = l.without(simple[i])
			there = there && ok
			names = append(names, simple[i].Name)
		}
		slices.Sort(names)
		if key := strings.Join(names, joint); !there || seen[key] || a.can(engine, l) != "" {
			continue
		} else {
			seen[key] = true
		}
		known := len(a.levels)
		if env := a.env(engine, l); env == fmt.Sprint(known) || len(simple) == n { // else a step has it
			x.HeldOut = append(x.HeldOut, record.HeldOut{Env: env, Mechanisms: names})
		}
	}
}

// below follows the engines that an engine calls, to the floor: each first without
// what was taken away above it, then, one after the other, without what only it
// can do without, as far as it is asked for.
func (a *ablator) below(x *ablated, e *Entry, info *EngineInfo, above levelSet, gone []string) {
	for info.Below != "" {
		if info = a.cat.engine(info.Below); info == nil {
			return
		}
		l := a.stays(info, above)
		for _, f := range []string{"runtime", imageFactor} {
			if v := above[f]; v != "" && v != defaultLevel && info.knows(f, v) {
				l[f] = v
			}
		}
		l = first(info, l)
		var rest []*Mechanism
		for i := range info.Mechanisms {
			m := &info.Mechanisms[i]
			next, there := l.without(m)
			switch {
			case m.Adds || !there || m.Foreground && a.keeps() || a.can(info.Name, next) != "":
			case m.Factor == "client" || slices.Contains(gone, m.Name):
				l = next
			case e.ablates(m):
				rest = append(rest, m)
			}
		}
		if a.can(info.Name, l) != "" {
			continue
		}
		b := record.Below{Engine: info.Name, Env: a.env(info.Name, l)}
		for _, m := range rest {
			next, there := l.without(m)
			if !there || a.can(info.Name, next) != "" {
				continue
			}
			b.Steps = append(b.Steps, record.AblationStep{Mechanism: m.Name, Title: m.Title, Price: m.Price, After: a.env(info.Name, next)})
			l, gone = next, append(gone, m.Name)
		}
		x.Below, above = append(x.Below, b), l
	}
	if info.Simulated {
		return // nothing that was measured belongs beside it
	}
	last := []string{floorBaseline}
	if a.runs() {
		last = append(last, nativeBaseline)
	}
	for _, name := range last {
		info := a.cat.engine(name)
		if info == nil {
			continue
		}
		if l := a.stays(info, above); a.can(name, l) == "" {
			x.Below = append(x.Below, record.Below{Engine: name, Env: a.env(name, l)})
		}
	}
}

// stays are the levels that are no engine's own, and so the same down to the floor: what
// the machine is set to, and the limits.
func (a *ablator) stays(info *EngineInfo, above levelSet) levelSet {
	l := levelSet{}
	for f, v := range above {
		if (f == tunedFactor || limitLevels[f] != "") && v != defaultLevel && info.knows(f, v) {
			l[f] = v
		}
	}
	return l
}

// floorBaseline is the least that the kernel can do, nativeBaseline no container.
const (
	floorBaseline  = "floor"
	nativeBaseline = "native"
)

// name gives the environments of an ablation their ids, and leaves out what the
// plan has not.
func (x *ablated) name(ids []string) record.Ablation {
	id := func(number string) string {
		var i int
		if _, err := fmt.Sscan(number, &i); err != nil {
			return ""
		}
		return ids[i]
	}
	out := x.Ablation
	out.Base = id(out.Base)
	out.Again = slices.Clone(out.Again)
	for i := range out.Again {
		out.Again[i] = id(out.Again[i])
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		s.With, s.Without, s.After = id(s.With), id(s.Without), id(s.After)
	}
	out.Added = slices.Clone(out.Added)
	for i := range out.Added {
		s := &out.Added[i]
		s.With, s.Without = id(s.With), id(s.Without)
	}
	for i := range out.HeldOut {
		out.HeldOut[i].Env = id(out.HeldOut[i].Env)
	}
	for i := range out.Below {
		b := &out.Below[i]
		b.Env = id(b.Env)
		for k := range b.Steps {
			b.Steps[k].After = id(b.Steps[k].After)
		}
	}
	return out
}
