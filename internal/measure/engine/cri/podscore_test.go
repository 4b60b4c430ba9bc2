package cri

import (
	"strings"
	"testing"
)

// TestPodScored: a pod that has a process needs a score that is lower than ours.
func TestPodScored(t *testing.T) {
	conf := func(drop any) map[string]any {
		return map[string]any{"crio": map[string]any{"runtime": map[string]any{"drop_infra_ctr": drop}}}
	}
	for _, c := range []struct {
		name       string
		over, like map[string]any
		score      int
		may        bool
		want       string
	}{
		{"dropped by default", nil, nil, 0, false, ""},
		{"dropped by the build", conf(true), conf(false), 0, false, ""},
		{"kept by the build", conf(false), conf(true), 0, false, "the crio.conf has drop_infra_ctr = false"},
		{"kept by the user", nil, conf(false), 0, false, "your CRI-O has drop_infra_ctr = false"},
		{"may be lowered", conf(false), nil, 0, true, ""},
		{"is as low", conf(false), nil, -998, false, ""},
		{"is lower than any container's and not as low", conf(false), nil, -997, false, "nobody may lower a score here"},
	} {
		err := podScored(c.over, c.like, c.score, c.may)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
	if score, _, err := ownScore(); err != nil || score < -1000 || score > 1000 {
		t.Errorf("our own score is %d (%v)", score, err)
	}
}
