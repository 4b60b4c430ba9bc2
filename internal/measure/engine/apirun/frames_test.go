package apirun

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
)

func frame(stream byte, data string) []byte {
	head := []byte{stream, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[4:], uint32(len(data)))
	return append(head, data...)
}

func TestFrames(t *testing.T) {
	follow := func(r io.Reader) *Life {
		l := NewLife(engine.Task{OutputLimit: 8})
		l.Frames(io.NopCloser(nil), r)
		<-l.Drain.Done
		return &l
	}
	before := stamp.Now()
	l := follow(bytes.NewReader(slices.Concat(frame(2, "warning\n"), frame(1, "hello "), frame(1, "world"))))
	if got := string(l.Stdout.Kept()); got != "hello wo" {
		t.Errorf("stdout %q, want the first 8 bytes", got)
	}
	if got := string(l.Stderr.Kept()); got != "warning\n" {
		t.Errorf("stderr %q", got)
	}
	if l.Stdout.First() < before || l.Stdout.First() > stamp.Now() || l.Stderr.First() > l.Stdout.First() || l.Drain.At < l.Stdout.First() {
		t.Errorf("stamps %d, %d and %d", l.Stderr.First(), l.Stdout.First(), l.Drain.At)
	}
	if l = follow(io.MultiReader(bytes.NewReader(frame(1, "torn")[:10]))); l.Stdout.First() != 0 {
		t.Error("a torn frame made an event")
	}
}
