package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func dirWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no run.json", "", "not a run"},
		{"empty", " \n", "is empty"},
		{"truncated", "{\n \"format\": 1,\n \"id\":", "run.json:3: this file is damaged"},
		{"wrong type", "{\"format\":1,\n\"host\":{\"cpus\":\"two\"}}", "run.json:2: this file is damaged"},
		{"newer", `{"format": 2, "id": 7}`, "has format 2, written by a newer plimsoll; this one reads formats up to 1"},
		{"another program's", `{"name": "x"}`, "names no format version"},
		{"binary", "\x7fELF\x00", "run.json:1"},
	} {
		files := map[string]string{}
		if c.text != "" {
			files[RunFile] = c.text
		}
		_, err := Open(dirWith(t, files))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "nowhere")); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("absent: %v", err)
	}
	dir := dirWith(t, map[string]string{"f": "x"})
	if _, err := Open(filepath.Join(dir, "f")); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("file: %v", err)
	}
}

func TestTrialsSayWhereTheDamageIs(t *testing.T) {
	good0, good1 := `{"seq":0,"env":"a","future":{"x":[1]}}`, `{"seq":1,"env":"a"}`
	for _, c := range []struct {
		name, text string
		n          int
		want       string // part of the error
	}{
		{"unknown fields and empty lines", good0 + "\n\n" + good1 + "\n", 2, ""},
		{"no newline at the end", good0 + "\n" + good1, 2, ""},
		{"torn", good0 + "\n" + good1[:7], 1, ""},
		{"zeros at the end, as after a power failure", good0 + "\n\x00\x00\x00\x00", 1, ""},
		{"damage in the middle", good0 + "\n{\"seq\":\n" + good1 + "\n", 1, "trials.jsonl:2: this line is damaged"},
		{"a terminated line is not torn", good0 + "\n{\"seq\":\n", 1, "trials.jsonl:2"},
		{"twice", good0 + "\n" + good0 + "\n", 1, "trials.jsonl:2: this line is damaged: trial 0 occurs a second time"},
		{"no seq", `{"env":"a"}` + "\n", 0, `no "seq"`},
		{"seq beyond reason", `{"seq":999999999999}` + "\n", 0, "seq 999999999999 is not"},
		{"negative seq", `{"seq":-5}` + "\n", 0, "seq -5 is not"},
		{"not an object", "7\n", 0, "trials.jsonl:1"},
	} {
		dir := dirWith(t, map[string]string{RunFile: `{"format":1}`, TrialsFile: c.text})
		got, _, err := read(t, dir)
		if len(got) != c.n {
			t.Errorf("%s: %d trials, want %d", c.name, len(got), c.n)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		var damage *DamageError
		if c.want != "" && !errors.As(err, &damage) {
			t.Errorf("%s: not a DamageError: %v", c.name, err)
		}
	}
	if got, _, err := read(t, dirWith(t, map[string]string{RunFile: `{"format":1}`})); len(got) != 0 || err != nil {
		t.Errorf("no trials yet: %v %v", got, err)
	}
}

func TestLongLines(t *testing.T) {
	long := `{"seq":0,"env":"a","failure":{"class":"crash","text":"` + strings.Repeat("x", 3<<20) + `"}}`
	dir := dirWith(t, map[string]string{RunFile: `{"format":1}`, TrialsFile: long + "\n" + `{"seq":1}` + "\n"})
	got, _, err := read(t, dir)
	if err != nil || len(got) != 2 || len(got[0].Failure.Text) != 3<<20 {
		t.Errorf("%d trials: %v", len(got), err)
	}
}

func FuzzTrials(f *testing.F) {
	f.Add([]byte(`{"seq":0,"env":"a","events":{"request":1,"ready":5}}` + "\n"))
	f.Add([]byte("{\"seq\":1}\n\x00\x00"))
	sealed, sums := chain{}.seal([]byte(`{"seq":0,"env":"a"}`))
	next, _ := sums.seal([]byte(`{"seq":1,"env":"a"}`))
	f.Add(append(append(append(sealed, '\n'), next...), '\n'))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, RunFile), []byte(`{"format":1}`), 0o644)
		os.WriteFile(filepath.Join(dir, TrialsFile), data, 0o644)
		first, _, err := read(t, dir)
		w, _, rerr := Resume(dir)
		if rerr != nil {
			return
		}
		w.Close()
		// A resume changes nothing that could be read.
		second, r, err2 := read(t, dir)
		if (err == nil) != (err2 == nil) || len(first) != len(second) {
			t.Errorf("before the resume %d trials, %v; after it %d, %v", len(first), err, len(second), err2)
		}
		for _, m := range r.Remarks() {
			if err2 == nil && m.Code == "torn-tail" {
				t.Errorf("still torn after a resume: %v", m)
			}
		}
	})
}
