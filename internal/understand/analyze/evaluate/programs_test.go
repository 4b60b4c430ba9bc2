package evaluate_test

import (
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
)

// TestOtherPrograms: a workload whose program is another one in one
// environment is remarked on; the host's own programs are not.
func TestOtherPrograms(t *testing.T) {
	for _, c := range []struct {
		name   string
		digest map[string]string
		want   int
	}{
		{"same", map[string]string{"native": "aa", "host": "bb", "runc": "aa"}, 0},
		{"other", map[string]string{"native": "aa", "host": "bb", "runc": "cc"}, 1},
	} {
		s := recordtest.Typical()
		for i := range s.Envs {
			s.Envs[i].Binary = c.digest[s.Envs[i].ID]
		}
		n := 0
		for _, r := range analyzetest.Run(t, s).Remarks {
			if r.Code == "different-programs" {
				n++
				t.Log(r.Text)
				if r.Level != "warn" || r.Workload != s.Workloads[0].ID {
					t.Errorf("%+v", r)
				}
			}
		}
		if n != c.want {
			t.Errorf("%s: %d remarks, want %d", c.name, n, c.want)
		}
	}
}
