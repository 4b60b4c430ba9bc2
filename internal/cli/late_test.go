//go:build linux

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
)

// slow is an engine that answers nobody.
type slow struct{ engine.Engine }

func (slow) Detect(ctx context.Context, _ *engine.Kit) engine.Detection {
	<-ctx.Done()
	return engine.Detection{Reason: "asking it for its version: " + ctx.Err().Error(), Fix: "install it"}
}

// An engine that did not answer in time does not leave a plan in silence: for
// who named it that is an error, and a bundled study warns.
func TestLateEngine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.yaml")
	require.NoError(t, os.WriteFile(file, []byte("plimsoll: 1\nname: mine\nworkloads: [hello]\nenvironments: [fake]\n"), 0o600))
	unknown := "did not answer within " + child.Stretch(engine.DetectLimit).Round(time.Second).String() + ", so it is not known whether it can be used (asking it for its version: context deadline exceeded)"
	for _, c := range []struct {
		args   []string
		status Status
		stderr string
		stdout string
	}{
		{[]string{"plan", file}, Failed, "Fake (simulated): it " + unknown, ""},
		{[]string{"run", file}, Failed, "Fake (simulated): it " + unknown, ""},
		{[]string{"plan", "demo", "--engine", "fake"}, Failed, "Fake (simulated): it " + unknown, ""},
		{[]string{"plan", "demo"}, NothingHere, "warning: Fake (simulated): it " + unknown, unknown},
		{[]string{"engines", "fake"}, Done, "", "it is not known whether it can be used"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out, errs bytes.Buffer
			w := offline(dir, []engine.Engine{slow{fake.New()}}, &out, &errs, c.args...)
			w.Signals = func() (context.Context, context.Context, func()) {
				return t.Context(), t.Context(), func() {}
			}
			status := Main(w)
			said := strings.Join(strings.Fields(errs.String()), " ")
			shown := strings.Join(strings.Fields(out.String()), " ")
			if status != int(c.status) || !strings.Contains(said, c.stderr) || !strings.Contains(shown, c.stdout) {
				t.Errorf("%v: status %d, want %d; said %s; printed %s", c.args, status, c.status, said, shown)
			}
			if strings.Contains(said+shown, "install it") {
				t.Errorf("%v: advises to install what may be there: %s %s", c.args, said, shown)
			}
		})
	}
}
