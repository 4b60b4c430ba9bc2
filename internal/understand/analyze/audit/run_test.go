package audit_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/audit"
)

func auditOf(t *testing.T) *audit.Audit {
	t.Helper()
	return analyzetest.Run(t, recordtest.Audited()).Audit
}

// TestAuditFindsWhatDiffers: what was put in beyond a factor is found, and
// nothing else.
func TestAuditFindsWhatDiffers(t *testing.T) {
	a := auditOf(t)
	for _, c := range []struct {
		x, y    string
		factors []string
		beyond  []string
		implied []string
	}{
		{"docker/runc@a", "docker/runc@b", []string{}, nil, nil},
		{"docker/runc@a", "docker/crun", []string{"runtime"}, nil, []string{"runtime", "runtime-version"}},
		{"docker/runc@a", "docker/open", []string{"client"}, []string{"seccomp", "seccomp-mode"}, []string{"client"}},
		{"docker/runc@a", "docker/runsc", []string{"runtime"}, []string{"capabilities"}, []string{"runtime", "runtime-version", "kernel", "clock"}},
		{"docker/runc@a", "podman", []string{"engine"}, []string{"client", "ns.user", "uid-map", "capabilities"}, []string{"version", "daemon", "cgroup-path"}},
		{"docker/open", "podman", []string{"engine"}, []string{"seccomp", "ns.user", "uid-map", "capabilities", "seccomp-mode"}, []string{"version", "daemon", "cgroup-path"}},
	} {
		p, ok := a.Compare(c.x, c.y)
		if !ok || !reflect.DeepEqual(p.Factors, c.factors) || !slices.Equal(audit.Keys(p.Beyond), c.beyond) || !slices.Equal(audit.Keys(p.Implied), c.implied) {
			t.Errorf("%s and %s: factors %v, beyond %v, implied %v; want %v, %v, %v", c.x, c.y, p.Factors, audit.Keys(p.Beyond), audit.Keys(p.Implied), c.factors, c.beyond, c.implied)
		}
	}
	e := a.Environment("docker/runsc")
	if !e.Guest || e.Isolation["kernel"] != "4.4.0" || e.Isolation["clock"] != "foreign" || a.Environment("docker/crun").Guest {
		t.Errorf("the guest kernel does not show: %+v", e)
	}
	for _, p := range a.Pairs {
		if p.A == "native" || p.B == "native" || p.A == "unseen" || p.B == "unseen" || len(p.Factors) > 1 {
			t.Errorf("the pair %s, %s (%v) is no comparison of one factor", p.A, p.B, p.Factors)
		}
	}
	if _, ok := a.Compare("podman", "nonesuch"); ok {
		t.Error("compared with what is not there")
	}
}

// TestAuditFlagsComparisons: every pair of a ranking says in what else the two
// differ, and the remarks say it in words.
func TestAuditFlagsComparisons(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Audited())
	n := 0
	for _, p := range res.Workloads[0].Table("startup").Pairs {
		want, _ := res.Audit.Compare(p.A, p.B)
		if p.A == "native" || p.B == "native" {
			want.Beyond = nil
		}
		if !slices.Equal(p.Also, audit.Keys(want.Beyond)) {
			t.Errorf("%s and %s: %v, want %v", p.A, p.B, p.Also, audit.Keys(want.Beyond))
		}
		n += len(p.Also)
	}
	if n == 0 {
		t.Error("nothing is flagged")
	}
	for env, want := range map[string]string{
		"docker/runc@a": "against docker/open: next to the factor client it differs in seccomp default against off; seccomp-mode filter against off",
		"docker/crun":   "capabilities 14 against 13, the first has also NET_RAW",
		"":              "the engines docker, podman differ in more than the engine",
	} {
		if !slices.ContainsFunc(res.Remarks, func(r record.Remark) bool {
			return r.Code == "unequal" && r.Env == env && strings.Contains(r.Text, want)
		}) {
			t.Errorf("no remark on %q with %q in %s", env, want, analyzetest.Codes(res))
		}
	}
}

// TestAuditOfMechanisms: what a mechanism changes by its nature is the difference that an
// ablation is about, and no other. Whatever else differs is still told.
func TestAuditOfMechanisms(t *testing.T) {
	env := func(id, without, with string) record.Environment {
		return record.Environment{ID: id, Engine: "docker", Levels: map[string]string{"without": without, "with": with}, Facts: map[string]string{"storage": "overlay2"}}
	}
	run := &record.Run{Environments: []record.Environment{env("all", "", ""), env("no-pid", "pid-namespace", ""), env("neither", "pid-namespace+capabilities", ""), env("odd", "masked-paths", "")}}
	own := map[string]string{"pid": "own"}
	a := audit.Of(run, []map[string]int{{"all": 3}, {"no-pid": 3}, {"neither": 3}, {"odd": 3}}, []record.Inside{
		{ID: "all", Namespaces: own, CapEff: "a80425fb", More: map[string]string{"pid1": "probe"}},
		{ID: "no-pid", Namespaces: map[string]string{"pid": "host"}, CapEff: "a80425fb", More: map[string]string{"pid1": "systemd"}},
		{ID: "neither", Namespaces: map[string]string{"pid": "host"}, CapEff: "1ffffffffff", More: map[string]string{"pid1": "systemd"}},
		{ID: "odd", Namespaces: own, CapEff: "1ffffffffff", More: map[string]string{"pid1": "probe"}},
	})
	for _, c := range []struct {
		x, y            string
		beyond, implied []string
	}{
		{"all", "no-pid", nil, []string{"ns.pid", "pid1"}},
		{"no-pid", "neither", nil, []string{"capabilities"}}, // of the namespace neither is without the other
		{"all", "neither", nil, []string{"ns.pid", "capabilities", "pid1"}},
		{"all", "odd", []string{"capabilities"}, nil},
	} {
		p, _ := a.Compare(c.x, c.y)
		if !slices.Equal(audit.Keys(p.Beyond), c.beyond) || !slices.Equal(audit.Keys(p.Implied), c.implied) {
			t.Errorf("%s and %s: beyond %v, implied %v", c.x, c.y, audit.Keys(p.Beyond), audit.Keys(p.Implied))
		}
	}
}

// TestAuditTellsOfUsers: a private daemon does not map its containers' users, where the
// user's daemon does. The view from inside says so of any two that the factor brings apart.
func TestAuditTellsOfUsers(t *testing.T) {
	run := &record.Run{Environments: []record.Environment{
		{ID: "docker", Engine: "docker", Facts: map[string]string{"daemon": "user's", "storage": "overlay2"}},
		{ID: "docker/vfs", Engine: "docker", Levels: map[string]string{"storage": "vfs"},
			Facts: map[string]string{"daemon": "private", "storage": "vfs", "userns-remap": "not taken over"}},
	}}
	a := audit.Of(run, []map[string]int{{"mapped": 3}, {"plain": 3}}, []record.Inside{
		{ID: "mapped", UIDMap: "0 100000 65536", Namespaces: map[string]string{"user": "own"}},
		{ID: "plain", UIDMap: "0 0 4294967295", Namespaces: map[string]string{"user": "host"}},
	})
	remarks := a.Remarks()
	if len(remarks) != 1 || remarks[0].Code != "unequal" || remarks[0].Level != "warn" ||
		!strings.Contains(remarks[0].Text, "namespaces user own against the host's; uid-map 0 100000 65536 against the host's") {
		t.Errorf("%+v", remarks)
	}
}
