package report

import (
	"encoding/json"
	"fmt"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// shared are the results of runs that several tests look at, by what their specs say;
// as is what each was when it was made.
var shared = map[string]struct {
	res *analyze.Result
	as  string
}{}

// result evaluates a run, once for all tests: who changes what comes back takes fresh.
func result(t testing.TB, s opener) *analyze.Result {
	t.Helper()
	spec, err := json.Marshal(s)
	if err != nil { // it has functions, which are not to be compared
		return fresh(t, s)
	}
	key := fmt.Sprintf("%T %s", s, spec)
	if r, ok := shared[key]; ok {
		if now := written(t, r.res); now != r.as {
			t.Fatalf("an earlier test has changed the result that it shares with this one: it takes fresh instead: %s", golden.Difference(now, r.as))
		}
		return r.res
	}
	r := shared[key]
	r.res = fresh(t, s)
	r.as = written(t, r.res)
	shared[key] = r
	return r.res
}

// fresh evaluates a run for one test, which may change what comes back.
func fresh(t testing.TB, s opener) *analyze.Result {
	t.Helper()
	res, err := evaluate.Run(s.Open(t), evaluate.Options{})
	require.NoError(t, err)
	return res
}

func written(t testing.TB, res *analyze.Result) string {
	t.Helper()
	data, err := json.MarshalIndent(res, "", " ")
	require.NoError(t, err)
	return string(data)
}

// TestSharedIsAsItWas: what a test changes in a result is seen by the next one.
func TestSharedIsAsItWas(t *testing.T) {
	a := result(t, few())
	if result(t, few()) != a {
		t.Error("a result is evaluated twice")
	}
	was := written(t, a)
	median := a.Workloads[0].Tables[0].Cells[0].Median
	median.Value++
	if written(t, a) == was {
		t.Error("a changed result is taken for the one that it was")
	}
	median.Value--
}
