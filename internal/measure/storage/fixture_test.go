package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll/internal/common/require"
)

// machineOf lays out the files of a fixture that lie below a folder as a machine:
// programs/ARGV is what a program prints, *.asok what a socket answers.
func machineOf(t *testing.T, a *txtar.Archive, folder string) *Machine {
	t.Helper()
	root := shortDir(t)
	programs := map[string]string{}
	for _, f := range a.Files {
		name, ok := strings.CutPrefix(f.Name, folder+"/")
		if !ok {
			continue
		}
		if argv, ok := strings.CutPrefix(name, "programs/"); ok {
			programs[argv] = string(f.Data)
			continue
		}
		p := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		if strings.HasSuffix(name, ".asok") {
			answering(t, p, f.Data)
			continue
		}
		require.NoError(t, os.WriteFile(p, f.Data, 0o644))
	}
	return &Machine{
		root: root,
		run: func(_ context.Context, argv ...string) ([]byte, error) {
			out, ok := programs[strings.Join(argv, " ")]
			if !ok {
				return nil, fmt.Errorf("the fixture has no %q", argv)
			}
			return []byte(out), nil
		},
		lookPath: func(p string) (string, error) {
			for argv := range programs {
				if strings.HasPrefix(argv, p+" ") {
					return "/usr/bin/" + p, nil
				}
			}
			return "", os.ErrNotExist
		},
	}
}

// shortDir is a temporary folder whose path leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "st")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// answering is a process of Ceph, as far as its admin socket goes.
func answering(t *testing.T, path string, says []byte) {
	t.Helper()
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 4096)
			n, _ := c.Read(buf)
			if strings.HasPrefix(string(buf[:n]), `{"prefix":"perf dump"`) && buf[n-1] == 0 {
				_ = binary.Write(c, binary.BigEndian, uint32(len(says)))
				_, _ = c.Write(says)
			}
			c.Close()
		}
	}()
}

// Each source has a fixture of two readings, and counts what lies between them.
func TestSources(t *testing.T) {
	for _, s := range Sources {
		t.Run(s.Name, func(t *testing.T) {
			a, err := txtar.ParseFile(filepath.Join("testdata", s.Name+".txtar"))
			require.NoError(t, err)
			var snaps [2]Snapshot
			for i, folder := range []string{"before", "after"} {
				var errs map[string]error
				snaps[i], errs = Read(t.Context(), machineOf(t, a, folder), []Source{s}, "4711")
				if len(errs) > 0 {
					t.Fatal(folder, errs)
				}
			}
			if strings.HasPrefix(s.Name, "ceph") { // each reading has a socket of its own
				forgetBirth(snaps[0][s.Name])
				forgetBirth(snaps[1][s.Name])
			}
			got, remarks := Counted([]Source{s}, snaps[0], snaps[1])
			if len(remarks) > 0 {
				t.Error(remarks)
			}
			want := wanted(t, a)
			if !maps.Equal(got[s.Name], want) {
				t.Errorf("counted %v, not %v", got[s.Name], want)
			}
			if s.Documented == "" || s.Title == "" {
				t.Error("it has no title, or does not say where it is documented")
			}
			for id := range want {
				if !isCounter(id) {
					t.Errorf("%s is no counter", id)
				}
			}
			// A machine that has nothing is no failure.
			none := &Machine{root: t.TempDir(), run: nil, lookPath: func(string) (string, error) { return "", os.ErrNotExist }}
			if _, errs := Read(t.Context(), none, []Source{s}, ""); errs[s.Name] == nil || !Absent(errs[s.Name]) {
				t.Errorf("on a machine without: %v", errs)
			}
		})
	}
}

func forgetBirth(r Reading) {
	for name, i := range r {
		i.Born = ""
		r[name] = i
	}
}

func isCounter(id string) bool {
	for _, c := range counters {
		if c.ID == id {
			return true
		}
	}
	return false
}

func wanted(t *testing.T, a *txtar.Archive) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, f := range a.Files {
		if f.Name != "want" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			id, n, _ := strings.Cut(strings.TrimSpace(line), " ")
			var err error
			if out[id], err = strconv.ParseInt(n, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}
