package audit

import (
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

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
	one := func(id string) *Environment {
		return &Environment{Env: id, Engine: "e" + strconv.Itoa(rng.IntN(2)), Guest: rng.IntN(4) == 0,
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
	a := &Audit{Environments: []Environment{{Env: "x", Views: 2}}}
	if r := a.Remarks(); len(r) != 1 || r[0].Code != "views" || r[0].Env != "x" {
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

// TestPidsLimit: that the payload's own group has no limit says nothing of the groups above it.
func TestPidsLimit(t *testing.T) {
	for _, c := range []struct{ namespace, limit, want string }{{"own", "max", ""}, {"own", "2048", "2048"}, {"host", "max", "max"}} {
		in := record.Inside{Namespaces: map[string]string{"cgroup": c.namespace}, More: map[string]string{"limit.pids.max": c.limit}}
		if got := isolation(in)["pids-limit"]; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The facts that engines are compared by are those that the manual lists.
func TestManualListsTheFacts(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/records.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "### Facts")
	section, _, _ = strings.Cut(section, "\n### ")
	for _, k := range common {
		if !ok || !strings.Contains(section, "`"+k+"`") {
			t.Errorf("docs/records.md does not explain the fact %s", k)
		}
	}
}
