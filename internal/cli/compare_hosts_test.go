package cli

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/hosts"
)

// later is the fleet as it is measured again: crun takes 1.2 times as long on all hosts,
// runc 1.3 times on every second host and as long as before on the others.
func later(n, blocks int) []recordtest.Spec {
	out := recordtest.Fleet(n, blocks)
	for i := range out {
		s := &out[i]
		s.ID, s.Seed = "later-"+s.ID, s.Seed+1000
		s.Envs[1].StartUp = s.Envs[1].StartUp * 12 / 10
		if i%2 == 1 {
			s.Envs[2].StartUp = time.Duration(float64(s.Envs[2].StartUp) * 1.3)
		}
	}
	return out
}

// What changed on all hosts, what on some and what on none is told apart; each host is
// compared with itself.
func TestCompareHosts(t *testing.T) {
	before, dirs := recordtest.WriteAll(t, recordtest.Fleet(6, 20))
	after, next := recordtest.WriteAll(t, later(6, 20))
	status, out, errs := drive("compare", before, after, "--format", "json", "--filter", "metric=startup")
	var c hosts.Changes
	if err := json.Unmarshal([]byte(out), &c); status != 0 || err != nil || len(c.Hosts) != 6 || !c.Pools {
		t.Fatalf("%d %v %s", status, err, errs)
	}
	for _, r := range c.Rows {
		switch r.Env {
		case "crun":
			if r.Holds != hosts.Everywhere || r.Worse != 6 || r.Differ.Found || r.Verdict != compare.Worse || *r.Pooled.Ratio.Lo > 1.2 || *r.Pooled.Ratio.Hi < 1.2 {
				t.Errorf("crun: %+v %+v", r, r.Pooled)
			}
		case "runc":
			if r.Holds != hosts.ByHost || r.Worse != 3 || r.Verdict == compare.Better || math.Abs(r.Hosts[1].Ratio.Value/1.3-1) > 0.1 {
				t.Errorf("runc: %+v %+v", r, r.Pooled)
			}
		case "native":
			if r.Worse+r.Better > 0 || r.Holds == hosts.ByHost {
				t.Errorf("native: %+v", r)
			}
		}
	}
	few, _ := recordtest.WriteAll(t, later(3, 10))
	other := later(2, 6)
	other[0].Host.Name, other[0].Host.Machine, other[0].Host.Boot = "elsewhere", "z", "z"
	partly, _ := recordtest.WriteAll(t, other)
	for _, c := range []struct {
		args   []string
		status int
		want   string // several, with | between them; ! is not to be there
	}{
		{[]string{"compare", before, after}, 0, "Changes of fleet on 6 hosts|crun is worse on all 6 hosts; on machines in general × 1.|runc depends on the host: worse on 3|all machines"},
		{[]string{"compare", before, few}, 0, "on 3 hosts|it takes 5|node6 has a run on one side only|!all machines"},
		{[]string{"compare", before, partly}, 0, "on 1 host|elsewhere has a run on one side only"},
		{[]string{"compare", before, after, "--format", "markdown"}, 0, "| node3 |"},
		{[]string{"compare", before, after, "--format", "csv", "--filter", "metric=startup"}, 0, "\nhello,startup,ns,crun,node3,|\nhello,startup,ns,runc,,|,by-host,"},
		{[]string{"compare", before, after, "--format", "junit"}, 2, "not written as junit"},
		{[]string{"compare", before, after, "--fail-above", "5%"}, 2, "a gate judges two runs of one host|" + dirs[0]},
		{[]string{"compare", before, after, "--quantile", "95"}, 2, "--quantile"},
		{[]string{"compare", before, after, "--filter", "environment=crun"}, 0, "crun|!runc"},
		{[]string{"compare", before, next[0]}, 2, "is of one host"},
		{[]string{"compare", before}, 2, "nothing to compare|--env A --env B"},
		{[]string{"compare", before, "--env", "crun", "--env", "runc"}, 0, "runc / crun|depends on the host|!native / crun"},
		{[]string{"compare", before, "--env", "crun", "--env", "runk"}, 2, `did you mean "runc"?`},
		{[]string{"compare", dirs[0], next[0]}, 0, "!hosts"},
		{[]string{"compare", dirs[0], next[0], "--format", "csv"}, 0, "workload,metric,unit|\nhello,startup,ns,crun,"},
	} {
		says(t, c.args, c.status, c.want)
	}
}
