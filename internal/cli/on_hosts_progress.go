//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/understand/words"
)

// hostsProgress shows the course of several hosts at one place.
type hostsProgress interface {
	// Of is the progress of the host with this number.
	Of(i int) run.Progress
	End()
}

func newHostsProgress(w World, kind string, names []string) hostsProgress {
	if kind == "auto" {
		kind = "plain"
		if barHere(w) {
			kind = "bar"
		}
	}
	p := &hostLines{kind: kind, names: names, out: w.Stderr, width: w.errWidth(), height: w.ErrHeight, ascii: !unicodeHere(w), rows: make([]string, len(names))}
	for _, n := range names {
		p.pad = max(p.pad, len(n))
	}
	return p
}

// hostLines are a line for each host: drawn anew in a terminal, one after the other
// elsewhere.
type hostLines struct {
	kind  string
	names []string
	pad   int
	out   io.Writer
	width func() int
	// height is that of the terminal; nil where it is not known.
	height func() int
	ascii  bool

	mu    sync.Mutex
	rows  []string
	shown int // lines that are there, and may be drawn over
	last  time.Time
}

func (p *hostLines) Of(i int) run.Progress {
	switch p.kind {
	case "bar":
		return &hostRow{p: p, i: i}
	case "json":
		return &jsonLines{enc: json.NewEncoder(&hostJSON{p: p, host: p.names[i]})}
	case "none":
		return run.NoProgress{}
	}
	return &plain{out: &hostPrefix{p: p, prefix: p.names[i] + ": "}}
}

func (p *hostLines) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// hostPrefix puts the host before each line.
type hostPrefix struct {
	p      *hostLines
	prefix string
}

func (h *hostPrefix) Write(b []byte) (int, error) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		if _, err := io.WriteString(h.p.out, h.prefix+line); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// hostJSON puts the host into each object, which is written at once.
type hostJSON struct {
	p    *hostLines
	host string
}

func (h *hostJSON) Write(b []byte) (int, error) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	name, err := json.Marshal(h.host)
	if err != nil {
		return 0, err
	}
	line := append([]byte(`{"host":`+string(name)+","), bytes.TrimPrefix(b, []byte("{"))...)
	if _, err := h.p.out.Write(line); err != nil {
		return 0, err
	}
	return len(b), nil
}

// hostRow is a host's line of a terminal.
type hostRow struct {
	p      *hostLines
	i      int
	failed failures
}

func (h *hostRow) Step(text string) { h.set(words.Clean(text)+" …", true) }
func (h *hostRow) Planned(total, done int, atMost bool) {
	h.set(doneOf(total, done, atMost), true)
}

func (h *hostRow) Trial(t run.Upcoming) {
	h.set(strings.TrimPrefix(barLine(t, h.p.width()-h.p.pad-3), "  "), false)
}

func (h *hostRow) Failed(f run.Failed) {
	if s := h.failed.line(f); s != "" {
		h.Remark(s)
	}
}

// Remark is a line above all rows.
func (h *hostRow) Remark(text string) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.p.clear()
	fmt.Fprintln(h.p.out, h.p.plain("  "+h.p.names[h.i]+": "+words.Prose(text)))
	h.p.draw()
}

func (h *hostRow) End() { h.set(rowEnded, true) }

func (h *hostRow) set(text string, now bool) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.p.rows[h.i] = text
	if now || time.Since(h.p.last) > everyBar {
		h.p.clear()
		h.p.draw()
	}
}

// clear takes the rows away: up to the first, and from there to the screen's end.
func (p *hostLines) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.out, "\r\x1b[%dA\x1b[J", p.shown)
	}
	p.shown = 0
}

// rowEnded is the row of a host that is done with.
const rowEnded = "ended"

// fitting are the rows that a terminal has room for, and how many it has none for: nobody
// can go up beyond its first line. Those of hosts that have ended go first.
func (p *hostLines) fitting() (rows []int, more int) {
	var over []int
	for i, row := range p.rows {
		if row == rowEnded {
			over = append(over, i)
		} else {
			rows = append(rows, i)
		}
	}
	rows = append(rows, over...)
	room := len(rows)
	if p.height != nil && p.height() > 0 {
		room = max(1, p.height()-2)
	}
	if len(rows) > room {
		rows, more = rows[:room], len(rows)-room
	}
	slices.Sort(rows)
	return rows, more
}

func (p *hostLines) draw() {
	p.last = time.Now()
	var b strings.Builder
	rows, more := p.fitting()
	for _, i := range rows {
		line := fmt.Sprintf("  %-*s %s", p.pad, p.names[i], p.rows[i])
		if r := []rune(line); len(r) >= p.width() {
			line = string(r[:max(1, p.width()-2)]) + "…"
		}
		b.WriteString(p.plain(line) + "\n")
	}
	p.shown = len(rows)
	if more > 0 {
		b.WriteString(p.plain(fmt.Sprintf("  … and %s more\n", words.Plural(more, "host"))))
		p.shown++
	}
	fmt.Fprint(p.out, b.String())
}

func (p *hostLines) plain(s string) string { return barText(s, p.ascii) }
