//go:build linux

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/engine/fake"
)

// enginesIn runs `engines --format json` with all engines and this PATH.
func enginesIn(t *testing.T, all []engine.Engine, limit time.Duration, lookPath func(string) (string, error)) map[string]engineJSON {
	t.Helper()
	var out, errs bytes.Buffer
	w := offline(t.TempDir(), all, &out, &errs, "engines", "--all", "--format", "json")
	w.LookPath, w.DetectLimit = lookPath, limit
	if status := Main(w); status != int(Done) {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	var list []engineJSON
	require.NoError(t, json.Unmarshal(out.Bytes(), &list))
	by := map[string]engineJSON{}
	for _, e := range list {
		by[e.Name] = e
	}
	return by
}

// Every program that an engine looks for is a wrapper here whose child sleeps
// and holds the pipe. `plimsoll engines` answers all the same, for the other
// engines as ever, says of these that they hang, and leaves none of the
// sleepers.
func TestHungPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for programs that hang: a second or two")
	}
	asked := map[string][]string{} // by engine
	for _, e := range catalogue.All() {
		name := e.Info().Name
		var mu sync.Mutex
		enginesIn(t, []engine.Engine{e}, 0, func(program string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			asked[name] = append(asked[name], program)
			return "", os.ErrNotExist
		})
	}
	dir := t.TempDir()
	ran, pids := filepath.Join(dir, "ran"), filepath.Join(dir, "pids")
	hang := func(program string) (string, error) {
		path := filepath.Join(dir, program)
		text := "#!/bin/sh\nPATH=/usr/bin:/bin:$PATH\nsleep 3600 &\necho $$ $! >>" + pids + "\necho " + program + " >>" + ran + "\nwait\n"
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return path, os.WriteFile(path, []byte(text), 0o755)
	}
	for _, programs := range asked {
		for _, p := range programs {
			if _, err := hang(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	// On a busy machine a shell for each engine may take a second to begin.
	got := enginesIn(t, append(catalogue.All(), good{fake.New()}), 3*time.Second, hang)
	if !got["good"].Usable || !got["floor"].Usable && os.Geteuid() == 0 {
		t.Errorf("the others were not found: %+v", got)
	}
	text, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal("no engine has run its program: ", err)
	}
	var hung []string
	for name, e := range got {
		if !slices.ContainsFunc(asked[name], func(p string) bool { return slices.Contains(strings.Fields(string(text)), p) }) {
			continue
		}
		if said, _ := json.Marshal(e); bytes.Contains(said, []byte(" hung: it had not ended after ")) {
			hung = append(hung, name)
		} else if !e.Usable && !strings.Contains(e.Reason, "root") {
			t.Errorf("%s does not tell of the hung program: %s", name, e.Reason)
		}
	}
	slices.Sort(hung)
	if len(hung) < 5 {
		t.Errorf("only %q tell of hung programs; %q were run", hung, text)
	}
	t.Log("told of: ", hung)
	started, err := os.ReadFile(pids)
	require.NoError(t, err)
	for _, f := range strings.Fields(string(started)) {
		pid, err := strconv.Atoi(f)
		require.NoError(t, err)
		if !ends(pid) {
			t.Errorf("process %d of a hung program is still there", pid)
		}
	}
}

// good is an engine that is found at once.
type good struct{ engine.Engine }

func (g good) Info() engine.Info {
	i := g.Engine.Info()
	i.Name = "good"
	return i
}

// ends waits until a process has ended; a zombie has.
func ends(pid int) bool {
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z")) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// mistaken is an engine whose Detect has a mistake.
type mistaken struct {
	engine.Engine
	in func()
}

func (m mistaken) Info() engine.Info {
	i := m.Engine.Info()
	i.Name = "mistaken"
	return i
}

func (m mistaken) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	m.in()
	return m.Engine.Detect(ctx, kit)
}

// A mistake in one engine is told, and keeps nobody from the others.
func TestMistakenEngine(t *testing.T) {
	for want, in := range map[string]func(free chan struct{}){
		"the adapter panicked: a mistake":        func(chan struct{}) { panic("a mistake") },
		"looking for it does not come to an end": func(free chan struct{}) { <-free },
	} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{})
			all := []engine.Engine{mistaken{fake.New(), func() { in(free) }}, good{fake.New()}}
			got := enginesIn(t, all, time.Second, func(string) (string, error) { return "", os.ErrNotExist })
			if !got["good"].Usable || got["mistaken"].Usable || !strings.Contains(got["mistaken"].Reason, want) {
				t.Errorf("%+v", got)
			}
			close(free)
			synctest.Wait()
		})
	}
}
