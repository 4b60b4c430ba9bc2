package probe

import (
	"reflect"
	"testing"

	"plimsoll/internal/record"
)

// answer encodes a result as src/answer.c does.
func answer(res *JobResult) []byte {
	var b []byte
	i64 := func(v int64) { b = le.AppendUint64(b, uint64(v)) }
	u32 := func(v int) { b = le.AppendUint32(b, uint32(v)) }
	text := func(s string) { u32(len(s)); b = append(b, s...) }
	flags := 0
	for i, on := range []bool{res.ContainerReaped, res.ContainerLate, res.TimedOut, false, res.Killed} {
		if on {
			flags |= 1 << i
		}
	}
	i64(res.Ready)
	i64(res.ContainerExit)
	u32(res.ContainerStatus)
	u32(flags)
	u32(len(res.Strays))
	for _, pid := range res.Strays {
		u32(pid)
	}
	u32(len(res.Offsets))
	for _, e := range res.Offsets {
		i64(e.Sent)
		i64(e.Inside)
		i64(e.Received)
	}
	u32(len(res.Commands))
	for _, c := range res.Commands {
		i64(c.Spawn)
		i64(c.Exec)
		i64(c.First)
		i64(c.Exit)
		if c.Skipped {
			u32(1)
		} else {
			u32(0)
		}
		u32(c.Errno)
		u32(c.Status)
		text(c.Where)
		i64(c.Usage.UserNS)
		i64(c.Usage.SystemNS)
		i64(c.Usage.MaxRSS)
		i64(c.Dropped)
		u32(len(c.Steps))
		for _, s := range c.Steps {
			text(s.Name)
			i64(s.At)
		}
		u32(len(c.Stdout))
		u32(len(c.Stderr))
	}
	for _, c := range res.Commands {
		b = append(b, c.Stdout...)
		b = append(b, c.Stderr...)
	}
	return b
}

func sampleResult() *JobResult {
	return &JobResult{
		Ready: 5, ContainerExit: 6, ContainerStatus: 256, ContainerReaped: true, TimedOut: true, Killed: true,
		Strays: []int{7}, Offsets: []Exchange{{1, 2, 3}},
		Commands: []CommandResult{
			{Spawn: 1, Exec: 2, First: 3, Exit: 4, Errno: 2, Where: "exec", Status: 32512, Stdout: []byte("out"), Stderr: []byte("e"),
				Usage: record.Usage{UserNS: 1, SystemNS: 2, MaxRSS: 3}, Dropped: 9, Steps: []record.Step{{Name: "cloned", At: 3}}},
			{Skipped: true},
		},
	}
}

func TestDecodeResult(t *testing.T) {
	want := sampleResult()
	body := answer(want)
	got, _, err := decodeResult(body)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	for n := range body {
		if _, _, err := decodeResult(body[:n]); err == nil {
			t.Errorf("the first %d bytes were accepted", n)
		}
	}
}

func FuzzDecodeResult(f *testing.F) {
	f.Add(answer(sampleResult()))
	f.Add(answer(&JobResult{}))
	f.Fuzz(func(t *testing.T, body []byte) {
		res, _, err := decodeResult(body)
		if err != nil {
			return
		}
		size := 0
		for _, c := range res.Commands {
			size += len(c.Stdout) + len(c.Stderr) + len(c.Where)
		}
		if size > len(body) {
			t.Errorf("%d bytes of output from a frame of %d", size, len(body))
		}
	})
}
