package timeline

import (
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

func TestOutside(t *testing.T) {
	start := func(create, start, more int64) map[record.Event]int64 {
		return map[record.Event]int64{
			record.Request: 1000, record.Created: 1000 + create, record.Start: 1000 + create, record.First: 1000 + create + start,
			record.Ready: 1000 + create + start + more, record.Exit: 99999,
		}
	}
	x, err := Outside("engine", record.Request, record.Ready, []map[record.Event]int64{start(40, 20, 5), start(42, 20, 5), start(44, 20, 5), start(900, 20, 5)}, "root")
	require.NoError(t, err)
	var sum int64
	for _, s := range x.Tree.Steps {
		sum += s.NS
	}
	if x.Lacks != "root" || sum != x.Tree.NS || x.UnexplainedNS != x.Tree.NS || x.Starts != 4 || x.NS < 67 || x.NS > 69 || x.Median != nil {
		t.Errorf("%+v: %+v", x, x.Tree)
	}
	if s := x.Tree.Steps[0]; s.Name != "from request to created" || s.NS < 42 || s.NS > 44 {
		t.Errorf("%+v", s)
	}
	// One event only: a command.
	x, err = Outside("true", record.Request, record.Exit, []map[record.Event]int64{{record.Request: 5, record.Exit: 25}}, "root")
	if err != nil || len(x.Tree.Steps) != 1 || x.Tree.Steps[0].NS != 20 {
		t.Errorf("%v %+v", err, x)
	}
	if _, err := Outside("x", record.Request, record.Exit, nil, ""); err == nil {
		t.Error("nothing was timed, and that was explained")
	}
}
