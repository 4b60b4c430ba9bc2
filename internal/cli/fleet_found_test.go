package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
)

// fleetReport asks for what is known of a fleet.
func fleetReport() []string {
	args := []string{"--host-by", "name", "--metric", "create", "--against", fleetPace[0].env}
	for _, p := range fleetPace {
		args = append(args, "--env", p.env)
	}
	return args
}

// tell asks a command about what was measured; hosts of this machine are told apart by
// their names.
func (u *farUser) tell(into any, args ...string) {
	u.t.Helper()
	for i, a := range args {
		if exists(filepath.Join(u.work, a)) {
			args[i] = filepath.Join(u.work, a)
		}
	}
	status, out, errs := drive(append(args, "--host-by", "name", "--format", "json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil || status != 0 {
		u.t.Fatalf("%v: status %d, %v: %s", args, status, err, errs)
	}
}

// found demands what is known: that one host is slower for everything is no matter of
// environments, and what was put in is found, on that host, for that environment and that
// factor, and for no other.
func (f *fleetUser) found(dir string, put putIn) {
	t := f.t
	t.Helper()
	var h hosts.Hosts
	f.tell(&h, append([]string{"report", dir}, fleetReport()...)...)
	if len(h.Hosts) != 3 || h.Pools || len(h.Tables) != 1 || len(h.Tables[0].Rows) != len(fleetPace)-1 {
		t.Fatalf("report of %s: %+v", dir, h)
	}
	for i, p := range fleetPace[1:] {
		row := &h.Tables[0].Rows[i]
		if row.Env != p.env || row.Against != fleetPace[0].env || row.Pooled != nil || row.Differ == nil {
			t.Fatalf("report of %s: a row is %+v", dir, row)
		}
		if row.Differ.Found != (p.env == put.env) {
			t.Errorf("report of %s: that %s depends on the host is found: %t, p %g", dir, p.env, row.Differ.Found, row.Differ.Holm)
		}
		for k, a := range row.Hosts {
			name := h.Hosts[k].Label
			if want := float64(p.ms) / float64(fleetPace[0].ms) * put.of(name, p.env); math.Abs(a.Value/want-1) > 0.3 {
				t.Errorf("report of %s: the ratio of %s on %s is %.2f, not %g", dir, p.env, name, a.Value, want)
			}
		}
	}
	against := map[string]float64{}
	for _, x := range h.Tables[0].Times {
		for k := range h.Hosts {
			if x.Env == fleetPace[0].env {
				against[h.Hosts[k].Label] = x.Hosts[k].Median.Value
			}
		}
	}
	for _, other := range []string{"two", "three"} {
		if by := against[slowHost] / against[other]; math.Abs(by/slowBy-1) > 0.3 {
			t.Errorf("report of %s: %s is slower than %s by %.2f, not %d", dir, slowHost, other, by, slowBy)
		}
	}

	var all struct{ Factors []*factors.OverHosts }
	f.tell(&all, "factors", dir, "--metric", "create", "--engine", "oci")
	shares := all.Factors[0].Shares
	if len(shares) != 2 {
		t.Errorf("factors of %s: %+v", dir, shares)
	}
	for _, s := range shares {
		if s.Holm == nil || (*s.Holm < 0.05) != (s.Factor == put.factor) {
			t.Errorf("factors of %s: %s depends on the host with %+v", dir, s.Factor, s)
		}
	}

	status, out, errs := drive(append([]string{"report", filepath.Join(f.work, dir)}, fleetReport()...)...)
	out = strings.Join(strings.Fields(out), " ")
	if says := inWords(put).MatchString(out); status != 0 || !says || strings.Count(out, "depends on the host: ") != 1 {
		t.Errorf("report of %s (status %d, %s) says what was put in: %t; all that it says:\n%s", dir, status, errs, says, out)
	}
}

// inWords is the sentence on what was put in.
func inWords(put putIn) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(put.env) + `( is slower than \S+ on all 3 hosts, by how much)? depends on the host: .{0,150}× [2-4][.\d]* \[[\d., ]+\] on ` + put.host + `\.`)
}

// changed demands what changed from one measurement of the fleet to the next, where other
// things were put in: no time of one machine is divided by one of another. The machine of all
// hosts may have become busier meanwhile, which is a change too: what is demanded is how much
// more an environment changed on a host than the one that others are held against.
func (f *fleetUser) changed(base string, was putIn, next string, is putIn) {
	t := f.t
	t.Helper()
	var c hosts.Changes
	f.tell(&c, "compare", base, next, "--filter", "metric=create", "--against", "none")
	rows := map[string]hosts.ChangeRow{}
	for _, r := range c.Rows {
		rows[r.Env] = r
	}
	if len(c.Hosts) != 3 {
		t.Fatalf("compare is of %d hosts", len(c.Hosts))
	}
	for _, p := range fleetPace {
		r, first := rows[p.env], rows[fleetPace[0].env]
		other := p.env == was.env || p.env == is.env
		if r.Differ == nil || r.Differ.Found != other || (r.Holds == hosts.ByHost) != other {
			t.Fatalf("compare: %s holds %q; that hosts differ: %+v", p.env, r.Holds, r.Differ)
		}
		for k, a := range r.Hosts {
			name := c.Hosts[k].Label
			want := is.of(name, p.env) / was.of(name, p.env)
			if a.Ratio == nil || first.Hosts[k].Ratio == nil {
				t.Fatalf("compare: %s has no value on %s: %+v", p.env, name, a)
			}
			by := a.Ratio.Value / first.Hosts[k].Ratio.Value
			if math.Abs(by/want-1) > 0.3 || want > 1 && a.Verdict == compare.Better || want < 1 && a.Verdict == compare.Worse {
				t.Errorf("compare: %s on %s: %s × %g, and × %g beside %s, want %g", p.env, name, a.Verdict, a.Ratio.Value, by, first.Env, want)
			}
		}
	}
}

// wrote demands of the report and the page of the collection that they say what was put in.
func (f *fleetUser) wrote(dir string, put putIn) {
	f.t.Helper()
	for _, file := range []string{"report.txt", "hosts.html"} {
		data, err := os.ReadFile(filepath.Join(f.work, dir, file))
		text := strings.Join(strings.Fields(string(data)), " ")
		if err != nil || !strings.Contains(text, "fleet on 3 hosts") || !inWords(put).MatchString(text) {
			f.t.Errorf("%s (%v), of %d bytes, does not say what was put in", file, err, len(text))
		}
	}
}
