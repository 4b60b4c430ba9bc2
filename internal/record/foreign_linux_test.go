package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
)

// stranger is a user whom root does not work for.
const stranger = 65534

// theirs makes a directory of a stranger's, with a file of root's beside it.
func theirs(t *testing.T) (dir, victim string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root has rights that another could borrow")
	}
	top := t.TempDir()
	dir, victim = filepath.Join(top, "theirs"), filepath.Join(top, "victim")
	err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, stranger, stranger), os.WriteFile(victim, nil, 0o600))
	require.NoError(t, err)
	return dir, victim
}

func TestDirectoryOfAnother(t *testing.T) {
	dir, _ := theirs(t)
	for _, path := range []string{dir, filepath.Join(dir, "out")} {
		_, err := Create(path, someRun())
		var u *safepath.UnsafeError
		if !errors.As(err, &u) || u.At != dir || u.UID != stranger {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s was made all the same", left[0])
	}
	// The user behind sudo is the one for whom we work.
	t.Setenv("SUDO_UID", "65534")
	out := filepath.Join(dir, "out")
	w, err := Create(out, someRun())
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.Append(someTrial(0)), w.Close()))
	t.Setenv("SUDO_UID", "")
	var u *safepath.UnsafeError
	if _, _, err := Resume(out); !errors.As(err, &u) {
		t.Errorf("going on in another's directory: %v", err)
	}
	w, _, err = Resume(out, stranger)
	require.NoError(t, err)
	if !w.Complete()[0] {
		t.Error("the first trial is lost")
	}
	require.NoError(t, w.Close())
}

// Whatever name of a record's is a link, nothing is made or changed where it
// leads.
func TestPlantedLinks(t *testing.T) {
	for _, name := range []string{lockFile, TrialsFile, InsideFile, OutputDir, SamplesDir, RunFile, RunFile + ".new"} {
		dir, victim := theirs(t)
		t.Setenv("SUDO_UID", "65534")
		target := victim
		if name == OutputDir || name == SamplesDir {
			target = t.TempDir()
		}
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
		w, err := Create(dir, someRun())
		if err == nil {
			if name != RunFile+".new" { // nothing is written there any more
				t.Errorf("%s is a link, and the run began", name)
			}
			_, _ = w.WriteOutput(0, []byte("text"), nil)
			_ = w.Close()
		}
		if text, err := os.ReadFile(victim); err != nil || len(text) > 0 {
			t.Errorf("%s led to the victim, which holds %q now (%v)", name, text, err)
		}
		if target != victim {
			if left, _ := os.ReadDir(target); len(left) > 0 {
				t.Errorf("%s led to %s", name, left[0])
			}
		}
	}
}

// A link in the place of an output that is not there yet.
func TestPlantedOutput(t *testing.T) {
	dir, victim := theirs(t)
	t.Setenv("SUDO_UID", "65534")
	w, err := Create(dir, someRun())
	require.NoError(t, err)
	defer w.Close()
	name, err := SamplesName(3, "psi")
	if err == nil {
		err = errors.Join(os.Symlink(victim, filepath.Join(dir, OutputDir, OutputName(3))), os.Symlink(victim, filepath.Join(dir, SamplesDir, name)))
	}
	require.NoError(t, err)
	if _, err := w.WriteOutput(3, []byte("text"), nil); !errors.Is(err, safepath.ErrNotRegular) {
		t.Errorf("an output that is a link: %v", err)
	}
	if _, err := w.CreateSamples(3, "psi"); !errors.Is(err, safepath.ErrNotRegular) {
		t.Errorf("samples that are a link: %v", err)
	}
	if err := WriteFeatures(filepath.Join(dir, OutputDir, OutputName(3)), &Features{Schema: FeaturesSchema}); err == nil {
		t.Error("a feature table was written in the place of a link")
	}
	if text, err := os.ReadFile(victim); err != nil || len(text) > 0 {
		t.Errorf("the victim holds %q now (%v)", text, err)
	}
}

// What everybody may write to is passed, and a record there is root's alone.
func TestSharedDirectory(t *testing.T) {
	dir, _ := theirs(t)
	tmp := filepath.Join(filepath.Dir(dir), "tmp")
	open := filepath.Join(tmp, "open")
	require.NoError(t, errors.Join(os.Mkdir(tmp, 0), os.Chmod(tmp, 0o777|fs.ModeSticky), os.Mkdir(open, 0), os.Chmod(open, 0o777)))
	w, err := Create(filepath.Join(tmp, "out"), someRun())
	require.NoError(t, err)
	require.NoError(t, w.Close())
	if info, err := os.Stat(filepath.Join(tmp, "out")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode is %v (%v)", info.Mode(), err)
	}
	for _, path := range []string{tmp, open} {
		if _, err := Create(path, someRun()); err == nil || !strings.Contains(err.Error(), "others") && !strings.Contains(err.Error(), "not empty") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A named pipe in a record is told, and waited for by nobody.
func TestPipesInRecords(t *testing.T) {
	for _, name := range []string{lockFile, TrialsFile, InsideFile, RunFile, filepath.Join(OutputDir, OutputName(0)), filepath.Join(SamplesDir, "00000000.psi.jsonl")} {
		w, dir := create(t)
		require.NoError(t, w.Close())
		path := filepath.Join(dir, name)
		_ = os.Remove(path)
		require.NoError(t, syscall.Mkfifo(path, 0o644))
		found := []error{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, err := Open(dir)
			if err != nil {
				found = append(found, err)
				return
			}
			for _, err := range r.Trials() {
				found = append(found, err)
			}
			_, err = r.Insides()
			_, lock := BeingWritten(dir)
			_, out := r.Output(OutputName(0))
			_, samples := r.Samples("00000000.psi.jsonl")
			_, _, resume := Resume(dir)
			found = append(found, err, lock, out, samples, resume)
		}()
		waitOrFree(t, done, path)
		told := false
		for _, err := range found {
			told = told || errors.Is(err, safepath.ErrNotRegular)
		}
		if !told {
			t.Errorf("%s: nothing says that it is a pipe: %v", name, found)
		}
	}
}
