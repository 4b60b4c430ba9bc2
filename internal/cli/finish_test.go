//go:build linux

package cli

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// readings counts how often files of a directory are opened for reading alone
// while do runs, by the kernel's own account.
func readings(t *testing.T, dir string, do func()) map[string]int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	// Two closings without an opening between them would be told as one.
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN|unix.IN_CLOSE_NOWRITE); err != nil {
		t.Fatal(err)
	}
	do()
	count := map[string]int{}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buf)
		if n <= 0 || err != nil {
			break // there is no more
		}
		for at := 0; at < n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			at += unix.SizeofInotifyEvent
			name := strings.TrimRight(string(buf[at:at+int(e.Len)]), "\x00")
			at += int(e.Len)
			if e.Mask&unix.IN_CLOSE_NOWRITE != 0 {
				count[name]++
			}
		}
	}
	return count
}

// TestFinishReadsOnce: what a run prints at its end, the noise that its twins
// tell, the answer of its gate and its page are of one analysis. The page looks
// at the trials once more, for those that it lists.
func TestFinishReadsOnce(t *testing.T) {
	twins := spec(2, 1)
	twin := twins.Envs[1]
	twin.ID += "@b"
	twins.Envs = append(twins.Envs, twin)
	base := spec(1, 1).Write(t)
	for name, gated := range map[string]bool{"table": false, "gate": true} {
		dir := twins.Write(t)
		var g *gating
		if gated {
			f := runGateFlags{base: base}
			f.failAbove = "50%"
			gate, err := f.record()
			require.NoError(t, err)
			if g, err = newGating(rewrite(t, dir, func(r *record.Run) { r.ID, r.Gate = "next0000", gate })); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr bytes.Buffer
		w := terminal(0)
		w.Stdout, w.Stderr = &stdout, &stderr
		var err error
		count := readings(t, dir, func() {
			err = finishRun(w, &run.Summary{Dir: dir, Trials: 100}, reportFlags{format: "text"}, g)
		})
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, stderr.String())
		}
		if count[record.TrialsFile] != 2 || count[record.InsideFile] > 1 {
			t.Errorf("%s: the trials were read %d times, what payloads saw %d times: want 2 and at most 1", name, count[record.TrialsFile], count[record.InsideFile])
		}
		if !strings.Contains(stderr.String(), "The report is ") {
			t.Errorf("%s: no page\n%s", name, stderr.String())
		}
		if !strings.Contains(stdout.String(), map[bool]string{false: "crun@b", true: "gate: pass"}[gated]) {
			t.Errorf("%s: printed\n%s", name, stdout.String())
		}
		r, err := record.Open(dir)
		if err != nil || len(r.Run().Noise) == 0 {
			t.Errorf("%s: the twins' noise is not recorded: %v", name, err)
		}
	}
}
