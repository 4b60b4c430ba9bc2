package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// mpiStudy has two ranks in native, in an engine that gives each a user namespace
// of its own, and in one that does not; and a job that never ends.
const mpiStudy = `plimsoll: 1
name: mpi
title: Two ranks
protocol: {blocks: 1, warmup: 0, limits: {cpus: none, memory: none}}
baselines: [native]
workloads:
  - {name: mpi-latency, parameters: {size: 65536, iterations: 100, ranks-per-container: [one, all]}}
  - {name: mpi-allreduce, parameters: {ranks: 4, iterations: 10, mpi-library: [image, host]}}
  - ./endless.yaml
  - ./stranger.yaml
  - ./mixed.yaml
environments:
  - native
  - {engine: charliecloud, storage: directory}
  - {engine: apptainer, storage: sandbox}
  - bubblewrap
`

const endlessRanks = `plimsoll-workload: 1
name: endless
what: Ranks that do not end.
group: os
image: toolbox
limit: 2s
launch: {ranks: "2"}
run: [sleep, "1000"]
`

// strangers know nothing of their launcher, as where the library in the image does
// not match the one outside: each takes itself for a job of one rank.
const strangers = `plimsoll-workload: 1
name: stranger
what: Ranks that do not find each other.
group: os
image: toolbox
limit: 30s
launch: {ranks: "2", program: true}
run: [env, -i, OMPI_MCA_ess_singleton_isolated=1, /work/plimsoll-mpi, barrier, --iterations, "10"]
`

// mixed were to load the host's library, and load the image's.
const mixed = `plimsoll-workload: 1
name: mixed
what: Ranks that load another library than they were to.
group: os
image: toolbox
limit: 30s
parameters: {mpi-library: {levels: [host]}}
launch: {ranks: "2", program: true}
run: [env, -u, LD_LIBRARY_PATH, PLIMSOLL_MPI_LIBRARY=libmpi.so.40, /work/plimsoll-mpi, barrier, --iterations, "10"]
`

// TestRanks: ranks that the host's mpirun starts are one job in each environment,
// their transport is read, and a job that never ends is ended with all its ranks.
func TestRanks(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("there is no mpirun on this machine: apt-get install openmpi-bin")
	}
	p := withToolbox(t)
	study, out := filepath.Join(p.dir, "mpi.yaml"), filepath.Join(p.dir, "out")
	for path, text := range map[string]string{study: mpiStudy, filepath.Join(p.dir, "endless.yaml"): endlessRanks, filepath.Join(p.dir, "stranger.yaml"): strangers, filepath.Join(p.dir, "mixed.yaml"): mixed} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	cmd := p.command("run", study, "--wait", "--progress", "none", "-o", out)
	late := time.AfterFunc(4*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) }) // it ends itself then, and nothing stays
	defer late.Stop()
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if n := cmd.ProcessState.ExitCode(); n != 6 { // the endless ones fail
		t.Fatalf("status %d, %v\n%s", n, err, said.String())
	}
	r, err := record.Open(out)
	require.NoError(t, err)
	if run := r.Run(); len(run.Residue) > 0 {
		t.Errorf("left behind: %v", run.Residue)
	}
	insides := map[string]record.Inside{}
	all, err := r.Insides()
	require.NoError(t, err)
	for _, in := range all {
		insides[in.ID] = in
	}
	ways := map[string]string{}
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		what := tr.Env + " " + tr.Workload
		switch {
		case tr.Env == "bubblewrap":
			if tr.Failure == nil || tr.Failure.Class != record.Unsupported || !strings.Contains(tr.Failure.Text, "launcher of parallel programs") {
				t.Errorf("%s: %+v", what, tr.Failure)
			}
		case tr.Workload == "stranger":
			if tr.Failure == nil || tr.Failure.Class != record.WrongComponent || !strings.Contains(tr.Failure.Text, "does not understand its launcher") {
				t.Errorf("%s: %+v, want class %s", what, tr.Failure, record.WrongComponent)
			}
		case strings.HasPrefix(tr.Workload, "mixed"):
			if tr.Failure == nil || tr.Failure.Class != record.WrongComponent || !strings.Contains(tr.Failure.Text, "a rank has loaded /") {
				t.Errorf("%s: %+v, want class %s", what, tr.Failure, record.WrongComponent)
			}
		case tr.Workload == "endless":
			if tr.Failure == nil || tr.Failure.Class != record.TimeOut {
				t.Errorf("%s: %+v, want a time-out", what, tr.Failure)
			}
		case tr.Failure != nil:
			t.Errorf("%s failed: %s: %s", what, tr.Failure.Class, tr.Failure.Text)
		case tr.Events[record.First] <= tr.Events[record.Request] || tr.Events[record.Done] <= tr.Events[record.First] || len(tr.Binary) != 64 || tr.Values["time"] <= 0:
			t.Errorf("%s: events %v, values %v, program %q", what, tr.Events, tr.Values, tr.Binary)
		default:
			in, ok := insides[tr.Inside]
			if !ok || !strings.HasPrefix(in.More["mpi.transport"], "ob1 ") || !strings.HasPrefix(in.More["mpi.library"], "Open MPI v") {
				t.Errorf("%s: inside is %+v", what, in.More)
			}
			if host := strings.Contains(tr.Workload, "host"); strings.HasPrefix(in.More["mpi.library-file"], "/work/host-mpi/lib/") != host || len(in.More["mpi.library-sha256"]) != 64 {
				t.Errorf("%s: it has loaded %s", what, in.More["mpi.library-file"])
			}
			ways[what] = in.More["mpi.transport"]
		}
	}
	t.Log(ways)
	// Ranks in user namespaces of their own may not read each other's memory; in
	// one that they share they may, as in native.
	const size = "mpi-latency/"
	for what, way := range ways {
		if strings.HasPrefix(what, "charliecloud ") && strings.Contains(what, size) {
			same := way == ways["native "+strings.TrimPrefix(what, "charliecloud ")]
			if shared := strings.Contains(what, "ranks-per-container-all") || strings.Contains(what, "/all/"); shared != same {
				t.Errorf("%s: the transport is %q; one container for all ranks: %v", what, way, shared)
			}
		}
	}
	if len(ways) != 3*4 {
		t.Errorf("%d trials have a transport, want 12", len(ways))
	}
}

const manyRanks = `plimsoll: 1
name: many
title: Many ranks
protocol: {blocks: 1, warmup: 0, limits: {cpus: none, memory: none}}
baselines: [native]
workloads:
  - {name: mpi-barrier, parameters: {ranks: 64, iterations: 10, ranks-per-container: [one, all]}}
environments: [native, {engine: charliecloud, storage: directory}]
`

// TestSiteManyRanks: 64 ranks, many to a processor, prove the bookkeeping: each is
// known, and each has proved itself. Nothing is said of their speed.
func TestSiteManyRanks(t *testing.T) {
	slowly(t)
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("there is no mpirun on this machine: apt-get install openmpi-bin")
	}
	p := withToolbox(t)
	study, out := filepath.Join(p.dir, "many.yaml"), filepath.Join(p.dir, "out")
	require.NoError(t, os.WriteFile(study, []byte(manyRanks), 0o600))
	cmd := p.command("run", study, "--wait", "--progress", "none", "-o", out)
	late := time.AfterFunc(4*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	r, err := record.Open(out)
	require.NoError(t, err)
	if run := r.Run(); len(run.Residue) > 0 {
		t.Errorf("left behind: %v", run.Residue)
	}
	all, err := r.Insides()
	require.NoError(t, err)
	ranks := map[string]string{}
	for _, in := range all {
		ranks[in.ID] = in.More["mpi.ranks"]
	}
	n := 0
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		if !tr.OK() {
			t.Errorf("%s %s failed: %s: %s", tr.Env, tr.Workload, tr.Failure.Class, tr.Failure.Text)
		} else if n++; ranks[tr.Inside] != "64" {
			t.Errorf("%s %s: %q ranks", tr.Env, tr.Workload, ranks[tr.Inside])
		}
	}
	if n != 4 {
		t.Errorf("%d trials succeeded, want 4", n)
	}
}
