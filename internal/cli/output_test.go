package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/report"
)

// terminal is a world of so many columns, with these variables.
func terminal(columns int, env ...string) World {
	return World{Width: func() int { return columns }, Getenv: func(name string) string {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}}
}

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		w     World
		ascii bool
		want  report.Options
	}{
		{terminal(0), false, report.Options{Width: 100}},
		{terminal(80), false, report.Options{Width: 80, Color: true, Marks: true}},
		{terminal(80, "NO_COLOR=1"), false, report.Options{Width: 80, Marks: true}},
		{terminal(80, "NO_COLOR=1", "FORCE_COLOR=1"), false, report.Options{Width: 80, Marks: true}},
		{terminal(80, "TERM=dumb"), false, report.Options{Width: 80, Marks: true}},
		{terminal(80, "CLICOLOR=0"), false, report.Options{Width: 80, Marks: true}},
		{terminal(80, "FORCE_COLOR=0"), false, report.Options{Width: 80, Marks: true}},
		{terminal(0, "FORCE_COLOR=1"), false, report.Options{Width: 100, Color: true, Marks: true}},
		{terminal(0, "CLICOLOR_FORCE=1", "TERM=dumb"), false, report.Options{Width: 100, Color: true, Marks: true}},
		{terminal(0, "CLICOLOR_FORCE=0"), false, report.Options{Width: 100}},
		{terminal(80, "LANG=en_GB.UTF-8"), true, report.Options{Width: 80, Color: true, Marks: true, ASCII: true}},
		{terminal(80, "LANG=de_DE.ISO-8859-1"), false, report.Options{Width: 80, Color: true, Marks: true, ASCII: true}},
		{terminal(80, "LANG=C", "LC_ALL=C.UTF8"), false, report.Options{Width: 80, Color: true, Marks: true}},
		{terminal(0, "LANG=C"), false, report.Options{Width: 100}}, // a file is not for this locale alone
	} {
		if got := looks(c.w, style{ascii: c.ascii}); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// What could not be written whole is taken away again, and what was there
// before stays; what is no ordinary file is written to as it is.
func TestShow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o600))
	torn := errors.New("torn")
	err := show(terminal(80), path, style{}, func(out io.Writer, o report.Options) error {
		if o.Color || o.Marks || o.Width != 0 {
			t.Errorf("a file looks like a terminal: %+v", o)
		}
		_, _ = io.WriteString(out, "half a table")
		return torn
	})
	if !errors.Is(err, torn) {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "before" {
		t.Errorf("%q %v", got, err)
	}
	if err := show(terminal(80), os.DevNull, style{}, func(out io.Writer, _ report.Options) error {
		_, err := io.WriteString(out, "table")
		return err
	}); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatal("the null device is a file now")
	}
}

// A summary is appended as far as there is room, and is cut at a line.
func TestStepSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary")
	var said bytes.Buffer
	w := terminal(0, "GITHUB_STEP_SUMMARY="+path)
	w.Stderr = &said
	write := func(text string) func(io.Writer) error {
		return func(out io.Writer) error { _, err := io.WriteString(out, text); return err }
	}
	stepSummary(w, write("# One\n"))
	stepSummary(w, write("# Two\n"))
	read := func() string {
		t.Helper()
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(data)
	}
	if got := read(); got != "# One\n\n# Two\n\n" || said.Len() > 0 {
		t.Errorf("%q, said %q", got, said.String())
	}
	row := "| " + strings.Repeat("x", 100) + " |\n"
	stepSummary(w, write(strings.Repeat(row, mostSummary/len(row)+1)))
	if got := read(); len(got) > mostSummary || len(got) < mostSummary-len(cutSummary)-len(row) || !strings.HasSuffix(got, row+cutSummary) {
		t.Errorf("%d bytes, the end is %q", len(got), got[len(got)-300:])
	}
	before := len(read())
	stepSummary(w, write(strings.Repeat(row, 5)))
	if len(read()) != before || !strings.Contains(said.String(), "the step's summary was not written: "+path+" is full") {
		t.Errorf("%d bytes; said %q", len(read()), said.String())
	}
	stepSummary(terminal(0), write("nobody asks"))
}
