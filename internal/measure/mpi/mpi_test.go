package mpi

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestProgramIsBuiltFromSource rebuilds what is committed.
func TestProgramIsBuiltFromSource(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the MPI program: left out with -short")
	}
	t.Parallel()
	zig := os.Getenv("PLIMSOLL_ZIG")
	if zig == "" {
		out, err := exec.Command("../../../lab/zig", "--path").Output()
		if err != nil {
			t.Skip("the pinned compiler is not installed; lab/zig installs it, or PLIMSOLL_ZIG names it")
		}
		zig = strings.TrimSpace(string(out))
	}
	dir := t.TempDir()
	cmd := exec.Command("./build.sh", dir)
	cmd.Env = append(os.Environ(), "ZIG="+zig)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		have, err := os.ReadFile("bin/mpi-" + arch)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(dir, "mpi-"+arch))
		require.NoError(t, err)
		if !bytes.Equal(have, want) {
			t.Errorf("bin/mpi-%s is not what src builds; run: ZIG=$(lab/zig) internal/measure/mpi/build.sh", arch)
		}
	}
}

// mpirun is the host's launcher, and the program at a place of the test's.
func mpirun(t *testing.T) (launcher []string, program string) {
	t.Helper()
	path, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("there is no mpirun on this machine: apt-get install openmpi-bin")
	}
	dir := t.TempDir()
	require.NoError(t, Put(dir))
	return []string{path, "--allow-run-as-root", "--oversubscribe", "-n"}, filepath.Join(dir, FileName)
}

func run(t *testing.T, ranks string, env []string, args ...string) (stdout, stderr []byte, err error) {
	t.Helper()
	launcher, program := mpirun(t)
	argv := append(append(launcher, ranks, program), args...)
	// mpirun tells its ranks to end when it is told to.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.Bytes(), errs.Bytes(), err
}

// TestEveryTest runs each test of the program by the host's own MPI library: it
// looks itself whether what arrived is what was sent.
func TestEveryTest(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI jobs: left out with -short")
	}
	for _, c := range []struct {
		ranks string
		args  []string
		key   string
	}{
		{"2", []string{"latency", "--size", "0"}, `"latency_ns":`},
		{"2", []string{"latency", "--size", "65536", "--iterations", "10"}, `"latency_ns":`},
		{"2", []string{"latency", "--buffers", "one", "--best", "3", "--size", "65536", "--iterations", "10"}, `"latency_ns":`},
		{"2", []string{"bandwidth", "--size", "1048576", "--iterations", "2"}, `"bandwidth_bytes_per_second":`},
		{"3", []string{"alltoall", "--size", "1000", "--iterations", "10"}, `"mean_ns":`},
		{"3", []string{"scatter", "--size", "1000", "--iterations", "10"}, `"mean_ns":`},
		{"3", []string{"gather", "--size", "1000", "--iterations", "10"}, `"mean_ns":`},
		{"3", []string{"allreduce", "--size", "1000", "--iterations", "10"}, `"mean_ns":`},
		{"2", []string{"barrier", "--iterations", "10"}, `"slowest_rank_ns":`},
		{"2", []string{"ior", "--block", "65536", "--transfer", "4096", "--segments", "3"}, `"bytes":393216,`},
		{"2", []string{"ior", "--block", "65536", "--transfer", "4096", "--api", "mpiio", "--file", "process", "--sync", "yes"}, `"bytes":131072,`},
		{"2", []string{"hacc", "--particles", "10000"}, `"bytes":380000,`},
		{"2", []string{"hacc", "--particles", "10000", "--api", "mpiio"}, `"bytes":380000,`},
		{"2", []string{"metadata", "--count", "10"}, `"removals_per_second":`},
	} {
		out, errs, err := run(t, c.ranks, nil, c.args...)
		if err != nil || !bytes.Contains(out, []byte(c.key)) {
			t.Errorf("%v: %v\n%s%s", c.args, err, out, errs)
			continue
		}
		seen, ok, err := ParseSeen(out)
		if err != nil || !ok || seen.Ranks != int(c.ranks[0]-'0') || seen.Nodes != 1 || seen.ABI != "openmpi" || !strings.HasPrefix(seen.Library, "Open MPI v") {
			t.Errorf("%v: %+v, %v, %v", c.args, seen, ok, err)
		}
	}
}

// TestSharedProcessor: ranks that share a processor read no faster together than
// one alone. Where each counts its own turn only, eight read eight times as fast.
func TestSharedProcessor(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI jobs: left out with -short")
	}
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	launcher, program := mpirun(t)
	launcher = append([]string{"taskset", "-c", strconv.Itoa(cpu)}, launcher...)
	read := func(ranks string) float64 {
		argv := append(slices.Clone(launcher), ranks, "--bind-to", "none", program, "ior", "--block", "4194304", "--transfer", "262144", "--file", "process")
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", argv, err)
		}
		var said struct {
			Read float64 `json:"read_bytes_per_second"`
		}
		if err := json.Unmarshal(out, &said); err != nil || said.Read <= 0 {
			t.Fatalf("%s: %v", out, err)
		}
		return said.Read
	}
	// The best of some: others on the machine make either slower, and nothing faster.
	var one, eight float64
	for range 4 {
		one, eight = max(one, read("1")), max(eight, read("8"))
	}
	t.Logf("one rank reads %.3g bytes/s, eight %.3g", one, eight)
	if eight > 3*one {
		t.Errorf("eight ranks on one processor read %.1f times as fast as one", eight/one)
	}
}

// TestTransportInForce: what is read is what the library was told to use.
func TestTransportInForce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts MPI jobs: left out with -short")
	}
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"OMPI_MCA_btl=tcp,self", "OMPI_MCA_btl_tcp_if_include=lo"}, "ob1 tcp"},
		{[]string{"OMPI_MCA_btl=vader,self", "OMPI_MCA_btl_vader_single_copy_mechanism=none"}, "ob1 vader none"},
	} {
		out, errs, err := run(t, "2", append(c.env, Verbose...), "latency", "--iterations", "10")
		if err != nil {
			t.Fatalf("%v: %v\n%s", c.env, err, errs)
		}
		seen, _, err := ParseSeen(out)
		require.NoError(t, err)
		if got := Transport(errs, seen); got != c.want {
			t.Errorf("%v: the transport is %q, want %q", c.env, got, c.want)
		}
	}
}

// TestProgramRefuses: what can't be is said, with what could.
func TestProgramRefuses(t *testing.T) {
	_, program := mpirun(t)
	for _, c := range []struct{ args, want string }{
		{"", "usage:"}, {"nothing", "no such test"}, {"latency --size x", "whole number"}, {"latency --size", "wants a value"},
		{"latency --colour blue", "no such option"}, {"latency --library /nowhere.so", "no MPI library was found"},
	} {
		out, err := exec.Command(program, strings.Fields(c.args)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%q: %v, %s; want %q", c.args, err, out, c.want)
		}
	}
	if _, errs, err := run(t, "3", nil, "latency"); err == nil || !strings.Contains(string(errs), "between two ranks") {
		t.Errorf("latency of three ranks: %v, %s", err, errs)
	}
}

func TestParseSeenRefuses(t *testing.T) {
	for _, text := range []string{`{"test":"latency","ranks":2,"nodes":1,"hosts":["a"]}`, `{"test":"latency",`, `{"test":"latency","ranks":0,"nodes":1,"hosts":[]}`} {
		if s, ok, err := ParseSeen([]byte(text)); err == nil || ok {
			t.Errorf("%s: %+v, %v", text, s, ok)
		}
	}
	if _, ok, err := ParseSeen([]byte("# OSU MPI Latency Test v7.3\n")); ok || err != nil {
		t.Errorf("another program's output: %v, %v", ok, err)
	}
}

func FuzzParseSeen(f *testing.F) {
	f.Add([]byte(`{"test":"latency","ranks":2,"nodes":1,"hosts":["a","a"],"variables":{"btl_vader_single_copy_mechanism":"cma"}}`), []byte("mca: bml: Using vader btl for send to x\nselect: component ob1 selected"))
	f.Fuzz(func(t *testing.T, out, errs []byte) {
		s, ok, err := ParseSeen(out)
		if ok && (err != nil || s.Ranks != len(s.Hosts)) {
			t.Errorf("%+v, %v", s, err)
		}
		_ = Transport(errs, s)
	})
}
