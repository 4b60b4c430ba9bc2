//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// onSite skips what takes minutes and wants root, unless it is asked for.
func onSite(t *testing.T) {
	t.Helper()
	f := flag.Lookup("site")
	if os.Getenv("PLIMSOLL_SITE") != "1" && (f == nil || f.Value.String() != "true") {
		t.Skip("a parallel file system takes minutes: PLIMSOLL_SITE=1 runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("the servers of a parallel file system and mounting it need root")
	}
}

// fileSystem brings one of lab/storage up for a test and gives where it is mounted.
func fileSystem(t *testing.T, name string) string {
	t.Helper()
	script, err := filepath.Abs("../../lab/storage/" + name)
	require.NoError(t, err)
	lab := func(verb string) (string, error) {
		cmd := exec.Command(script, verb)
		cmd.Env = append(os.Environ(), "ASSUME_YES=1")
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("lab/storage/%s %s: %w\n%s", name, verb, err, said.String())
		}
		return strings.TrimSpace(string(out)), err
	}
	t.Cleanup(func() {
		if _, err := lab("down"); err != nil {
			t.Error(err)
		}
	})
	mnt, err := lab("up")
	require.NoError(t, err)
	return mnt
}

// storageNode is the lab's: a namespace of the network's, and its address.
const (
	storageNode    = "plimlab-storage"
	storageAddress = "10.98.7.2"
)

// agentOnNode starts plimsoll agent on the lab's storage node and gives its
// address and its token's file.
func (p *subject) agentOnNode(sources ...string) (address, token string) {
	p.t.Helper()
	id := filepath.Join(p.dir, "identity")
	// The test's program goes by the name that it is called by.
	program := filepath.Join(p.dir, "plimsoll")
	if err := os.Symlink(p.command().Path, program); err != nil {
		p.t.Fatal(err)
	}
	args := []string{"netns", "exec", storageNode, program, "agent", "--name", "node", "--identity", id, "--listen", storageAddress + ":0"}
	for _, s := range sources {
		args = append(args, "--source", s)
	}
	cmd := exec.Command("ip", args...)
	cmd.Env, cmd.Dir = p.env(), p.dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer late.Stop()
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("the agent: %v\n%s", err, said.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.t.Fatalf("the agent printed no address: %v\n%s", err, said.String())
	}
	return strings.TrimSpace(line), filepath.Join(id, "token")
}

// onFileSystem puts the state, and images with it, on a file system.
func onFileSystem(t *testing.T, mnt string) *subject {
	t.Helper()
	p := &subject{t: t, dir: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(mnt, "state"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(mnt, "state"), filepath.Join(p.dir, "state")))
	return p
}

// writing is a workload of 64 MiB that are on the servers when it ends.
const writing = `plimsoll-workload: 1
name: write-and-sync
title: 64 MiB, written and synced
what: dd writes 64 MiB and syncs them.
group: disk
image: busybox
parameters:
  files: {levels: [bind], what: Where the file lies.}
takes: [{time: 1s}]
limit: 2m
roles:
  writer:
    run: [sh, -c, "dd if=/dev/zero of=/work/file bs=1M count=64 conv=fsync 2>&1"]
metrics:
  - id: blocks
    unit: count
    better: higher
    what: Blocks of 1 MiB that dd says it wrote.
    regexp: '([0-9]+)\+0 records out'
`

const writtenBytes = 64 << 20

const writingStudy = `plimsoll: 1
name: writing
protocol: {blocks: 6, warmup: 0, trial-limit: 2m}
baselines: [native]
workloads: [{file: write-and-sync.yaml}]
environments:
  - engine: charliecloud
    storage: directory
`

// TestSiteStorage: on real file systems, what servers count agrees with what the
// client counts and with what was written, within 5 %.
func TestSiteStorage(t *testing.T) {
	onSite(t)
	for _, fs := range []struct {
		name    string
		local   string // what this machine counts itself; empty: it can't
		sources []string
	}{
		{"ceph", "local:ceph-client", []string{"ceph-mds", "ceph-osd"}},
		{"gluster", "", []string{"glusterfs"}},
	} {
		t.Run(fs.name, func(t *testing.T) {
			mnt := fileSystem(t, fs.name)
			p := onFileSystem(t, mnt)
			address, token := p.agentOnNode(fs.sources...)
			p.write("write-and-sync.yaml", writing)
			p.write("study.yaml", writingStudy)
			args := []string{"run", "study.yaml", "--wait", "--progress", "none", "-o", "out", "--agent", address, "--agent-token-file", token}
			if fs.local != "" {
				args = append(args, "--agent", fs.local)
			}
			p.measured(args...)
			trials := p.trialsOf("out")
			if len(trials) != 12 {
				t.Errorf("%d trials", len(trials))
			}
			for _, tr := range trials {
				if len(tr.Remarks) > 0 {
					t.Logf("trial %d: %q", tr.Seq, tr.Remarks)
				}
				p.near(tr, "node-data-written", writtenBytes)
				if fs.local != "" {
					p.near(tr, "local-client-written", tr.Values["node-data-written"])
				}
				if tr.Values["node-metadata-requests"] == 0 || tr.Values["node-data-requests"] == 0 {
					t.Errorf("trial %d: no requests: %v", tr.Seq, tr.Values)
				}
			}
		})
	}
}

// measured runs a study to its end, and shows what trials printed where one has
// failed.
func (p *subject) measured(args ...string) {
	p.t.Helper()
	status, said := p.run(args...)
	if status == 0 {
		return
	}
	files, _ := filepath.Glob(filepath.Join(p.dir, "out", record.OutputDir, "*"))
	for _, f := range files[:min(len(files), 2)] {
		text, _ := os.ReadFile(f)
		said += "\n" + f + ":\n" + string(text)
	}
	p.t.Fatalf("status %d\n%s", status, said)
}

// near demands a value within 5 % of another.
func (p *subject) near(t record.Trial, id string, want float64) {
	p.t.Helper()
	if got := t.Values[id]; math.Abs(got-want) > 0.05*want {
		p.t.Errorf("trial %d of %s: %s is %g, not %g to 5 %%", t.Seq, t.Env, id, got, want)
	}
}

func (p *subject) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// trialsOf reads a run's trials, none of which may have failed.
func (p *subject) trialsOf(dir string) []record.Trial {
	p.t.Helper()
	r, err := record.Open(filepath.Join(p.dir, dir))
	if err != nil {
		p.t.Fatal(err)
	}
	var out []record.Trial
	for tr, err := range r.Trials() {
		if err != nil {
			p.t.Fatal(err)
		}
		if !tr.OK() {
			p.t.Fatalf("trial %d of %s: %s", tr.Seq, tr.Env, tr.Failure.Text)
		}
		out = append(out, *tr)
	}
	return out
}
