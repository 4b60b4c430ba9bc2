package web

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
)

// Summary is a run in the index.
type Summary struct {
	ID     string `json:"id"`
	Folder string `json:"folder"`
	Name   string `json:"name"`
	Run    string `json:"run,omitempty"`
	Study  string `json:"study,omitempty"`
	Title  string `json:"title,omitempty"`
	Scale  string `json:"scale,omitempty"`
	// Status is running, done or interrupted; broken where the run cannot be
	// read, and Problem then says why.
	Status  string `json:"status"`
	Problem string `json:"problem,omitempty"`
	// Killed: it says that it is running, and nobody writes it.
	Killed       bool      `json:"killed,omitempty"`
	Started      time.Time `json:"started,omitzero"`
	Finished     time.Time `json:"finished,omitzero"`
	Machine      string    `json:"machine,omitempty"`
	CPU          string    `json:"cpu,omitempty"`
	Tool         string    `json:"tool,omitempty"`
	Engines      []string  `json:"engines,omitempty"`
	Environments int       `json:"environments,omitempty"`
	Workloads    int       `json:"workloads,omitempty"`
	// Done of Total trials, of a run that goes on; 0 is not known.
	Done  int `json:"done,omitempty"`
	Total int `json:"total,omitempty"`
}

// The states of a run.
const (
	running     = "running"
	done        = "done"
	interrupted = "interrupted"
	broken      = "broken"
)

// summarized is what is known of a run.json, and how far its trials were
// counted.
type summarized struct {
	mark   mark
	sum    Summary
	total  int
	offset int64
	lines  int
}

// summaries gives the runs for the index, the latest first.
func (s *Server) summaries() []Summary {
	places, _, _ := s.listing.scan()
	out := make([]Summary, 0, len(places))
	for _, p := range places {
		out = append(out, s.summary(p))
	}
	slices.SortStableFunc(out, func(a, b Summary) int { return b.Started.Compare(a.Started) })
	return out
}

func (s *Server) summary(p *place) Summary {
	l := &s.listing
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]*summarized{}
	}
	x := l.seen[p.id]
	m := markOf(filepath.Join(p.dir, record.RunFile))
	if x != nil && x.mark == m && x.sum.Status != running {
		return x.sum
	}
	// Before run.json is read: whoever ends writes there that it has, and then
	// lets go.
	held, unknown := record.BeingWritten(p.dir)
	if m = markOf(filepath.Join(p.dir, record.RunFile)); x == nil || x.mark != m {
		x = &summarized{mark: m, sum: Summary{ID: p.id, Folder: p.folder, Name: p.name}}
		if r, err := p.open(); err != nil {
			x.sum.Status, x.sum.Problem = broken, err.Error()
		} else if errors.Is(unknown, safepath.ErrNotRegular) {
			x.sum.Status, x.sum.Problem = broken, unknown.Error()
		} else {
			x.fill(r.Run())
			if x.sum.Status == running && held && s.opts.Plan != nil {
				if plan, err := s.opts.Plan(r.Run()); err == nil {
					x.total = plan.Trials()
				}
			}
		}
		l.seen[p.id] = x
	}
	sum := x.sum
	if sum.Status != running {
		return sum
	}
	if !held && unknown == nil {
		sum.Status, sum.Killed = interrupted, true
		return sum
	}
	s.hush()
	x.count(filepath.Join(p.dir, record.TrialsFile))
	sum.Done, sum.Total = x.lines, x.total
	return sum
}

func (x *summarized) fill(r *record.Run) {
	s := &x.sum
	s.Run, s.Study, s.Title, s.Scale, s.Status = r.ID, r.Study.Name, r.Study.Title, r.Study.Scale, r.Status
	s.Started, s.Finished = r.Started, r.Finished
	s.Machine, s.CPU, s.Tool = r.Host.Name, r.Host.CPU, r.Tool.Version
	s.Environments, s.Workloads = len(r.Environments), len(r.Workloads)
	for _, e := range r.Environments {
		if e.Baseline == "" && !slices.Contains(s.Engines, e.Engine) {
			s.Engines = append(s.Engines, e.Engine)
		}
	}
	if s.Status != running && s.Status != done && s.Status != interrupted {
		s.Problem = "it says that it is " + s.Status
		s.Status = broken
	}
}

// count counts the trials that have come since.
func (x *summarized) count(path string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == x.offset {
		return
	}
	if info.Size() < x.offset {
		x.offset, x.lines = 0, 0
	}
	f, err := safepath.OpenRegular(path)
	if err != nil {
		return
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, x.offset)
		x.offset += int64(n)
		x.lines += bytes.Count(buf[:n], []byte("\n"))
		if n == 0 || err != nil {
			return
		}
	}
}
