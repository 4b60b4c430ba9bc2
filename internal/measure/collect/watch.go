//go:build linux

package collect

import (
	"slices"

	"golang.org/x/sys/unix"

	"plimsoll/internal/record"
)

// Watch is a series that is being taken.
type Watch struct {
	c       *Collector
	subject Subject
	serial  int32
	begun   int64

	// The panels in the order of the columns; nil for parts that are not asked
	// for, and for the daemon of an engine that has none.
	payload, monitor, client *panel
	daemon                   *daemon
	wants                    map[Part]bool
	payloadSet, monitorSet   *processes
	clientSet                *processes

	root  int // the payload's first process, 0 until it is found
	pidfd int // of it; -1 where there is none
	done  bool

	hasClient bool

	columns []record.Column
	rows    [][]int64
	slab    []int64 // room for further rows
	since   map[*panel][]gauge
	missed  int64
	failed  map[string]string
}

// Watch begins a series, right before the trial's request. It does not wait
// for the payload, which is found when it comes.
func (c *Collector) Watch(s Subject) *Watch {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &Watch{c: c, subject: s, begun: now(), pidfd: -1, since: map[*panel][]gauge{}, missed: c.missed}
	if c.closed {
		return w
	}
	c.serial++
	w.serial = c.serial
	w.wants = map[Part]bool{}
	for _, p := range []Part{Payload, Monitor, Client, Daemon, Host, Own} {
		w.wants[p] = len(s.Parts) == 0 || slices.Contains(s.Parts, p)
	}
	w.payload, w.monitor, w.client = newPanel(Payload), newPanel(Monitor), newPanel(Client)
	w.payloadSet, w.monitorSet, w.clientSet = &processes{m: c.m}, &processes{m: c.m}, &processes{m: c.m}
	if w.wants[Daemon] {
		if w.daemon = c.daemon(s); w.daemon != nil {
			w.daemon.watched++
			if w.daemon.err != nil {
				w.failed = put(w.failed, "daemon", w.daemon.err.Error())
			}
		}
	}
	for _, p := range w.shown() {
		w.columns = append(w.columns, p.columns...)
	}
	for _, p := range w.shared() {
		w.since[p] = slices.Clone(p.gauges)
	}
	for _, p := range []*panel{w.payload, w.monitor, w.client} {
		p.clear()
		if len(s.PIDs) == 0 {
			p.zero() // nothing of it is there before the request
		}
	}
	if len(c.watches) == 0 {
		c.begin()
	}
	c.watches = append(c.watches, w)
	c.beat.crowd = int64(len(c.watches))
	for _, pid := range s.PIDs {
		w.found(pid)
	}
	c.commonFor(w, w.begun)
	if w.root != 0 {
		w.payload.sample(w.begun, &c.beat, all, c.buf)
		w.monitor.sample(w.begun, &c.beat, all, c.buf)
	}
	w.row(w.begun)
	return w
}

// commonFor reads everything that is shared, for a watch that begins or ends.
func (c *Collector) commonFor(w *Watch, at int64) {
	for _, p := range w.shared() {
		p.sample(at, &c.beat, all, c.buf)
	}
}

// shared are the panels that the watch has in common with others.
func (w *Watch) shared() []*panel {
	var out []*panel
	if w.daemon != nil {
		out = append(out, w.daemon.panel)
	}
	if w.wants[Host] {
		out = append(out, w.c.host)
	}
	if w.wants[Own] {
		out = append(out, w.c.own)
	}
	return out
}

// shown are the panels whose columns the series has, in their order.
func (w *Watch) shown() []*panel {
	var out []*panel
	for _, x := range []struct {
		part  Part
		panel *panel
	}{{Payload, w.payload}, {Monitor, w.monitor}, {Client, w.client}} {
		if w.wants[x.part] {
			out = append(out, x.panel)
		}
	}
	return append(out, w.shared()...)
}

// misses says whether the payload is still to be found.
func (w *Watch) misses() bool { return w.root == 0 && w.subject.Word != "" }

// searches says whether new processes are of interest.
func (w *Watch) searches() bool { return w.misses() || w.wants[Client] }

// found takes a process as the payload's.
func (w *Watch) found(pid int) {
	if w.root != 0 {
		w.payloadSet.add(pid, w.c.buf)
		return
	}
	var daemons []int
	if w.daemon != nil {
		daemons = w.daemon.procs.pids()
	}
	a, err := w.c.m.dissect(pid, daemons, w.c.buf)
	if err != nil {
		if !isGone(err) {
			w.failed = put(w.failed, "payload", err.Error())
		}
		return
	}
	w.root = a.payload[0]
	for _, p := range a.payload {
		w.payloadSet.add(p, w.c.buf)
		w.clientSet.drop(p)
	}
	for _, p := range a.monitor {
		w.monitorSet.add(p, w.c.buf)
		w.clientSet.drop(p)
	}
	if w.wants[Payload] {
		w.payload.open(&target{m: w.c.m, group: a.group, procs: w.payloadSet})
		w.payload.stagger(int(w.serial), w.c.beat.interval)
		w.listen()
	}
	switch {
	case !w.wants[Monitor]:
	case len(a.monitor) > 0:
		w.monitor.open(&target{m: w.c.m, procs: w.monitorSet})
	default:
		w.monitor.none(absent("the engine keeps no process next to the container"))
	}
}

// listen asks to be told of the payload's end.
func (w *Watch) listen() {
	fd, err := unix.PidfdOpen(w.root, 0)
	if err != nil {
		return // it has ended already; its last sample is End's
	}
	if err := unix.EpollCtl(w.c.pollFD, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: w.serial}); err != nil {
		_ = unix.Close(fd) // nothing is written to it
		return
	}
	w.pidfd = fd
}

// tookClient takes a process as one of the command lines.
func (w *Watch) tookClient(pid int) {
	if !w.wants[Client] || w.payloadSet.has(pid) || w.monitorSet.has(pid) {
		return
	}
	if w.clientSet.add(pid, w.c.buf) && !w.hasClient {
		w.hasClient = true
		w.client.open(&target{m: w.c.m, procs: w.clientSet})
	}
}

// sample takes one row.
func (w *Watch) sample(at int64, h how) {
	for _, p := range []*panel{w.payload, w.monitor, w.client} {
		p.sample(at, &w.c.beat, h, w.c.buf)
	}
	w.row(at)
}

// last reads what outlives the payload's end for a moment.
func (w *Watch) last(at int64) {
	w.unlisten()
	for _, p := range w.shown() {
		p.clear()
	}
	w.payload.sample(at, &w.c.beat, ending, w.c.buf)
	w.monitor.sample(at, &w.c.beat, due, w.c.buf)
	w.row(at)
}

func (w *Watch) unlisten() {
	if w.pidfd >= 0 {
		_ = unix.Close(w.pidfd) // takes it out of the poll, too
		w.pidfd = -1
	}
}

const slabRows = 128

// row keeps the panels' values as they stand.
func (w *Watch) row(at int64) {
	n := len(w.columns) + 1
	if len(w.slab) < n {
		w.slab = make([]int64, n*slabRows)
	}
	row := w.slab[:n:n]
	w.slab = w.slab[n:]
	row[0] = at
	i := 1
	for _, p := range w.shown() {
		i += copy(row[i:], p.row)
	}
	w.rows = append(w.rows, row)
}
