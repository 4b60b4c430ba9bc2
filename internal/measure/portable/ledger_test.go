package portable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
)

// A ledger that is gone on with has what the dead run left, whatever its death has torn,
// and what is written then; nobody else has it meanwhile, and a link is none.
func TestResumeLedger(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "abcd1234"+ledgerSuffix)
	thing := func(name string) engine.Thing {
		return engine.Thing{Kind: engine.KindImage, Name: name, Engine: Docker, At: "here"}
	}
	l, err := NewLedger(dir, "abcd1234")
	require.NoError(t, err)
	require.NoError(t, errors.Join(l.Reached("here", reach{Address: Address{Engine: Docker, Host: "unix:///no/such/socket"}}), l.Made(thing("one")), l.Made(thing("two"))))
	if _, err := ResumeLedger(dir, "abcd1234"); err == nil {
		t.Error("two have one ledger")
	}
	_, err = l.file.WriteString(`{"thing":{"ki`) // and here it died
	require.NoError(t, err)
	require.NoError(t, l.Close())

	l, err = ResumeLedger(dir, "abcd1234")
	require.NoError(t, err)
	if left := l.Left(); !slices.Equal(left, []engine.Thing{thing("one"), thing("two")}) || l.by["here"].Address.Host != "unix:///no/such/socket" {
		t.Errorf("left are %v, reached by %v", left, l.by)
	}
	require.NoError(t, errors.Join(l.Gone(thing("one")), l.Made(thing("three"))))
	s := Surroundings{LookPath: func(string) (string, error) { return "", os.ErrNotExist }}
	if all, err := s.Clean(t.Context(), dir); err != nil || len(all) > 0 {
		t.Errorf("a living run's: %v, %v", all, err)
	}
	require.NoError(t, l.Close())
	all, err := s.Clean(t.Context(), dir)
	var kept []engine.Thing
	for _, c := range all {
		kept = append(kept, c.Thing)
	}
	if err != nil || !slices.Equal(kept, []engine.Thing{thing("three"), thing("two")}) {
		t.Errorf("after the second death: %v, %v", kept, err)
	}

	l, err = ResumeLedger(dir, "abcd1234")
	require.NoError(t, err)
	require.NoError(t, errors.Join(l.Gone(thing("two")), l.Gone(thing("three")), l.Close()))
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty ledger stays: %v", err)
	}
	other := filepath.Join(dir, "another's")
	require.NoError(t, errors.Join(os.WriteFile(other, []byte("x"), 0o600), os.Symlink(other, path)))
	if _, err := ResumeLedger(dir, "abcd1234"); err == nil {
		t.Error("a link is followed")
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "x" {
		t.Errorf("another's file is %q, %v", text, err)
	}
	require.NoError(t, os.Remove(other))
	if _, err := ResumeLedger(dir, "abcd1234"); err == nil {
		t.Error("a link that leads nowhere is followed")
	}
	if _, err := os.Lstat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its target was made: %v", err)
	}
}

// What a failed write has left does not spoil the next entry.
func TestLedgerBehindAFullDisk(t *testing.T) {
	l, err := NewLedger(t.TempDir(), "abcd1234")
	require.NoError(t, err)
	defer l.file.Close()
	_, err = l.file.WriteString(`{"thing":{"ki`)
	require.NoError(t, err)
	thing := engine.Thing{Kind: engine.KindImage, Name: "one", Engine: Docker, At: "here"}
	require.NoError(t, l.Made(thing))
	_, err = l.file.Seek(0, 0)
	require.NoError(t, err)
	if _, left, _ := readLedger(l.file); !slices.Equal(left, []engine.Thing{thing}) {
		t.Errorf("left are %v", left)
	}
}

// What an earlier version has left that this one does not remove stays in the ledger, with
// what to do.
func TestLedgerOfEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "abcd1234"+ledgerSuffix)
	require.NoError(t, os.WriteFile(path, []byte(`{"reach":{"Address":{"Engine":"cri","Host":"unix:///no/such"}},"at":"unix:///no/such"}
{"thing":{"kind":"image","name":"registry.example/x:abcd1234-payload-started","engine":"cri","at":"unix:///no/such"}}
{"thing":{"kind":"tag","name":"registry.example/x:1@sha256:00","engine":"registry.example","at":"registry.example"}}
`), 0o600))
	all, err := Surroundings{}.Clean(t.Context(), dir)
	require.NoError(t, err)
	for _, c := range all {
		if want := "this version does not remove it: remove it with the tools of " + c.Thing.Engine + ", and delete the ledger abcd1234.ledger.jsonl"; c.Kept != want {
			t.Errorf("%+v", c)
		}
	}
	if _, err := os.Stat(path); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// What others may have written is not believed: neither is anything removed by it, nor does
// a run begin beside it. It stays for whoever looks.
func TestLedgerOfOthers(t *testing.T) {
	const nobody = 65534
	var s Surroundings // nobody is asked
	for name, lay := range map[string]func(dir, path string) error{
		"in a folder that others may write to": func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"that others may write to":             func(_, path string) error { return os.Chmod(path, 0o666) },
		"with a second name":                   func(_, path string) error { return os.Link(path, path+".more") },
		"another user's":                       func(_, path string) error { return os.Chown(path, nobody, nobody) },
		"in another user's folder":             func(dir, _ string) error { return os.Chown(dir, nobody, nobody) },
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "another user's") && os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			if runtime.GOOS == "windows" {
				t.Skip("owners and modes are known on Unix only")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "abcd1234"+ledgerSuffix)
			require.NoError(t, os.WriteFile(path, []byte(`{"thing":{"kind":"image","name":"localhost:1/precious:1","engine":"docker"}}`+"\n"), 0o600))
			require.NoError(t, lay(dir, path))
			all, err := s.Clean(t.Context(), dir)
			if unsafe, ok := errors.AsType[*safepath.UnsafeError](err); len(all) > 0 || !ok || unsafe.Fix == "" {
				t.Errorf("a clean-up gives %v, %v", all, err)
			} else if name == "in another user's folder" && strings.Contains(unsafe.Fix, "chmod") {
				t.Errorf("what another user owns is nobody else's to close: %q", unsafe.Fix)
			}
			if _, err := ResumeLedger(dir, "abcd1234"); err == nil {
				t.Error("a run goes on with it")
			}
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("it is gone: %v", err)
			}
			if strings.Contains(name, "folder") {
				if _, err := NewLedger(dir, "efgh5678"); err == nil {
					t.Error("a run begins there")
				}
			}
		})
	}
}
