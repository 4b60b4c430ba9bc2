//go:build linux

package collect

import (
	"errors"
	"strings"
	"time"

	"plimsoll/internal/record"
)

// reader is one kind of reading: an entry of the list in readers.go.
type reader struct {
	name    string // stable: it stands in records
	part    Part
	rate    rate
	columns []record.Column
	// open begins to read for a target; an error that is errAbsent says that
	// there is no such thing.
	open func(*target) (instrument, error)
	// instead names the reader whose columns this one fills where that is absent.
	instead string
	// last: worth reading once more when the payload has just ended.
	last bool
}

// instrument is a reader at work on one target. read fills in the columns'
// values; buf is scratch.
type instrument interface {
	read(out []int64, buf []byte) error
	close()
}

// target is what is read: which of the fields are set depends on the part.
type target struct {
	m     *machine
	group *group
	procs *processes
	own   *int64 // the CPU time that sampling took, ns
}

// rate is how often a reader is read.
type rate int

const (
	// often: with every sample.
	often rate = iota
	// ticking: with every sample, but at most 25 times a second: the host's own
	// numbers, which are background to the container's. The kernel counts the
	// processors' times in ticks of 10 ms, and all are dear to list.
	ticking
	// sometimes: every tenth sample, but once to four times a second; more
	// rarely where a crowd is watched.
	sometimes
	// rarely: soon at first, then after rests that double up to ten seconds.
	rarely
)

const (
	longestRest = int64(10 * time.Second)
	tickingRest = int64(40 * time.Millisecond)
	// These bound what a reader may take of one processor: after a read that
	// took d it rests for so many times d. The memory map of a large process
	// takes milliseconds to walk. Of two reads the shorter counts: the longer
	// may have been interrupted.
	oftenShare = 50
	costShare  = 500
)

// panel is the readers of one part for one target, and the values as they
// stand.
type panel struct {
	columns []record.Column
	gauges  []gauge
	row     []int64
}

type gauge struct {
	r      *reader
	at     int // of its first column in the row
	in     instrument
	err    error // why it is not read any more
	failed error // the last read that failed for another reason than an end
	next   int64 // when it is due, ns
	rest   int64
	took   int64 // the last read, ns
	reads  int64
	cost   int64
}

func newPanel(part Part) *panel {
	p := &panel{}
	place := map[string]int{}
	for i := range readers {
		r := &readers[i]
		if r.part != part {
			continue
		}
		at, ok := place[r.instead]
		if !ok {
			at = len(p.columns)
			p.columns = append(p.columns, r.columns...)
		}
		place[r.name] = at
		p.gauges = append(p.gauges, gauge{r: r, at: at, err: errNotSeen})
	}
	p.row = make([]int64, len(p.columns))
	p.clear()
	return p
}

// errNotSeen is why nothing is read before a target is found.
var errNotSeen = absent("it was not seen while the trial ran")

func (p *panel) clear() {
	for i := range p.row {
		p.row[i] = record.NoSample
	}
}

// zero says that nothing was there yet.
func (p *panel) zero() {
	for i := range p.columns {
		if p.columns[i].Counter {
			p.row[i] = 0
		}
	}
}

// open opens all readers on a target; what can't be opened says why.
func (p *panel) open(t *target) {
	absent := map[string]bool{}
	for i := range p.gauges {
		g := &p.gauges[i]
		if g.r.instead != "" && !absent[g.r.instead] {
			g.err = errNotNeeded
			continue
		}
		g.in, g.err = g.r.open(t)
		absent[g.r.name] = g.err != nil
		g.next = 0
	}
}

// none says why there is nothing to read.
func (p *panel) none(why error) {
	for i := range p.gauges {
		p.gauges[i].err = why
	}
}

// errNotNeeded marks a stand-in whose principal is there.
var errNotNeeded = errors.New("not needed")

// how says which readers a sample reads.
type how int

const (
	due    how = iota // those whose turn it is
	all               // all
	ending            // those that are worth it when the payload has just ended
)

// sample reads what is to be read now. The row holds NoSample where nothing
// was read.
func (p *panel) sample(at int64, b *beat, h how, buf []byte) {
	p.clear()
	for i := range p.gauges {
		g := &p.gauges[i]
		if g.err != nil || h == due && at < g.next-b.interval/2 || h == ending && !g.r.last {
			continue
		}
		out := p.row[g.at : g.at+len(g.r.columns)]
		begin := now()
		err := g.in.read(out, buf)
		took := now() - begin
		g.reads++
		g.cost += took
		g.schedule(at, b, took)
		if err == nil {
			continue
		}
		for k := range out {
			out[k] = record.NoSample
		}
		switch {
		case errors.Is(err, errGone):
		case errors.Is(err, errAbsent):
			g.err = err
			g.in.close()
		default:
			g.failed = err
		}
	}
}

// beat is what the times of readings depend on.
type beat struct {
	interval int64 // ns between two samples
	crowd    int64 // how many containers are watched
}

// perCrowd is how many containers make the readings that are done sometimes
// come half as often, and so on.
const perCrowd = 50

func (g *gauge) schedule(at int64, b *beat, took int64) {
	interval := b.interval
	switch g.r.rate {
	case often:
		g.rest = 0
	case ticking:
		g.rest = tickingRest
	case sometimes:
		g.rest = min(max(10*interval, int64(time.Second/4)), int64(time.Second)) * (1 + b.crowd/perCrowd)
	case rarely:
		g.rest = min(max(2*g.rest, 2*interval), longestRest)
	}
	share := int64(costShare)
	if g.r.rate <= ticking {
		share = oftenShare
	}
	g.next = at + max(g.rest, share*min(took, g.took))
	g.took = took
}

// stagger puts readers off by a share of their rest, so that many targets are
// not read in the same sample.
func (p *panel) stagger(n int, interval int64) {
	for i := range p.gauges {
		if p.gauges[i].r.rate == sometimes {
			p.gauges[i].next += int64(n%10) * interval
		}
	}
}

func (p *panel) close() {
	for i := range p.gauges {
		if g := &p.gauges[i]; g.err == nil {
			g.in.close()
			g.err = errGone
		}
	}
}

// tell adds up what the panel's readers cost and why some have nothing.
func (p *panel) tell(t *record.SeriesTail, since []gauge) {
	for i := range p.gauges {
		g := &p.gauges[i]
		reads, cost := g.reads, g.cost
		if since != nil {
			reads, cost = reads-since[i].reads, cost-since[i].cost
		}
		if reads > 0 {
			t.Readers = append(t.Readers, record.SeriesReader{Name: g.r.name, Reads: reads, CostNS: cost})
		}
		switch {
		case g.failed != nil:
			t.Failed = put(t.Failed, g.r.name, g.failed.Error())
		case errors.Is(g.err, errAbsent):
			t.Absent = put(t.Absent, g.r.name, reason(g.err))
		case g.err != nil && !errors.Is(g.err, errGone) && !errors.Is(g.err, errNotNeeded):
			t.Failed = put(t.Failed, g.r.name, g.err.Error())
		}
	}
}

func put(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}

// reason is an absence without the word for it.
func reason(err error) string { return strings.TrimPrefix(err.Error(), errAbsent.Error()+": ") }
