package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestTry tries a workload of a user's own, a server and its client, for real:
// the numbers come out in native and in an engine that is here.
func TestTry(t *testing.T) {
	p := withToolbox(t)
	example, err := filepath.Abs("../../examples/http-server.yaml")
	if err != nil {
		t.Fatal(err)
	}
	by := "docker" // one engine: the toolbox takes each a while to load
	if _, err := exec.LookPath(by); err != nil {
		by = "podman"
	}
	cmd := p.command("workloads", example, "--try", by, "--set", "requests=50", "--format", "json", "--progress", "none", "--wait")
	// It ends itself when it is interrupted, and nothing stays.
	late := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), said.String())
	}
	var rows []tryRow
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, r := range rows {
		switch {
		case r.Missing != "":
			t.Logf("%s: %s", r.Environment, r.Missing)
		case r.Failure != nil:
			t.Errorf("%s failed: %s", r.Environment, r.Failure.Text)
		case !(r.Values["requests"] > 1) || !(r.Values["latency"] > 0) || r.Values["failed-requests"] != 0 || !(r.Values["time"] > 0):
			t.Errorf("%s: the values are %v", r.Environment, r.Values)
		default:
			good++
		}
	}
	if good == 0 {
		t.Errorf("it ran nowhere: %s", out.String())
	}
}
