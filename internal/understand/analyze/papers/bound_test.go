package papers

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// A number beside a published one says in the place of which image its own ran.
func TestBoundImages(t *testing.T) {
	p := pairing{
		res: &analyze.Result{Environments: []record.Environment{
			{ID: "docker/debian", Engine: "docker", Levels: map[string]string{"image": "debian"}}, {ID: "docker", Engine: "docker"}}},
		run: &record.Run{Study: record.Study{Images: map[string]string{"ubuntu:18.04": "debian", "centos:8": "debian", "alpine:3": "busybox"}}},
	}
	pull := &analyze.Workload{ID: "pull/busybox", Params: map[string]string{"image": "busybox"}}
	for _, c := range []struct {
		env  string
		work *analyze.Workload
		want string
	}{
		{"docker/debian", &analyze.Workload{ID: "hello"}, "debian in the place of centos:8, ubuntu:18.04"},
		{"docker", pull, "busybox in the place of alpine:3"},
		{"docker", &analyze.Workload{ID: "hello"}, ""},
	} {
		if got := p.bound(c.env, c.work); got != c.want {
			t.Errorf("%s, %s: %q, expected %q", c.env, c.work.ID, got, c.want)
		}
	}
	if got := noteOf("as we see it", "debian in the place of centos:8"); got != "as we see it; debian in the place of centos:8" {
		t.Error(got)
	}
}
