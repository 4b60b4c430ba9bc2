package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// paced puts a program in the place of crun and of runc on a host: create takes as long
// as the host's file says, in ms, since the real one runs beside a sleep that is longer,
// however busy the machine is; of a container without a keyring there is a file of its own.
// It scatters by ± 11 %, call by call in a fixed order, so that an interval is one of
// something. What containerd asks of runc is not paced.
const paced = `
for r in crun runc; do
  at=$(readlink -f "$(command -v $r)") && touch /run/real-$r && mount --bind "$at" /run/real-$r || exit 1
  {
    echo '#!/bin/sh'
    echo "r=$r dir='$2'"
    cat <<'END'
what=
for a; do
  case $a in
  create) what=$r ;;
  --no-new-keyring) what=$r-keyring ;;
  /run/containerd/*) exec /run/real-$r "$@" ;;
  esac
done
[ -n "$what" ] || exec /run/real-$r "$@"
calls=0; [ ! -s "$dir/calls-$what" ] || read -r calls <"$dir/calls-$what"
echo $((calls + 1)) >"$dir/calls-$what"
read -r ms <"$dir/$what"
case $what in crun) step=7 ;; runc) step=13 ;; *) step=5 ;; esac
ms=$((ms * (89 + calls * step % 23) / 100))
sleep $(printf %d.%03d $((ms / 1000)) $((ms % 1000))) </dev/null >/dev/null 2>&1 &
/run/real-$r "$@"; status=$?
wait
exit $status
END
  } >/run/paced-$r && chmod 755 /run/paced-$r && mount --bind /run/paced-$r "$at" || exit 1
done
`

// fleetHosts are the hosts of a fleet.
var fleetHosts = []string{"one", "two", "three"}

// fleetPace is how long create takes by itself, in ms, and what is asked for.
var fleetPace = []struct {
	env, file string
	ms        int
}{{"oci/crun", "crun", 200}, {"oci/runc", "runc", 300}, {"oci/crun/without-keyring", "crun-keyring", 200}}

// slowHost is slower than the others by this factor, whatever it runs.
const slowHost, slowBy = "one", 2

// putIn is what is slower on one host alone, by more than anything scatters: an environment,
// which one factor tells from the one that the others are held against.
type putIn struct{ host, env, factor string }

const putBy = 2.5

// of is by how much it makes an environment slower on a host.
func (p putIn) of(host, env string) float64 {
	if p.host == host && p.env == env {
		return putBy
	}
	return 1
}

// fleetUser measures three hosts, each with a root file system and namespaces of its own
// and limits of its own. What is known of them is how long create takes there.
type fleetUser struct {
	*farUser
	blocks int
	groups map[string]*ownGroups
}

// newFleet makes the hosts; extra is what they have besides.
func newFleet(t *testing.T, blocks int, extra string) *fleetUser {
	t.Helper()
	for _, r := range []string{"crun", "runc"} {
		if _, err := exec.LookPath(r); err != nil {
			t.Skip(r + " is not installed: lab/engines/" + r + " up installs it")
		}
	}
	f := &fleetUser{farUser: farOf(t, nil), blocks: blocks, groups: map[string]*ownGroups{}}
	limits := map[string]map[string]string{
		"one": {}, "two": {"pids.max": "2000"}, "three": {"memory.limit_in_bytes": fmt.Sprint(4 << 30)},
	}
	if runtime.NumCPU() > 1 {
		limits["one"]["cpu.cfs_quota_us"] = fmt.Sprint(100_000*runtime.NumCPU() - 50_000)
	}
	for _, h := range fleetHosts {
		dir := filepath.Join(f.dir, h)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		f.groups[h] = f.limit(h, limits[h])
		for name, text := range map[string]string{"own": ownRoot, "extra": paced + extra} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		require.NoError(t, f.start(h))
	}
	return f
}

// as is the same user in a test of its own.
func (f *fleetUser) as(t *testing.T) *fleetUser {
	far, own := *f.farUser, *f
	far.t, own.farUser = t, &far
	return &own
}

// pace says how long create takes on all hosts, and begins its scatter anew.
func (f *fleetUser) pace(put putIn) {
	f.t.Helper()
	for _, h := range fleetHosts {
		for _, p := range fleetPace {
			ms := float64(p.ms) * put.of(h, p.env)
			if h == slowHost {
				ms *= slowBy
			}
			dir := filepath.Join(f.dir, h)
			require.NoError(f.t, os.WriteFile(filepath.Join(dir, p.file), []byte(fmt.Sprintln(int(ms))), 0o600))
			require.NoError(f.t, os.WriteFile(filepath.Join(dir, "calls-"+p.file), []byte("0\n"), 0o600))
		}
	}
}

// study writes down what is measured, with what is in further environments, and says of how
// many trials a block is.
func (f *fleetUser) study(file, further string) (trials int) {
	f.t.Helper()
	const text = "plimsoll: 1\nname: fleet\nprotocol: {blocks: %d, warmup: 0, pause: 1ms}\ncommon: {network: none}\nworkloads: [hello]\n" +
		"environments: [{engine: oci, runtime: [crun, runc]}, {engine: oci, runtime: crun, without: keyring}%s]\n"
	trials = len(fleetPace) + 3 // the baselines
	if further != "" {
		further = ", " + further
		trials++
	}
	require.NoError(f.t, os.WriteFile(filepath.Join(f.work, file), []byte(fmt.Sprintf(text, f.blocks, further)), 0o600))
	return trials
}

// most is how many blocks the host that dies has measured by then.
func (f *fleetUser) most() int { return f.blocks * 7 / 10 }

// revive starts a host that was ended anew: the kernel is the same one, and its control
// groups would have gone with a real host.
func (f *fleetUser) revive(out, host string) {
	f.t.Helper()
	require.NoError(f.t, f.groups[host].remove(f.groups[host].all(false)))
	f.forget(out, host)
	require.NoError(f.t, f.start(host))
}

// bySSH measures the fleet by one command. The slow host loses its connection, and the
// host two dies; once it is up again, its rest is measured.
func (f *fleetUser) bySSH(put putIn) {
	t := f.t
	t.Helper()
	f.pace(put)
	each := f.study("by-ssh.yaml", "")
	all, most := fmt.Sprintf("done; %d trials", each*f.blocks), each*f.most()
	before := map[string][]string{}
	for _, h := range fleetHosts {
		before[h] = f.holds(h)
	}
	r := f.begin("run", "--progress", "plain", "by-ssh.yaml", "--on", "ssh://one,two,three", "-o", "by-ssh", "--lost-after", "3s")
	inGroups := func(host string) { f.within(host, f.groups[host]) }
	f.at(r, "/root/.cache/plimsoll/hosts/*/record",
		moment{slowHost, each, func() { inGroups(slowHost); f.cut(slowHost) }},
		moment{"two", most, func() { inGroups("two"); f.hold("two") }},
		moment{"three", each, func() { inGroups("three") }})
	r.until(most, "by-ssh", "two")
	_ = f.stop("two")
	r.end(SomeFailed, "^one: .*the run goes on there, and is picked up again", `^two: (it has closed the connection|the connection is lost); \d+ trials are recorded`,
		"^one: "+all, "^three: "+all, "1 of 3 hosts could not be measured to the end", "plimsoll run --resume by-ssh")
	if n := f.trials("by-ssh", "two"); n < most || n >= each*f.blocks {
		t.Errorf("%d trials of the dead host", n)
	}
	dir := filepath.Join(f.work, "by-ssh")
	says(t, []string{"report", dir, "--host-by", "name"}, 0, "fleet on 3 hosts|the run on two is not finished|plimsoll run --resume "+dir+"\n")
	f.found("by-ssh", put)
	f.clean("one", "three")

	f.revive("by-ssh", "two")
	before["two"] = f.holds("two")
	f.begin("run", "--progress", "plain", "--resume", "by-ssh").end(Done, "^two: "+all)
	f.clean(fleetHosts...)
	seeds := map[uint64]bool{}
	for _, h := range fleetHosts {
		if x := newThere(before[h], f.holds(h)); len(x) > 0 {
			t.Errorf("%s has what was not there before: %q", h, x)
		}
		if x := f.groups[h].all(false); len(x) > 0 {
			t.Errorf("control groups of %s are left: %s", h, x)
		}
		rec, err := record.Open(filepath.Join(dir, h))
		require.NoError(t, err)
		seeds[rec.Run().Protocol.Seed] = true
		limited := slices.ContainsFunc(rec.Run().Host.Remarks, func(m record.Remark) bool { return m.Code == "cpu-limited" })
		if want := slices.Contains(f.groups[h].set, "cpu.cfs_quota_us"); limited != want {
			t.Errorf("the record of %s says that it may use less than its processors: %t; its remarks: %v", h, limited, rec.Run().Host.Remarks)
		}
	}
	if len(seeds) != 1 {
		t.Errorf("the hosts have different seeds: %v", seeds)
	}
	f.found("by-ssh", put)
}

// A fleet in short: what takes its time of it is TestSiteFleet.
func TestFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("starts containers on hosts of its own: left out with -short")
	}
	newFleet(t, 5, "").bySSH(putIn{"three", "oci/runc", "runtime"})
}
