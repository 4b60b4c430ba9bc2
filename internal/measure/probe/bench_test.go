package probe

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// BenchmarkTruth compares the launcher with plain loops in C, over posix_spawn
// and over vfork: the same program, the same two events, taking turns after
// each start in random order, so that all three are as cold when it is theirs.
// Run: go test -run '^$' -bench Truth -benchtime 2000x ./internal/measure/probe
func BenchmarkTruth(b *testing.B) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		b.Skip("no C compiler on this machine")
	}
	program := b.TempDir() + "/spawn_loop"
	if out, err := exec.Command(cc, "-O2", "-o", program, "testdata/spawn_loop.c").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	l, path := startLauncher(b, Options{})
	argv := PayloadArgs{Word: "w"}.Argv(path)
	names := []string{"launcher", "posix_spawn", "vfork"}
	starts := []func() (first, exit int64){
		func() (int64, int64) {
			c := run(b, l, Job{Commands: []Command{{Argv: argv}}}).Commands[0]
			if c.Status != 0 || c.First == 0 {
				b.Fatalf("%+v", c)
			}
			return c.First - c.Spawn, c.Exit - c.Spawn
		},
		plainLoop(b, program, "posix_spawn", argv),
		plainLoop(b, program, "vfork", argv),
	}
	first, exit := make([][]int64, len(starts)), make([][]int64, len(starts))
	rng := rand.New(rand.NewPCG(1, 2))
	for range b.N {
		for _, who := range rng.Perm(len(starts)) {
			f, e := starts[who]()
			first[who], exit[who] = append(first[who], f), append(exit[who], e)
		}
	}
	for who, name := range names {
		f, e := median(first[who]), median(exit[who])
		b.ReportMetric(f/1e3, "us-first-"+name)
		b.ReportMetric(e/1e3, "us-exit-"+name)
		if who > 0 {
			b.ReportMetric(median(first[0])/f, "ratio-first-to-"+name)
			b.ReportMetric(median(exit[0])/e, "ratio-exit-to-"+name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// plainLoop runs the C program and has it start argv once with each call.
func plainLoop(b *testing.B, program, how string, argv []string) func() (first, exit int64) {
	cmd := exec.Command(program, append([]string{how}, argv...)...)
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	lines := bufio.NewReader(out)
	return func() (first, exit int64) {
		fmt.Fprintln(in, 1)
		if _, err := fmt.Fscanln(lines, &first, &exit); err != nil {
			b.Fatal(err)
		}
		return first, exit
	}
}

func median(v []int64) float64 {
	slices.Sort(v)
	return float64(v[len(v)/2]+v[(len(v)-1)/2]) / 2
}

// BenchmarkCost runs null jobs and tells what they cost Plimsoll itself: CPU
// time of this process for each job, CPU time of the launcher for each, and
// memory at the end.
// Run: go test -run '^$' -bench Cost -benchtime 100000x ./internal/measure/probe
func BenchmarkCost(b *testing.B) {
	l, path := startLauncher(b, Options{})
	job := Job{Commands: []Command{{Argv: PayloadArgs{Word: "w"}.Argv(path)}}}
	for range 100 {
		run(b, l, job)
	}
	theirs, ours, rss := cpu(b, l.PID()), self(b), residentKiB(b, l.PID())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Run(context.Background(), job); err != nil {
			b.Fatal(err)
		}
	}
	n := float64(b.N)
	b.ReportMetric(float64(self(b)-ours)/1e3/n, "us-cpu/op")
	b.ReportMetric(float64(cpu(b, l.PID())-theirs)/1e3/n, "us-cpu-launcher/op")
	b.ReportMetric(float64(residentKiB(b, os.Getpid()))/1024, "MiB-rss")
	b.ReportMetric(float64(residentKiB(b, l.PID())), "KiB-rss-launcher")
	b.ReportMetric(float64(residentKiB(b, l.PID())-rss), "KiB-rss-launcher-growth")
}

func self(b *testing.B) time.Duration {
	var ru syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &ru))
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// cpu is the CPU time of another process, in the kernel's ticks of 10 ms.
func cpu(b *testing.B, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')'):])
	ticks := 0
	for _, f := range fields[12:14] {
		n, err := strconv.Atoi(string(f))
		require.NoError(b, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func residentKiB(b *testing.B, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	require.NoError(b, err)
	return kib
}
