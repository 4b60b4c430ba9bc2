package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze/hosts"
)

// What holds on all hosts, what on none and what depends on the host is told apart, and
// nothing is put into one verdict.
func TestHostByHost(t *testing.T) {
	specs := recordtest.Fleet(6, 12)
	for i := range specs {
		specs[i].Claims = recordtest.FleetClaims()
	}
	folder, dirs := recordtest.WriteAll(t, specs)
	status, out, errs := drive("findings", folder, "--format", "json")
	var c hosts.Claims
	if err := json.Unmarshal([]byte(out), &c); status != 0 || err != nil || len(c.Claims) != 3 || len(c.Hosts) != 6 {
		t.Fatalf("%d %v %s\n%s", status, err, errs, out)
	}
	for i, want := range []hosts.Where{hosts.HoldsOnAll, hosts.FailsOnAll, hosts.DependsOn} {
		if c.Claims[i].Where != want {
			t.Errorf("%s is %s, not %s: %+v", c.Claims[i].ID, c.Claims[i].Where, want, c.Claims[i])
		}
	}
	status, out, errs = drive("advise", folder, "--weight", "hello/startup=1", "--format", "json")
	var a advise.ByHost
	if err := json.Unmarshal([]byte(out), &a); status != 0 || err != nil || len(a.Hosts) != 6 || !a.Alone || len(a.Everywhere) != 1 || a.Everywhere[0] != "crun" {
		t.Errorf("%d %v %s\n%s", status, err, errs, out)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string // several, with | between them
	}{
		{[]string{"findings", folder}, 0, "Findings of fleet on 6 hosts: 1 supported on all, 1 contradicted on all, 1 by host|Supported on node2 ("},
		{[]string{"findings", folder, "--format", "markdown"}, 0, "node5"},
		{[]string{"findings", folder, "--format", "csv"}, 0, "host,claim,verdict|node3,fleet/runc,contradicted|\n,fleet/runc,by-host"},
		{[]string{"findings", folder, "--claim", "runc"}, 0, "1 by host"},
		{[]string{"findings", folder, "--claim", "runk"}, 2, "no claim"},
		{[]string{"findings", dirs[0]}, 0, "Findings of fleet: "},
		{[]string{"findings", folder, "--features", "x.json"}, 2, "a feature table is of one machine|plimsoll findings " + dirs[0]},
		{[]string{"factors", folder}, 0, "What matters most on 6 hosts|What depends on the host: runtime|node5|least"},
		{[]string{"factors", dirs[0], dirs[1], "--format", "markdown"}, 0, "it takes 5|node2"},
		{[]string{"factors", folder, "--workload", "hallo"}, 2, "no workload"},
		{[]string{"factors", folder, "--format", "json"}, 0, `"by_host": 0`},
		{[]string{"factors", folder, "--format", "csv"}, 0, "workload,metric,factor,with,host|\nhello,startup,runtime,,node3,|\nhello,startup,runtime,,,,"},
		{[]string{"factors", dirs[0], dirs[0]}, 2, "of one host"},
		{[]string{"compare", folder, dirs[0]}, 2, "is of one host, and the other side of several"},
		{[]string{"compare", folder, "nowhere"}, 1, "nowhere"},
		{[]string{"advise", folder, "--weight", "hello/startup=1"}, 0, "crun comes first on all 6 hosts|6 of 6|node6"},
		{[]string{"advise", dirs[0], dirs[1], "--weight", "hello/startup=1", "--format", "markdown"}, 0, "crun comes first on all 2 hosts"},
		{[]string{"advise", folder, "--weight", "hello/startup=1", "--features", "x.json"}, 2, "a feature table is of one machine"},
	} {
		status, out, errs := drive(c.args...)
		if status != c.status {
			t.Errorf("%v: status %d, want %d: %s", c.args, status, c.status, errs)
		}
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%v, %q:\n%s%s", c.args, want, out, errs)
			}
		}
	}
}
