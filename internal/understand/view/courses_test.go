package view_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/view"
)

// A record with traces has the course of the median start of their environment; a
// file that is no trace is left out, and that is said.
func TestCourses(t *testing.T) {
	s, dir := recordtest.Typical(), filepath.Join(t.TempDir(), "run")
	w, err := record.Create(dir, s.Run())
	require.NoError(t, err)
	env, traced := "", 0
	for trial := range s.Trials() {
		if one := *trial; !one.Warmup && one.OK() && traced < 4 && (env == "" || env == one.Env) {
			env, traced = one.Env, traced+1
			name, nameErr := record.SamplesName(one.Seq, record.TraceSamples)
			out, openErr := w.CreateSamples(one.Seq, record.TraceSamples)
			if err = errors.Join(err, nameErr, openErr); err != nil {
				t.Fatal(err)
			}
			one.Samples = append(one.Samples, name)
			err = errors.Join(writeTrace(out, env, traced), out.Close())
			trial = &one
		}
		err = errors.Join(err, w.Append(trial))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(dir)
	require.NoError(t, err)
	d := build(t, r, view.Options{})
	if len(d.Courses) != 1 || d.Envs[d.Courses[0].Env].ID != env {
		t.Fatalf("the courses are %+v, not one of %s", d.Courses, env)
	}
	if c := d.Courses[0]; c.Starts != 3 || c.NS != 2e6 || c.Lanes.Span != 2e6 || len(c.Lanes.Threads) != 1 || len(c.Stages) == 0 {
		t.Errorf("the course is %+v, with the lanes %+v", c, c.Lanes)
	} else if s := c.Stages[0]; s.NS != 2e6 || s.Shorter != s.NS {
		t.Errorf("without all that the only program does the start is shorter by %d of %d ns", s.Shorter, s.NS)
	}
	for _, want := range []string{"A trace is left out", "no room for 6 events of the starts of "} {
		if !strings.Contains(d.Shortened, want) {
			t.Errorf("%q is not in what is said of the traces: %q", want, d.Shortened)
		}
	}
}

// writeTrace writes the trace of a start of so many ms, in which a client runs; the
// fourth is none.
func writeTrace(out io.Writer, env string, n int) error {
	if n == 4 {
		_, err := fmt.Fprintln(out, "no trace")
		return err
	}
	return record.WriteTrace(out, &record.Trace{
		TraceHead: record.TraceHead{What: env, Until: "ready", To: int64(n) * 1e6, Waiter: 1, Threads: []record.TraceThread{{ID: 1, Process: 1, Name: "client"}}},
		Tail:      &record.TraceTail{Lost: int64(n)},
	})
}
