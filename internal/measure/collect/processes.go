//go:build linux

package collect

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// processes are those of one part. What those that have ended had used stays
// in the sums, as far as it was seen.
type processes struct {
	m    *machine
	all  []member
	gone int64 // CPU time of those that have ended, ns
	// switches and storage of each thread or process as last seen, and what
	// they have grown by since.
	switches  growth
	readFrom  growth
	writtenTo growth
}

type member struct {
	pid  int
	cpu  int64 // as last seen, ns
	born int64
}

// growth sums up counters that come and go.
type growth struct {
	last map[int]int64
	sum  int64
}

// see adds what the counter has grown by since it was last seen; a new one
// counts from 0, and one that went back is another under the same number.
func (g *growth) see(id int, n int64) {
	if g.last == nil {
		g.last = map[int]int64{}
	}
	if old := g.last[id]; n >= old {
		g.sum += n - old
	} else {
		g.sum += n
	}
	g.last[id] = n
}

func (p *processes) has(pid int) bool {
	return p != nil && slices.ContainsFunc(p.all, func(m member) bool { return m.pid == pid })
}

// add takes a process in; false where it has ended.
func (p *processes) add(pid int, buf []byte) bool {
	if p.has(pid) {
		return true
	}
	st, ok := p.m.stat(pid, buf)
	if !ok {
		return false
	}
	cpu, ok := processCPU(pid)
	if ok {
		p.all = append(p.all, member{pid: pid, cpu: cpu, born: st.born})
	}
	return ok
}

// drop takes a process out that turned out to be another part's.
func (p *processes) drop(pid int) {
	p.all = slices.DeleteFunc(p.all, func(m member) bool { return m.pid == pid })
}

func (p *processes) pids() []int {
	out := make([]int, len(p.all))
	for i, m := range p.all {
		out[i] = m.pid
	}
	return out
}

// cpu is the CPU time of all, ns.
func (p *processes) cpu() int64 {
	sum, n := p.gone, 0
	for i := range p.all {
		m := &p.all[i]
		c, ok := processCPU(m.pid)
		if !ok || c < m.cpu { // less: the number has gone to another process
			p.gone += m.cpu
			sum += m.cpu
			continue
		}
		m.cpu = c
		sum += c
		p.all[n] = *m
		n++
	}
	p.all = p.all[:n]
	return sum
}

// stat reads /proc/PID/stat; false where the process has ended.
func (m *machine) stat(pid int, buf []byte) (process, bool) {
	b, err := readOnce(m.proc(pid, "stat"), buf)
	if err != nil {
		return process{}, false
	}
	st, ok := parseProcess(b)
	return st, ok && st.state != 'Z' && st.state != 'X'
}

// children lists the children of all threads of a process. The kernel says it
// where it can be checkpointed (CONFIG_PROC_CHILDREN), as distributions'
// kernels can; without, there are none.
func (m *machine) children(pid int) []int {
	dir := m.proc(pid, "task")
	tids, err := readNames(dir)
	if err != nil {
		return nil
	}
	var out []int
	for _, tid := range tids {
		b, err := os.ReadFile(dir + "/" + tid + "/children")
		if err != nil {
			continue
		}
		for w := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(w); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// descendants lists all below a process, but for what skip names and what is
// below that.
func (m *machine) descendants(pid int, skip func(pid int) bool) []int {
	var out []int
	queue := []int{pid}
	for len(queue) > 0 && len(out) < maxMembers {
		next := queue[0]
		queue = queue[1:]
		for _, c := range m.children(next) {
			if !slices.Contains(out, c) && !skip(c) {
				out = append(out, c)
				queue = append(queue, c)
			}
		}
	}
	return out
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// text is a short file of a process without its last newline, "" where there
// is none.
func (m *machine) text(pid int, name string) string {
	b, err := os.ReadFile(m.proc(pid, name))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

func (m *machine) link(pid int, name string) string {
	s, _ := os.Readlink(m.proc(pid, name))
	return s
}
