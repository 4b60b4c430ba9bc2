package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// TestTry tries a workload of a user's own, a server and its client, in native: the
// numbers come out. In an engine TestEveryWorkload has it, where the image lies already,
// and a tutorial tries one in two.
func TestTry(t *testing.T) {
	p := withToolbox(t)
	example, err := filepath.Abs("../../examples/http-server.yaml")
	require.NoError(t, err)
	cmd := p.command("workloads", example, "--try", "native", "--set", "requests=50", "--format", "json", "--progress", "none", "--wait")
	// It ends itself when it is interrupted, and nothing stays.
	late := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), said.String())
	}
	var rows []tryRow
	require.NoError(t, json.Unmarshal(out.Bytes(), &rows))
	good := 0
	for _, r := range rows {
		switch {
		case r.Missing != "":
			t.Logf("%s: %s", r.Environment, r.Missing)
		case r.Failure != nil:
			t.Errorf("%s failed: %s", r.Environment, r.Failure.Text)
		case !answered(r.Values) || !(r.Values["time"] > 0):
			t.Errorf("%s: the values are %v", r.Environment, r.Values)
		default:
			good++
		}
	}
	if good == 0 {
		t.Errorf("it ran nowhere: %s", out.String())
	}
}

// answered says whether the example's server was asked and answered all.
func answered(values map[string]float64) bool {
	return values["requests"] > 1 && values["latency"] > 0 && values["failed-requests"] == 0
}
