package lxd

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// busyOnce is the engine's program, but that each container's first removal is
// told what the daemon says while it is still at work on a stop.
const busyOnce = `#!/bin/sh
for name; do :; done # the last argument
case " $* " in *" delete "*)
	if mkdir "%[1]s/$name" 2>/dev/null; then
		echo 'Error: Failed to create instance delete operation: Instance is busy running a "stop" operation' >&2
		exit 1
	fi ;;
esac
exec "%[2]s" "$@"
`

// TestBusyRemoval: a removal that the daemon is too busy for is asked for again,
// and its stamp is that of the one which removed.
func TestBusyRemoval(t *testing.T) {
	for name, make := range both {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, e := enginetest.Kit(t), make()
			usable(t, e, kit)
			real, err := kit.LookPath(e.client)
			if err != nil {
				t.Skipf("the program %s is not here: %v", e.client, err)
			}
			dir := t.TempDir()
			asked, standIn := filepath.Join(dir, "asked"), filepath.Join(dir, e.client)
			require.NoError(t, os.Mkdir(asked, 0o755))
			require.NoError(t, os.WriteFile(standIn, fmt.Appendf(nil, busyOnce, asked, real), 0o755))
			kit.LookPath = func(string) (string, error) { return standIn, nil }
			env := open(t, e, kit, map[string]string{engine.Client: byCLI, engine.Network: "none"})
			removed := func(what, name string, res engine.Result, err error) {
				t.Helper()
				if err != nil || res.Failure != nil || res.Events[record.Removed] == 0 {
					t.Errorf("%s: %v, %+v, events %v", what, err, res.Failure, res.Events)
					return
				}
				if _, err := os.Stat(filepath.Join(asked, name)); err != nil {
					t.Errorf("%s: the removal was not refused: %v", what, err)
				}
				again := int64(0)
				for _, s := range res.Steps {
					if s.Name == "asked-again" {
						again = s.At
					}
				}
				if again == 0 || res.Events[record.Removed] <= again {
					t.Errorf("%s: removed at %d, first refused at %d", what, res.Events[record.Removed], again)
				}
				if there, err := env.d.bears(t.Context(), "/1.0/instances/"+name); there || err != nil {
					t.Errorf("%s: still there: %v, %v", what, there, err)
				}
			}
			var args probe.PayloadArgs
			task := newTask(&args)
			res, err := env.Run(t.Context(), task)
			removed("run", task.Name, res, err)

			args = probe.PayloadArgs{Stay: true}
			task = newTask(&args)
			task.Stop = &engine.Stop{Grace: 10 * time.Second}
			res, err = env.Run(t.Context(), task)
			removed("stop", task.Name, res, err)

			args = probe.PayloadArgs{Stay: true}
			task = newTask(&args)
			h, err := env.Hold(t.Context(), task)
			require.NoError(t, err)
			res, err = h.End(t.Context(), engine.Stop{Grace: 10 * time.Second})
			removed("held", task.Name, res, err)
		})
	}
}

// interrupted is the daemon's connection, but that the first graceful stop is
// carried out and told to have failed, as after a signal to the daemon.
type interrupted struct {
	to    http.RoundTripper
	stops int
}

func (i *interrupted) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPut || !strings.HasSuffix(req.URL.Path, "/state") {
		return i.to.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	resp, err := i.to.RoundTrip(req)
	if err != nil || !strings.Contains(string(body), `"force":false`) {
		return resp, err
	}
	if i.stops++; i.stops > 1 {
		return resp, nil
	}
	_ = resp.Body.Close()
	said := `{"type": "error", "error_code": 400, "error": "Failed shutting down instance, status is \"Running\": shutting down the container failed"}`
	return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(said)), Request: req}, nil
}

// TestStopInterrupted: a container that goes down, though its stop was told to
// have failed, is left its grace.
func TestStopInterrupted(t *testing.T) {
	for name, make := range both {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, e := enginetest.Kit(t), make()
			usable(t, e, kit)
			env := open(t, e, kit, map[string]string{engine.Network: "none"})
			between := &interrupted{to: env.d.http.Transport}
			d := *env.d
			d.http = &http.Client{Transport: between}
			env.d = &d
			args := probe.PayloadArgs{Stay: true}
			task := newTask(&args)
			task.Stop = &engine.Stop{Grace: 10 * time.Second}
			res, err := env.Run(t.Context(), task)
			if err != nil || res.Failure != nil || between.stops < 2 {
				t.Fatalf("%v, %+v; asked to stop %d times, want two or more", err, res.Failure, between.stops)
			}
			if p, err := probe.ParsePayload(res.Stdout, args.Word); err != nil || p.Done == 0 {
				t.Errorf("the payload did not come to its end: %v, %+v", err, p)
			}
			steps := fmt.Sprint(res.Steps)
			if !strings.Contains(steps, "stop-asked-again") || strings.Contains(steps, "grace is over") {
				t.Errorf("steps %s", steps)
			}
			if took := time.Duration(res.Events[record.Stopped] - res.Events[record.Stop]); took <= 0 || took >= task.Stop.Grace {
				t.Errorf("stop took %v", took)
			}
		})
	}
}
