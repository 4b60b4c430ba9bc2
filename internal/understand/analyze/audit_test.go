package analyze

import (
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

func auditOf(t *testing.T) *Audit {
	t.Helper()
	return analyze(t, recordtest.Audited()).Audit
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
		if !ok || !reflect.DeepEqual(p.Factors, c.factors) || !slices.Equal(keysOf(p.Beyond), c.beyond) || !slices.Equal(keysOf(p.Implied), c.implied) {
			t.Errorf("%s and %s: factors %v, beyond %v, implied %v; want %v, %v, %v", c.x, c.y, p.Factors, keysOf(p.Beyond), keysOf(p.Implied), c.factors, c.beyond, c.implied)
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
	res := analyze(t, recordtest.Audited())
	n := 0
	for _, p := range res.Workloads[0].Table("startup").Pairs {
		want, _ := res.Audit.Compare(p.A, p.B)
		if p.A == "native" || p.B == "native" {
			want.Beyond = nil
		}
		if !slices.Equal(p.Also, keysOf(want.Beyond)) {
			t.Errorf("%s and %s: %v, want %v", p.A, p.B, p.Also, keysOf(want.Beyond))
		}
		n += len(p.Also)
	}
	if n == 0 {
		t.Error("nothing is flagged")
	}
	for env, want := range map[string]string{
		"docker/runc@a": "against docker/open: beside client it differs in seccomp default against off; seccomp-mode filter against off",
		"docker/crun":   "capabilities 14 against 13, the first has also NET_RAW",
		"":              "the engines docker, podman differ in more than the engine",
	} {
		if !slices.ContainsFunc(res.Remarks, func(r record.Remark) bool {
			return r.Code == "unequal" && r.Env == env && strings.Contains(r.Text, want)
		}) {
			t.Errorf("no remark on %q with %q in %s", env, want, codes(res))
		}
	}
}

// TestAuditIsSymmetric: for any two environments of any make, who comes first
// does not matter, and two that are equal do not differ.
func TestAuditIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(keys []string) map[string]string {
		m := map[string]string{}
		for _, k := range keys {
			if rng.IntN(3) > 0 {
				m[k] = []string{"v" + strconv.Itoa(rng.IntN(3)), "overlay", "overlay2", "0000000000000003"}[rng.IntN(4)]
			}
		}
		return m
	}
	one := func(id string) *AuditEnv {
		return &AuditEnv{Env: id, Engine: "e" + strconv.Itoa(rng.IntN(2)), Guest: rng.IntN(4) == 0,
			Configuration: some(append(slices.Clone(common), "own-word", "kernel", "store")), Isolation: some(isolationOrder),
			levels: some([]string{"runtime", "storage", "client", "rootless"})}
	}
	flip := func(ds []Difference) []Difference {
		var out []Difference
		for _, d := range ds {
			out = append(out, Difference{d.Key, d.Kind, d.B, d.A})
		}
		return out
	}
	found := 0
	for range 2000 {
		x, y := one("x"), one("y")
		p, q := compareTerms(x, y), compareTerms(y, x)
		if !reflect.DeepEqual(p.Factors, q.Factors) || !reflect.DeepEqual(p.Beyond, flip(q.Beyond)) || !reflect.DeepEqual(p.Implied, flip(q.Implied)) {
			t.Fatalf("not symmetric:\n%+v\n%+v", p, q)
		}
		found += len(p.Beyond)
		z := *x
		z.Env = "z"
		if p := compareTerms(x, &z); len(p.Factors)+len(p.Beyond)+len(p.Implied) > 0 {
			t.Fatalf("equal, yet %+v", p)
		}
	}
	if found < 1000 {
		t.Errorf("only %d differences: the test sees too little", found)
	}
}

// TestOneView: the view of most trials counts, and that there were others is said.
func TestOneView(t *testing.T) {
	if got := most(map[string]int{"b": 2, "a": 2, "c": 1}); got != "a" {
		t.Error(got)
	}
	one := record.Inside{Kernel: "6", More: map[string]string{"net.names": "lo", "pid1": "probe"}}
	same, other := one, one
	same.More, other.Seccomp = map[string]string{"net.names": "lo,eth0", "pid1": "probe"}, "2"
	if n := different(map[string]int{"1": 3, "2": 1, "3": 1, "gone": 1}, map[string]record.Inside{"1": one, "2": same, "3": other}); n != 2 {
		t.Errorf("%d views, not 2", n)
	}
	a := &Audit{Environments: []AuditEnv{{Env: "x", Views: 2}}}
	if r := a.remarks(); len(r) != 1 || r[0].Code != "views" || r[0].Env != "x" {
		t.Errorf("%+v", r)
	}
}

func TestCPULimit(t *testing.T) {
	for _, c := range []struct {
		more map[string]string
		want string
	}{
		{map[string]string{"limit.cpu.max": "50000 100000"}, "0.5"},
		{map[string]string{"limit.cpu.max": "max 100000"}, "none"},
		{map[string]string{"limit.cpu.cfs_quota_us": "200000", "limit.cpu.cfs_period_us": "100000"}, "2"},
		{map[string]string{"limit.cpu.cfs_quota_us": "-1", "limit.cpu.cfs_period_us": "100000"}, "none"},
		{map[string]string{"limit.cpu.cfs_quota_us": "7"}, ""}, {nil, ""},
	} {
		if got := cpuLimit(c.more); got != c.want {
			t.Errorf("%v: %q, want %q", c.more, got, c.want)
		}
	}
}

// The facts that engines are compared by are those that the manual lists.
func TestManualListsTheFacts(t *testing.T) {
	text, err := os.ReadFile("../../../docs/records.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "### Facts")
	section, _, _ = strings.Cut(section, "\n### ")
	for _, k := range common {
		if !ok || !strings.Contains(section, "`"+k+"`") {
			t.Errorf("docs/records.md does not explain the fact %s", k)
		}
	}
}
