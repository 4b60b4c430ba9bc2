//go:build linux

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

const placedStudy = `plimsoll: 1
name: placed
protocol: {blocks: 3, warmup: 0, cache: cold, limits: {cpus: none, memory: none}}
baselines: [native]
workloads: [hello]
environments:
  - engine: charliecloud
    storage: [directory, squashfs]
    image-on: [default, parallel]
`

// TestSiteImageOn: an image lies on the file system that its level is bound to, as
// the kernel says, and the metadata server hears of it then and only then.
func TestSiteImageOn(t *testing.T) {
	onSite(t)
	mnt := fileSystem(t, "moosefs")
	p := &subject{t: t, dir: t.TempDir()}
	p.write("study.yaml", placedStudy)
	args := []string{"run", "study.yaml", "--wait", "--progress", "none", "-o", "out", "--agent", "local:moosefs-master", "--image-on", "parallel=" + mnt}
	p.measured(args...)
	r, err := record.Open(filepath.Join(p.dir, "out"))
	require.NoError(t, err)
	there := map[string]bool{}
	for _, e := range r.Run().Environments {
		fs, on := e.Facts["image-fs"], e.Levels["image-on"] == "parallel"
		there[e.ID] = on
		if e.Baseline == "" && (on != strings.Contains(fs, "mfs#") || on != (e.Facts["image-mount"] == mnt) || fs == "") {
			t.Errorf("%s: its image lies on %q at %q", e.ID, fs, e.Facts["image-mount"])
		}
	}
	for _, tr := range p.trialsOf("out") {
		n, ok := tr.Values["local-metadata-opens"]
		if !ok || there[tr.Env] != (n > 0) {
			t.Errorf("trial %d of %s: the metadata server counted %g opens (%t): %q", tr.Seq, tr.Env, n, ok, tr.Remarks)
		}
	}
	// What was made there is found and removed.
	if status, said := p.run("clean", "--images"); status != 0 || !strings.Contains(said, mnt) {
		t.Errorf("clean: status %d\n%s", status, said)
	}
}
