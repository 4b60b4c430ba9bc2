package trace

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// TestMet is of a process that is there before several starts: it is asked once what it
// is, again when it has executed another program, and forgotten when it has ended.
func TestMet(t *testing.T) {
	c := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read go; exec sleep 600")
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	pid := c.Process.Pid
	until(t, "the shell is executed", func() bool { return strings.Contains(commandOf(pid), "sh") && commLine(pid) == "sh" })

	r := &Recorder{opts: Options{Code: true}}
	look := func() (record.TraceThread, *gathering) {
		g := r.gather()
		all := g.threads()
		if len(g.programs.files) > 0 {
			t.Errorf("the files of %d programs were read before the start", len(g.programs.files))
		}
		g.name(all)
		if i := slices.IndexFunc(all, func(th record.TraceThread) bool { return th.ID == pid }); i >= 0 {
			return all[i], g
		}
		return record.TraceThread{}, g
	}
	th, g := look()
	first := r.met[pid]
	if th.Name != "sh" || th.Process != pid || !strings.HasPrefix(th.Command, "sh") || th.Kernel || len(g.programs.maps[pid]) == 0 {
		t.Errorf("at first: %+v, %d mappings", th, len(g.programs.maps[pid]))
	}
	// What is seen of its memory while a start is followed is that start's alone.
	g.programs.maps[pid] = append(g.programs.maps[pid], mapping{pid: pid, file: "/another"})
	if _, g = look(); r.met[pid] != first || len(g.programs.maps[pid]) != len(first.maps) {
		t.Error("a process that is known was asked again, or got another's mappings")
	}
	if slices.ContainsFunc(first.maps, func(m mapping) bool { return m.file == "/another" }) {
		t.Error("what a start saw was kept for the next one")
	}

	// It was at work in a start, and has mapped something since it was met.
	g.code = []sample{{pid: pid}}
	first.maps, g.programs.maps[pid] = nil, nil
	g.remember()
	if len(first.maps) == 0 || len(g.programs.maps[pid]) == 0 {
		t.Errorf("%d mappings after it was at work, for this start %d", len(first.maps), len(g.programs.maps[pid]))
	}

	_, err = in.Write([]byte("go\n"))
	require.NoError(t, err)
	until(t, "sleep is executed", func() bool { return strings.HasPrefix(commandOf(pid), "sleep") && commLine(pid) == "sleep" })
	if th, _ = look(); th.Name != "sleep" || !strings.HasPrefix(th.Command, "sleep") {
		t.Errorf("after it has executed another program: %+v", th)
	}
	// One that does so while a start is followed is met anew in any case.
	g.events = []record.TraceEvent{{Kind: record.TraceExec, Thread: pid}}
	if g.remember(); r.met[pid] != nil {
		t.Error("it has executed a program and is taken for what it was")
	}

	look()
	_ = c.Process.Kill()
	_ = c.Wait()
	ended = true
	if th, _ = look(); th.ID != 0 || r.met[pid] != nil {
		t.Errorf("it has ended: %+v", th)
	}
	// Another process may have its number.
	r.met[os.Getpid()] = &met{start: 1, name: commLine(os.Getpid()), command: "another"}
	if look(); r.met[os.Getpid()].command == "another" {
		t.Error("a process was taken for an earlier one of its number")
	}
}

// commLine is the name of a process's first thread.
func commLine(pid int) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	return strings.TrimSpace(string(b))
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 30 s it is not so that %s", what)
		}
	}
}
