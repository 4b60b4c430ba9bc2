package probe

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// zig finds the pinned compiler: PLIMSOLL_ZIG, or what lab/zig has installed.
func zig(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("PLIMSOLL_ZIG"); p != "" {
		return p
	}
	out, err := exec.Command("../../../lab/zig", "--path").Output()
	if err != nil {
		t.Skip("the pinned compiler is not installed; lab/zig installs it, or PLIMSOLL_ZIG names it")
	}
	return strings.TrimSpace(string(out))
}

func build(t *testing.T, arches, flags string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("./build.sh", dir)
	cmd.Env = append(os.Environ(), "ZIG="+zig(t), "ARCHES="+arches, "CFLAGS_EXTRA="+flags)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, out)
	}
	return dir
}

// TestBinariesAreBuiltFromSource rebuilds what is committed.
func TestBinariesAreBuiltFromSource(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the probe: left out with -short")
	}
	t.Parallel()
	dir := build(t, "amd64 arm64", "")
	for _, arch := range []string{"amd64", "arm64"} {
		have, err := os.ReadFile("bin/probe-" + arch)
		require.NoError(t, err)
		want, err := os.ReadFile(dir + "/probe-" + arch)
		require.NoError(t, err)
		if !bytes.Equal(have, want) {
			t.Errorf("bin/probe-%s is not what src builds; run: ZIG=$(lab/zig) internal/measure/probe/build.sh", arch)
		}
		if len(have) > 76<<10 { // of which a payload loads the first pages
			t.Errorf("probe-%s has grown to %d bytes", arch, len(have))
		}
	}
}

// TestSanitized runs the other tests on a build that traps undefined
// behaviour; there is no library in it that could do more than trap.
func TestSanitized(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the probe: left out with -short")
	}
	t.Parallel()
	if os.Getenv("PLIMSOLL_TEST_PROBE") != "" {
		t.Skip("these are the tests of another build already")
	}
	dir := build(t, runtime.GOARCH, "-fsanitize=undefined -fsanitize-trap=all")
	require.Reachable(t, dir)
	cmd := exec.Command(os.Args[0], "-test.run=Launcher|Environment|User|Start|Output|Ready|Grace|Limit|Strays|Container|Calibrate|Cancel|Floor|Native|Payload|Report|Init|Delay|Cgroup|Task|Unsynced|BenchOf|BenchFails")
	cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_PROBE="+dir+"/probe-"+runtime.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with traps on undefined behaviour: %v\n%s", err, out)
	}
}

// TestDecoderOfTheLauncher feeds mutated frames to the C decoder, built with
// the address sanitizer.
func TestDecoderOfTheLauncher(t *testing.T) {
	t.Parallel()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler on this machine")
	}
	program := t.TempDir() + "/decode"
	cmd := exec.Command(cc, "-g", "-O1", "-Wall", "-Wextra", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-o", program, "testdata/decode_fuzz.c", "src/decode.c")
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("asan")) {
			t.Skipf("the C compiler has no address sanitizer: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	var in bytes.Buffer
	var valid []bool
	add := func(body []byte, ok bool) {
		in.Write(le.AppendUint32(nil, uint32(len(body))))
		in.Write(body)
		valid = append(valid, ok)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, job := range sampleJobs() {
		frame, err := appendJob(nil, &job, 1)
		require.NoError(t, err)
		body := frame[headerSize:]
		add(body, true)
		for n := range body {
			add(body[:n], false)
		}
		add(append(bytes.Clone(body), 0), false)
		for range 5000 {
			mutant := bytes.Clone(body)
			for range 1 + rng.IntN(3) {
				mutant[rng.IntN(len(mutant))] = []byte{0, 1, 0x7f, 0xff, byte(rng.Uint32())}[rng.IntN(5)]
			}
			add(mutant, false)
			valid[len(valid)-1] = bytes.Equal(mutant, body)
		}
	}
	cmd = exec.Command(program)
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	verdicts, err := cmd.Output()
	if err != nil || len(verdicts) != len(valid) {
		t.Fatalf("after %d of %d frames: %v\n%s", len(verdicts), len(valid), err, stderr.String())
	}
	accepted := 0
	for i, ok := range valid {
		if ok && verdicts[i] != '1' {
			t.Errorf("frame %d is valid and was refused", i)
		}
		if verdicts[i] == '1' {
			accepted++
		}
	}
	if accepted == len(valid) {
		t.Error("every mutant was accepted")
	}
}

func sampleJobs() []Job {
	return []Job{
		{Commands: []Command{{Argv: []string{"/a", "b"}, Env: []string{"A=b"}}}},
		{Limit: 5e9, Cleanup: 1e9, OutputLimit: 100, Commands: []Command{
			{Argv: []string{"/a"}, SetUser: true, UID: 1, GID: 2, Groups: []int{3, 4}, Rlimits: []Rlimit{{7, 1, 2}},
				Cgroups: []string{"/c"}, Stdin: StdinPipe, Calibrate: 3, PidFile: "/p", Dir: "/d", Background: true, Unsynced: true},
			{Argv: []string{"/b"}, Floor: &Floor{"/l", "/u", "/w", "/m", true, true}},
			{Await: AwaitGrace, Grace: 1e9, Signal: 9, Always: true, Mute: true},
		}},
	}
}

// TestStyleOfTheSources holds what the C sources promise.
func TestStyleOfTheSources(t *testing.T) {
	err := fs.WalkDir(os.DirFS("src"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile("src/" + name)
		if err != nil {
			return err
		}
		if n := bytes.Count(b, []byte("\n")); n > 400 {
			return fmt.Errorf("%s has %d lines", name, n)
		}
		if bytes.Contains(b, []byte("malloc")) || bytes.Contains(b, []byte("#include <std")) {
			return fmt.Errorf("%s: neither a C library nor dynamic memory here", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
