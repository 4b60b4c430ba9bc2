//go:build linux

package collect

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Half a processor by quota: that is what it uses, and for the other half it
// is held back; and a tenth, which is less than it gets on any busy machine.
func TestQuotaShows(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	for _, quota := range []float64{0.5, 0.1} {
		g := newGroup(t, fmt.Sprintf("quota%.0f", quota*100))
		if err := g.LimitCPU(quota); err != nil {
			t.Skipf("the CPU can't be limited here: %v", err)
		}
		c := newTestCollector(t, 20*time.Millisecond)
		p := startWorker(t, "burn=1500", 0)
		require.NoError(t, g.Add(p.pid()))
		w := c.Watch(Subject{PIDs: []int{p.pid()}})
		begin := time.Now()
		burnt := p.burnt()
		wall := float64(time.Since(begin))
		s := w.End(0)
		v := s.Values()
		// Others may have left it less than its quota.
		used := v["payload-cpu"] / wall
		if used > quota*1.06+0.01 || math.Abs(v["payload-cpu"]-burnt) > burnt/10+20e6 {
			t.Errorf("it used %.2f of a processor, not %.1f, and %.0f ms by its own count: %v", used, quota, burnt/1e6, v)
		}
		// On a busy machine it waits for others instead of its quota; with a
		// tenth it comes to both.
		if back := v["payload-throttled"] / wall; quota == 0.1 && used > 0.08 && back < 0.2 {
			t.Errorf("it used %.2f of a processor and was held back for %.2f of the time", used, back)
		}
		if v["host-cpu"] < 0.8*v["payload-cpu"]-20e6 { // the machine's has a grain of 10 ms a processor
			t.Errorf("the machine used %.0f ms, of which the payload %.0f ms", v["host-cpu"]/1e6, v["payload-cpu"]/1e6)
		}
		if at, _ := s.Curve("payload-cpu"); len(at) < 20 {
			t.Errorf("%d samples in %.1f s", len(at), wall/1e9)
		}
		if v["own-cpu"] <= 0 {
			t.Error("sampling costs nothing: that can't be")
		}
	}
}

// 64 MiB that are touched are 64 MiB, by the control group and by the process.
func TestTouchedMemoryShows(t *testing.T) {
	const want = 64 << 20
	g := newGroup(t, "touch")
	path, err := probe.Extract(t.TempDir())
	require.NoError(t, err)
	c := newTestCollector(t, 20*time.Millisecond)
	const word = "collect-touch"
	w := c.Watch(Subject{Word: word})
	// The shell goes into the group and becomes the payload.
	payload := exec.Command("/bin/sh", "-c", "echo $$ > "+g.Dir("memory")+"/cgroup.procs && exec "+path+" payload "+word+" --touch "+strconv.Itoa(want)+" --stay")
	payload.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := payload.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, payload.Start())
	defer func() {
		_ = payload.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = payload.Wait()                          // the checks are about memory
	}()
	said := bufio.NewScanner(out)
	for said.Scan() && !strings.HasPrefix(said.Text(), "plimsoll touched") {
	}
	wait(t, func() bool { c.mu.Lock(); defer c.mu.Unlock(); return w.root != 0 })
	f := footprint(t, Subject{Word: word})
	u := f.Containers[0].Payload
	for what, q := range map[string]Quantity{"anonymous by the group": u.Anon, "PSS": u.PSS, "USS": u.USS, "the whole group": u.Total, "its peak": u.Peak} {
		if !q.OK() {
			t.Errorf("%s is unknown: %s", what, q.Missing)
			continue
		}
		near(t, what, float64(q.Value), want, 0.02)
	}
	if f.Payloads != u {
		t.Errorf("the sum of one container is %+v, the container %+v", f.Payloads, u)
	}
	for _, column := range []string{"payload-anon", "payload-pss", "payload-memory-peak"} {
		sampled(t, w, column, want*98/100) // the series has to look, too
	}
	v := w.End(0).Values()
	for _, id := range []string{"payload-anon-peak", "payload-pss-peak", "payload-memory-peak"} {
		near(t, id, v[id], want, 0.02)
	}
}

func footprint(t *testing.T, s ...Subject) *Footprint {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f, err := TakeFootprint(ctx, engines, s)
	require.NoError(t, err)
	return f
}

// Bytes through a veth pair: what the payload sent is what its counters say.
func TestNetworkShows(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("making network interfaces needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("ip is not installed")
	}
	c := newTestCollector(t, 20*time.Millisecond)
	const kib = 512
	p := startWorker(t, "send="+strconv.Itoa(kib), syscall.CLONE_NEWNET)
	pid, veth := strconv.Itoa(p.pid()), "plc"+strconv.Itoa(os.Getpid()%100000)
	for _, args := range []string{
		"link add " + veth + " type veth peer name eth0 netns " + pid,
		"link set " + veth + " up",
	} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", veth).Run() }) // gone with the namespace already
	for _, args := range []string{"addr add 10.213.7.1/24 dev eth0", "link set eth0 up", "neigh add 10.213.7.2 lladdr 02:00:00:00:00:01 dev eth0"} {
		if out, err := exec.Command("nsenter", append([]string{"-t", pid, "-n", "ip"}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", args, err, out)
		}
	}
	w := c.Watch(Subject{PIDs: []int{p.pid()}})
	p.work()
	v := w.End(0).Values()
	// Each KiB has 42 bytes of headers; a handful of the kernel's own packets
	// come on top.
	near(t, "sent", v["payload-sent"], kib*(1024+42), 0.02)

	// What has the host's network has no counters of its own.
	q := startWorker(t, "touch=1", 0)
	s := c.Watch(Subject{PIDs: []int{q.pid()}})
	tail := s.End(0).Tail
	if tail.Absent["payload-network"] == "" || tail.Failed["payload-network"] != "" {
		t.Errorf("the host's network: absent %v, failed %v", tail.Absent, tail.Failed)
	}
}

// Without a control group of its own a payload counts by its processes: those
// that it starts, too.
func TestPayloadWithoutGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	c := newTestCollector(t, 20*time.Millisecond)
	p := startWorker(t, "burn=400", 0)
	w := c.Watch(Subject{PIDs: []int{p.pid()}})
	burnt := p.burnt()
	s := w.End(0)
	v := s.Values()
	if cpu := v["payload-cpu"]; cpu > 500e6 || math.Abs(cpu-burnt) > burnt/10+20e6 {
		t.Errorf("it burnt %.0f ms in 400; seen are %.0f ms", burnt/1e6, cpu/1e6)
	}
	if _, ok := v["payload-anon-peak"]; ok {
		t.Error("it has a control group's memory, but no control group of its own")
	}
	if why := s.Tail.Absent["group-cpu"]; why == "" || s.Tail.Failed["group-cpu"] != "" {
		t.Errorf("absent: %v; failed: %v", s.Tail.Absent, s.Tail.Failed)
	}
	f := footprint(t, Subject{PIDs: []int{p.pid()}})
	if u := f.Containers[0].Payload; u.Anon.OK() || !u.PSS.OK() || u.PSS.Value == 0 {
		t.Errorf("the footprint: %+v", u)
	}

	parent := startWorker(t, "child=32", 0)
	parent.work()
	wait(t, func() bool { // the child touches 32 MiB meanwhile
		u := footprint(t, Subject{PIDs: []int{parent.pid()}}).Containers[0].Payload
		return u.Processes == 2 && u.USS.Value > 32<<20
	})
}

// The payload is found by its word, its monitor is what started it, and its
// last numbers are read when it ends.
func TestPayloadIsFoundByItsWord(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("looking at processes in namespaces of their own needs root")
	}
	dir := t.TempDir()
	path, err := probe.Extract(dir)
	require.NoError(t, err)
	// LXD's monitor has the daemon's program and name, and a title.
	lxd := filepath.Join(dir, "lxd")
	program, err := os.ReadFile("/bin/sh")
	if err == nil {
		err = os.WriteFile(lxd, program, 0o700)
	}
	require.NoError(t, err)
	t.Run("a shim", func(t *testing.T) { testFound(t, path, "/bin/sh", "sh") })
	t.Run("a titled daemon", func(t *testing.T) { testFound(t, path, lxd, "[lxc monitor] /containers c1") })
}

func testFound(t *testing.T, path, monitor, title string) {
	g := newGroup(t, "word")
	c := newTestCollector(t, 10*time.Millisecond)
	const word = "collect-word-1"
	w := c.Watch(Subject{Word: word})
	other := c.Watch(Subject{Word: word + "2"})
	procs := ""
	for _, ctl := range []string{"cpuacct", "memory"} {
		procs += "echo $$ > " + g.Dir(ctl) + "/cgroup.procs; "
	}
	// A shell is the monitor; its child goes into the group, waits, and becomes
	// the payload, as a runtime's init does.
	sh := exec.Command(monitor, "-c", "sh -c '"+procs+"sleep 0.15; exec "+path+" payload "+word+" --stay'; true")
	sh.Args[0] = title
	in, out := pipes(t)
	sh.Stdin, sh.Stdout = in, out
	sh.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, sh.Start())
	pid := 0
	wait(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		pid = w.root
		return pid != 0
	})
	if argv, _ := c.m.words(pid, make([]byte, scratchSize)); !hasWord(argv, word) {
		t.Errorf("the process found is %q", argv)
	}
	for _, column := range []string{"payload-pss", "monitor-pss"} { // what is looked at rarely
		sampled(t, w, column, 0)
	}
	require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
	require.NoError(t, sh.Wait())
	wait(t, func() bool { c.mu.Lock(); defer c.mu.Unlock(); return w.pidfd < 0 })
	s := w.End(0)
	v := s.Values()
	for _, id := range []string{"payload-cpu", "payload-memory-peak", "payload-pss-peak", "monitor-cpu", "monitor-pss"} {
		if _, ok := v[id]; !ok {
			t.Errorf("%s is missing: %v, %+v", id, v, s.Tail)
		}
	}
	if none := other.End(0); none.Values()["payload-cpu"] != 0 || none.Tail.Absent["group-cpu"] == "" {
		t.Errorf("a payload that did not come has %v", none.Values())
	}
	var b bytes.Buffer
	require.NoError(t, record.WriteSeries(&b, &s.Series))
	back, err := record.ReadSeries(&b, "series")
	require.NoError(t, err)
	if len(back.Rows) != len(s.Rows) || back.Tail == nil {
		t.Errorf("%d rows were written, %d read", len(s.Rows), len(back.Rows))
	}
}

func pipes(t *testing.T) (in, out *os.File) {
	t.Helper()
	in, err := os.Open(os.DevNull)
	require.NoError(t, err)
	out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { in.Close(); out.Close() })
	return in, out
}

func wait(t *testing.T, what func() bool) {
	t.Helper()
	for begin := time.Now(); !what(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			t.Fatal("it did not come in 30 s")
		}
	}
}

// sampled waits until a series has a value of a column that is no less.
func sampled(t *testing.T, w *Watch, column string, least int64) {
	t.Helper()
	i := slices.IndexFunc(w.columns, func(c record.Column) bool { return c.ID == column })
	if i < 0 {
		t.Fatalf("there is no column %s", column)
	}
	wait(t, func() bool {
		w.c.mu.Lock()
		defer w.c.mu.Unlock()
		return slices.ContainsFunc(w.rows, func(row []int64) bool { return row[1+i] != record.NoSample && row[1+i] >= least })
	})
}

// Nothing that was opened stays open, and what is closed says so.
func TestNothingStaysOpen(t *testing.T) {
	open := func() int {
		names, err := readNames("/proc/self/fd")
		require.NoError(t, err)
		return len(names)
	}
	p := startWorker(t, "touch=1", 0)
	before := open()
	for range 3 {
		c, err := New(Options{Interval: 5 * time.Millisecond, Processes: engines})
		require.NoError(t, err)
		w, forgotten := c.Watch(Subject{PIDs: []int{p.pid()}}), c.Watch(Subject{Word: "x", PIDs: []int{p.pid()}})
		wait(t, func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(w.rows) > 2 })
		if s := w.End(0); len(s.Rows) < 4 {
			t.Errorf("%d rows", len(s.Rows))
		}
		if s := w.End(0); len(s.Rows) != 0 {
			t.Error("it ended twice")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		forgotten.End(0)
		c.Watch(Subject{PIDs: []int{p.pid()}}).End(0)
		if err := c.Know(Subject{}); err == nil {
			t.Error("a closed collector knows")
		}
	}
	if after := open(); after > before+2 { // Go's own poller opens some for good
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
}
