package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
)

// paced puts a program in the place of crun and of runc on a host: create takes as long
// as the host's file says, in ms, since the real one runs beside a sleep that is
// longer, however busy the machine is. It scatters by ± 11 %, call by call in a fixed
// order, so that an interval is one of something.
const paced = `
for r in crun runc; do
  at=$(readlink -f "$(command -v $r)") && touch /run/real-$r && mount --bind "$at" /run/real-$r && echo 0 >/run/calls-$r || exit 1
  {
    echo '#!/bin/sh'
    echo "r=$r dir='$2'"
    cat <<'END'
for a; do
  [ "$a" = create ] || continue
  read -r calls </run/calls-$r; echo $((calls + 1)) >/run/calls-$r
  read -r ms <"$dir/$r"
  case $r in crun) step=7 ;; *) step=13 ;; esac
  ms=$((ms * (89 + calls * step % 23) / 100))
  sleep $(printf %d.%03d $((ms / 1000)) $((ms % 1000))) </dev/null >/dev/null 2>&1 &
  /run/real-$r "$@"; status=$?
  wait
  exit $status
done
exec /run/real-$r "$@"
END
  } >/run/paced-$r && chmod 755 /run/paced-$r && mount --bind /run/paced-$r "$at" || exit 1
done
`

// knownStudy holds runc against crun by how long create takes.
const knownStudy = "plimsoll: 1\nname: known\nprotocol: {blocks: 10, warmup: 0, pause: 1ms}\nworkloads: [hello]\nenvironments: [{engine: oci, runtime: [crun, runc]}]\n"

var pacedHosts = map[string]string{"one": paced, "two": paced, "three": paced}

// paceAll gives create a known time on all hosts: two is half as fast as the others.
func (u *farUser) paceAll() {
	u.t.Helper()
	for i, h := range []string{"one", "two", "three"} {
		u.pace(h, "crun", []int{200, 400, 200}[i])
		u.pace(h, "runc", []int{400, 800, 400}[i])
	}
	require.NoError(u.t, os.WriteFile(filepath.Join(u.work, "known.yaml"), []byte(knownStudy), 0o600))
}

// pace says how long create takes on a host, in ms.
func (u *farUser) pace(host, runtime string, ms int) {
	u.t.Helper()
	require.NoError(u.t, os.WriteFile(filepath.Join(u.dir, host, runtime), []byte(fmt.Sprintln(ms)), 0o600))
}

// again begins the scatter of all hosts from its first value.
func (u *farUser) again() {
	u.t.Helper()
	for _, h := range []string{"one", "two", "three"} {
		for _, r := range []string{"crun", "runc"} {
			require.NoError(u.t, os.WriteFile(fmt.Sprintf("/proc/%d/root/run/calls-%s", u.processes(h, "sleep")[0], r), []byte("0\n"), 0o600))
		}
	}
}

// tell asks a command about what was measured; hosts of this machine are told apart by
// their names.
func (u *farUser) tell(into any, args ...string) {
	u.t.Helper()
	for i, a := range args {
		if _, err := os.Stat(filepath.Join(u.work, a)); err == nil {
			args[i] = filepath.Join(u.work, a)
		}
	}
	status, out, errs := drive(append(args, "--host-by", "name", "--format", "json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil || status != 0 {
		u.t.Fatalf("%v: status %d, %v: %s", args, status, err, errs)
	}
}

// A host that is slower for everything changes no ratio, and no command finds that a
// ratio depends on the host. Then one runtime gets slower on one host: every command
// finds it, and says on which.
func TestSiteHostsKnown(t *testing.T) {
	u := farSite(t, pacedHosts, "one", "two", "three")
	u.paceAll()
	u.begin("run", "--progress", "plain", "known.yaml", "--on", "ssh://one,two,three", "-o", "alike").end(Done, "^two: done; 50 trials")
	u.known("alike", false)
	u.pace("three", "runc", 1000)
	u.again()
	u.begin("run", "--progress", "plain", "known.yaml", "--on", "ssh://one,two,three", "-o", "apart").end(Done, "^two: done; 50 trials")
	u.known("apart", true)

	// A busy machine moves the baselines, which are not paced, by more than what was put
	// in: the values are not divided by them.
	var c hosts.Changes
	u.tell(&c, "compare", "alike", "apart", "--filter", "metric=create", "--against", "none")
	for _, r := range c.Rows {
		for i, a := range r.Hosts {
			want := 1.0
			if r.Env == "oci/runc" && c.Hosts[i].Label == "three" {
				want = 2.5
			}
			if a.Ratio == nil || (a.Verdict == compare.Worse) != (want > 1) || a.Verdict == compare.Better || math.Abs(a.Ratio.Value/want-1) > 0.3 {
				t.Errorf("compare: %s on %s: %s × %+v", r.Env, c.Hosts[i].Label, a.Verdict, a.Ratio)
			}
		}
		if found := r.Differ.Found; found != (r.Env == "oci/runc") || found != (r.Holds == hosts.ByHost) {
			t.Errorf("compare: %s: holds %s, p %g", r.Env, r.Holds, r.Differ.Holm)
		}
	}
	if len(c.Rows) != 2 || len(c.Hosts) != 3 {
		t.Errorf("compare has %d rows of %d hosts", len(c.Rows), len(c.Hosts))
	}
	u.clean("one", "two", "three")
}

// known demands what is known of the hosts: runc takes twice as long as crun on all, or
// five times on the host three.
func (u *farUser) known(dir string, apart bool) {
	t := u.t
	t.Helper()
	var h hosts.Hosts
	u.tell(&h, "report", dir, "--metric", "create", "--against", "oci/crun", "--env", "oci/crun", "--env", "oci/runc")
	if len(h.Hosts) != 3 || h.Pools || len(h.Tables) != 1 || len(h.Tables[0].Rows) != 1 {
		t.Fatalf("report of %s: %+v", dir, h)
	}
	row := &h.Tables[0].Rows[0]
	if row.Env != "oci/runc" || row.Against != "oci/crun" || row.Below+row.Equal != 0 || row.Pooled != nil || row.Differ.Found != apart {
		t.Errorf("report of %s: %s / %s below 1 on %d hosts, equal on %d, p %g", dir, row.Env, row.Against, row.Below, row.Equal, row.Differ.Holm)
	}
	crun := map[string]float64{}
	for i, a := range row.Hosts {
		name, want := h.Hosts[i].Label, 2.0
		if apart && name == "three" {
			want = 5
		}
		if math.Abs(a.Value/want-1) > 0.3 {
			t.Errorf("report of %s: the ratio on %s is %.2f, not %g", dir, name, a.Value, want)
		}
		for _, x := range h.Tables[0].Times {
			if x.Env == "oci/crun" {
				crun[name] = x.Hosts[i].Median.Value
			}
		}
	}
	if by := crun["two"] / crun["one"]; math.Abs(by/2-1) > 0.3 {
		t.Errorf("report of %s: two is slower than one by %.2f, not 2", dir, by)
	}

	var f struct{ Factors []*factors.OverHosts }
	u.tell(&f, "factors", dir, "--metric", "create")
	shares := f.Factors[0].Shares
	if len(shares) != 1 || shares[0].Factor != "runtime" || shares[0].Holm == nil || (*shares[0].Holm < 0.05) != apart {
		t.Errorf("factors of %s: %+v", dir, shares)
	}

	want := "oci/runc|!depends on the host"
	if apart {
		want = "depends on the host: |on three"
	}
	says(t, []string{"report", filepath.Join(u.work, dir), "--metric", "create", "--against", "oci/crun", "--env", "oci/crun", "--env", "oci/runc", "--host-by", "name"}, 0, want+"|it takes 5")
}

// The report and the page of the collection say it too, where it is so and only there.
func TestSiteAnsibleKnown(t *testing.T) {
	a := farAnsible(t, pacedHosts, "one", "two", "three")
	a.paceAll()
	for _, dir := range []string{"alike", "out"} {
		apart := dir == "out"
		if apart {
			a.pace("three", "runc", 1000)
			a.again()
		}
		a.measure("--limit", "one,two,three", "-e", "plimsoll_study=known.yaml", "-e", "plimsoll_output="+dir, "-e", `{"plimsoll_report_arguments": ["--host-by", "name", "--metric", "create", "--against", "oci/crun", "--env", "oci/crun", "--env", "oci/runc"]}`).
			end(Done, `^three +: ok=\d+ +changed=[1-9]`)
		for _, file := range []string{"report.txt", "hosts.html"} {
			text, err := os.ReadFile(filepath.Join(a.work, dir, file))
			require.NoError(t, err)
			if says := strings.Contains(string(text), "depends on the host: "); says != apart || !strings.Contains(string(text), "on 3 hosts") {
				t.Errorf("%s/%s, of %d bytes, says that something depends on the host: %t", dir, file, len(text), says)
			}
		}
		a.known(dir, apart)
	}
	a.report("^known on 3 hosts", "on three")
}
