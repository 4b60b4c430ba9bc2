package timeline

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Step is time on the way, by who waited for whom: below a program stand those
// that it waited for, and what its own time went into.
type Step struct {
	// Name is a program's, or a cause.
	Name string `json:"name"`
	// NS is the time in all, with that of the steps below, ns.
	NS int64 `json:"ns"`
	// Cause: what time went into, not who waited; nothing stands below it.
	Cause bool `json:"cause,omitempty"`
	// Unexplained: the time is seen, and what it was spent on is not.
	Unexplained bool `json:"unexplained,omitempty"`
	// First is when it first lay on the way, ns after the request.
	First int64 `json:"first_ns"`
	// Shorter is by how much less the whole would take without the step at most, ns, if all
	// else took as long as it did; nil where that is not asked (Shorten).
	Shorter *int64  `json:"shorter_ns,omitempty"`
	Steps   []*Step `json:"steps,omitempty"`

	// program is its name without what it has or does.
	program string
	// busy counts what the program was at, at the ticks of the clock in what it computed.
	busy map[string]int64
	// computed is how long the program computed, which its steps below were divided from:
	// divided is how much of that is a step's.
	computed, divided int64
}

// below finds or adds a step below.
func (s *Step) below(name string, cause bool, at int64) *Step {
	if b := s.find(name, cause); b != nil {
		return b
	}
	b := &Step{Name: name, Cause: cause, First: at}
	s.Steps = append(s.Steps, b)
	return b
}

// Tree is the way from the request to the end, summed up: the root is who asked.
func (c *Course) Tree() *Step {
	root := c.tree()
	root.divideAll([]*Course{c})
	return root
}

// tree is Tree before what programs computed is divided.
func (c *Course) tree() *Step {
	root := &Step{Name: c.name(c.Waiter, 0)}
	root.program = root.Name
	for _, p := range c.Path() {
		at, last := root, root.Name
		root.NS += p.Span()
		for _, l := range c.chain(&p) {
			at, last = at.below(l.name, false, p.From), l.program
			at.program = last
			at.NS += p.Span()
		}
		if p.computes() {
			at.found(c.Threads[p.Thread].parts(p.From, p.To))
		}
		why := p.why()
		leaf := at.below(why.Text, true, p.From)
		leaf.NS += p.Span()
		leaf.Unexplained = why.Unexplained || ofItself(why.Text, last)
	}
	return root
}

// link is a program on the way to a piece, by its name and with what it has or does.
type link struct{ program, name string }

// chain are the programs that waited for each other for a piece, without who asked.
func (c *Course) chain(p *Piece) (links []link) {
	last := c.name(c.Waiter, 0)
	for k, id := range append(p.For[:len(p.For):len(p.For)], p.Thread) {
		name, part := c.name(id, p.From), ""
		if k > 0 && !c.together(p.For[k-1], id) {
			part = p.Parts[k-1]
		}
		// The waiter's own threads, and a program's among each other, are one.
		if name != last || part != "" {
			links = append(links, link{name, name + part})
			last = name
		}
	}
	return links
}

// ofItself says whether a program waits for itself: one of its threads ended the wait of
// another, and what that one did could not be followed.
func ofItself(cause, program string) bool {
	return program != "" && strings.HasSuffix(cause, ", from "+program)
}

// together says whether two threads are of one process.
func (c *Course) together(a, b int) bool {
	s, t := c.Threads[a], c.Threads[b]
	return s != nil && t != nil && s.Process == t.Process
}

func (s *Step) found(parts []string) {
	if s.busy == nil {
		s.busy = map[string]int64{}
	}
	for _, p := range parts {
		s.busy[p]++
	}
}

// divideAll divides what programs computed by what the clock found them at: on the way,
// and where it never looked there, anywhere in these courses.
func (s *Step) divideAll(courses []*Course) {
	for _, b := range s.Steps {
		b.divideAll(courses)
	}
	parts := s.busy
	if s.busy != nil && len(parts) == 0 {
		parts = map[string]int64{}
		for _, c := range courses {
			for text, n := range c.partsOf(s.program) {
				parts[text] += n
			}
		}
	}
	s.divide(parts)
	s.busy = nil
}

// divide divides the time that a program computed among what it computed, by how
// often the clock found it there.
func (s *Step) divide(parts map[string]int64) {
	i := slices.IndexFunc(s.Steps, func(b *Step) bool { return b.Cause && b.Name == ownCode })
	var all int64
	for _, n := range parts {
		all += n
	}
	if i < 0 || all == 0 {
		return
	}
	whole := s.Steps[i]
	s.Steps = slices.Delete(s.Steps, i, i+1)
	left := whole.NS
	s.computed = whole.NS
	for k, name := range slices.Sorted(maps.Keys(parts)) {
		ns := whole.NS * parts[name] / all
		if k == len(parts)-1 {
			ns = left
		}
		left -= ns
		text := name
		if name == "" {
			text = ownCode
		}
		leaf := s.below(text, true, whole.First)
		leaf.NS += ns
		leaf.divided = ns
		leaf.Unexplained = name == "" || name == interrupted
	}
}

// interrupted is what a tick says where the kernel was about an interrupt, and not which.
const interrupted = "interrupted"

// parts are what the thread was at at the ticks between two instants.
func (t *Thread) parts(from, to int64) []string {
	var all []string
	i := sort.Search(len(t.code), func(i int) bool { return t.code[i].from >= from })
	for ; i < len(t.code) && t.code[i].from < to; i++ {
		all = append(all, t.code[i].name)
	}
	return all
}

// partsOf are what a program was at, at all ticks, on the way or not.
func (c *Course) partsOf(program string) map[string]int64 {
	all := map[string]int64{}
	for _, t := range c.Threads {
		for _, k := range t.code {
			if t.Name(k.from) == program {
				all[k.name]++
			}
		}
	}
	return all
}

// unknown is what a program is called whose name nobody told.
const unknown = "?"

// asker is what those are called that asked on a trial's behalf.
const asker = "plimsoll"

func (c *Course) name(id int, at int64) string {
	if c.asks(id) {
		return asker
	}
	if t := c.Threads[id]; t != nil {
		return t.Name(at)
	}
	return unknown
}

// unexplainedNS is how much of a step's time has no cause with a name, ns.
func (s *Step) unexplainedNS() int64 {
	if s.Cause {
		if s.Unexplained {
			return s.NS
		}
		return 0
	}
	var sum int64
	for _, b := range s.Steps {
		sum += b.unexplainedNS()
	}
	return sum
}

// mean is what several starts of the same thing have in common: each step's mean
// time over the middle half of them by how long they took, so that steps still add
// up and a single wild start does not count. It gives how many starts that were.
func mean(trees []*Step) (*Step, int) {
	if len(trees) == 0 {
		return nil, 0
	}
	sorted := slices.SortedStableFunc(slices.Values(trees), func(a, b *Step) int { return cmp.Compare(a.NS, b.NS) })
	from, to := middleHalf(len(sorted))
	middle := sorted[from:to]
	sum := &Step{Name: middle[0].Name, program: middle[0].program}
	for _, t := range middle {
		sum.add(t)
	}
	// What a program is at does not depend on how long a start took.
	for _, t := range slices.Concat(sorted[:from], sorted[to:]) {
		sum.learn(t)
	}
	sum.share(int64(len(middle)))
	return sum, len(middle)
}

// middleHalf are the places of the middle half of as many in their order.
func middleHalf(n int) (from, to int) { return n / 4, n - n/4 }

func (s *Step) add(t *Step) {
	s.NS += t.NS
	if t.busy != nil {
		s.found(nil)
		for text, n := range t.busy {
			s.busy[text] += n
		}
	}
	for _, b := range t.Steps {
		mine := s.below(b.Name, b.Cause, b.First)
		mine.Unexplained, mine.program = b.Unexplained, b.program
		mine.First = min(mine.First, b.First)
		mine.add(b)
	}
}

// learn takes over what programs were at in another start.
func (s *Step) learn(t *Step) {
	if s.busy != nil {
		for text, n := range t.busy {
			s.busy[text] += n
		}
	}
	for _, b := range t.Steps {
		for _, mine := range s.Steps {
			if mine.Name == b.Name && mine.Cause == b.Cause {
				mine.learn(b)
			}
		}
	}
}

func (s *Step) share(n int64) {
	if s.Cause {
		s.NS /= n
		return
	}
	s.NS = 0
	for _, b := range s.Steps {
		b.share(n)
		s.NS += b.NS
	}
	s.sort()
}

// sort puts the longest step first, in each step.
func (s *Step) sort() {
	for _, b := range s.Steps {
		b.sort()
	}
	slices.SortStableFunc(s.Steps, func(a, b *Step) int { return cmp.Compare(b.NS, a.NS) })
}
