package enginetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// The targets, which are in every image.
const (
	bindAt   = "/mnt"
	volumeAt = "/srv"
	tmpfsAt  = "/media"
	// tmpfsBytes is the size that is asked for.
	tmpfsBytes = 8 << 20
)

// mounts: what each kind of mount promises. One container has all three; where
// that is not possible each kind is tried by itself.
func (s *suite) mounts(t *testing.T) {
	env := s.busybox(t)
	kinds := []engine.MountKind{engine.Bind, engine.Volume, engine.Tmpfs}
	if s.mounted(t, env, kinds...) == "" {
		if s.mounted(t, env, engine.Volume) != "" {
			t.Error("a volume can be had beside others and not by itself")
		}
		return
	}
	var not []string
	for _, kind := range kinds {
		if why := s.mounted(t, env, kind); why != "" {
			not = append(not, why)
		}
	}
	if len(not) == len(kinds) {
		t.Skip(strings.Join(not, "; "))
	}
	t.Logf("not possible here: %s", strings.Join(not, "; "))
}

// mounted tries one container with mounts of some kinds. It gives the reason
// where that is unsupported.
func (s *suite) mounted(t *testing.T, env engine.Environment, kinds ...engine.MountKind) (unsupported string) {
	t.Helper()
	word := adapter.Word()
	script, mounts := "set -e; ", []engine.Mount{}
	var dir string
	for _, kind := range kinds {
		switch kind {
		case engine.Bind:
			dir = s.hostDir(t, word)
			mounts = append(mounts, engine.Mount{Kind: kind, Target: bindAt, Source: dir})
			script += "cat /mnt/in; echo $0 >/mnt/out; mkdir /mnt/sub; stat -c 'owner %u %g' /mnt/out; "
		case engine.Volume:
			mounts = append(mounts, engine.Mount{Kind: kind, Target: volumeAt})
			script += "echo volume has $(ls -A /srv | wc -l); echo $0 >/srv/f; cat /srv/f >/dev/null; "
		case engine.Tmpfs:
			mounts = append(mounts, engine.Mount{Kind: kind, Target: tmpfsAt, SizeBytes: tmpfsBytes})
			script += "echo tmpfs has $(ls -A /media | wc -l); echo $0 >/media/f; cat /media/f >/dev/null; " +
				"while read a b c d; do [ $b = /media ] && echo tmpfs is $c; done </proc/mounts; df -P -k /media | tail -n1; "
		}
	}
	task := s.tool("/bin/busybox", "sh", "-c", script+"cat /proc/self/mountinfo >/dev/null; echo map $(cat /proc/self/uid_map)", word)
	task.Mounts = mounts
	res, err := env.Run(t.Context(), task)
	if err != nil {
		t.Fatalf("Run with mounts: %v", err)
	}
	if f := res.Failure; f != nil {
		if f.Class == record.Unsupported {
			return fmt.Sprintf("%v: %s", kinds, f.Text)
		}
		t.Errorf("Run with mounts %v: %s: %s", kinds, f.Class, f.Text)
		return ""
	}
	out := string(res.Stdout)
	if res.Exit == nil || *res.Exit != 0 {
		t.Errorf("with mounts %v: exit status %v, stdout %q, stderr %q", kinds, show(res.Exit), out, res.Stderr)
		return ""
	}
	has := func(line string) {
		t.Helper()
		if !strings.Contains(out, line+"\n") {
			t.Errorf("with mounts %v: %q is not in what was seen inside:\n%s", kinds, line, out)
		}
	}
	for _, m := range mounts {
		switch m.Kind {
		case engine.Bind:
			has(word)
			s.owned(t, dir, word, out)
		case engine.Volume:
			has("volume has 0")
		case engine.Tmpfs:
			has("tmpfs has 0")
			has("tmpfs is tmpfs")
			s.sized(t, env, out)
		}
	}
	return ""
}

// hostDir makes a directory of the host for a container: anybody may write.
func (s *suite) hostDir(t *testing.T, word string) string {
	t.Helper()
	dir := filepath.Join(s.kit.Dir, "bind-"+word)
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing what a container wrote: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // the container's user is another one
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte(word+"\n"), 0o644); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	return dir
}

// owned: the host sees what the container wrote, and as its owner whom the
// container's user is outside (or the same number, where the mount maps ids).
func (s *suite) owned(t *testing.T, dir, word, out string) {
	t.Helper()
	path := filepath.Join(dir, "out")
	text, err := os.ReadFile(path)
	if err != nil || string(bytes.TrimSpace(text)) != word {
		t.Errorf("the host reads %q of what the container wrote, want %q (%v)", text, word, err)
		return
	}
	fi, err := os.Stat(path)
	require.NoError(t, err)
	_, line, ok := strings.Cut(out, "owner ")
	inside, err := strconv.ParseInt(strings.Fields(line + " -")[0], 10, 64)
	if !ok || err != nil {
		t.Fatalf("no owner was seen inside:\n%s", out)
	}
	outside := int64(fi.Sys().(*syscall.Stat_t).Uid)
	want := inside
	if _, line, ok := strings.Cut(out, "\nmap "); ok {
		want = mapped(line, inside)
	}
	if outside != want && outside != inside {
		t.Errorf("a file of the user %d inside is that of %d outside, want %d", inside, outside, want)
	}
}

// mapped reads a uid_map: triples of inside, outside and count.
func mapped(line string, inside int64) int64 {
	f := strings.Fields(line)
	for i := 0; i+2 < len(f); i += 3 {
		from, err := strconv.ParseInt(f[i], 10, 64)
		to, err2 := strconv.ParseInt(f[i+1], 10, 64)
		n, err3 := strconv.ParseInt(f[i+2], 10, 64)
		if err == nil && err2 == nil && err3 == nil && inside >= from && inside < from+n {
			return to + inside - from
		}
	}
	return inside
}

// sized: a tmpfs has the size that was asked for.
func (s *suite) sized(t *testing.T, env engine.Environment, out string) {
	t.Helper()
	if foreign(env.Facts()) {
		return // gVisor's own tmpfs knows no size
	}
	want := fmt.Sprint(tmpfsBytes / 1024)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 6 && f[5] == tmpfsAt {
			if f[1] != want {
				t.Errorf("the tmpfs has %s KiB, want %s", f[1], want)
			}
			return
		}
	}
	t.Errorf("df has no line of the tmpfs:\n%s", out)
}
