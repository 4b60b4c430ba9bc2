package cli

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/canary"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// helpers are what engines put beside containers.
func helpers() []string { return run.Helpers(catalogue.All()) }

// lives are the environments of the first protocol, and each other engine that can be had
// for tests, as it is by default.
var lives = sync.OnceValue(func() string {
	all := protocols[0].environments
	for _, e := range catalogue.All() {
		info := e.Info()
		if info.Baseline || info.Simulated || info.Unverified || info.ByHand != "" {
			continue
		}
		if !regexp.MustCompile(`engine: ` + info.Name + `[,}]`).MatchString(all) {
			all += "{engine: " + info.Name + "}\n"
		}
	}
	return all
})

// The campaign of kills; `make test-kill` makes a long one.
var (
	killTimes = flag.Int("kills", 9, "how many runs TestKilledEverywhere kills, and TestKilledPodman a third")
	killSeed  = flag.Uint64("killseed", 1, "what its moments and targets are drawn from")
	killFirst = flag.Int("killfirst", 0, "the first round, to repeat one")
)

// killed is what a round strikes.
var killed = []string{"plimsoll", "launcher", "group"}

// afterKill is what comes next.
var afterKill = []string{"clean", "resume", "next run"}

// latest is when a round strikes at the latest, after the program was started:
// environments are opened, and trials of all protocols are under way by then.
const latest = 9 * time.Second

type killedProtocol struct{ name, workload, protocol, environments, arguments string }

// protocols are what a killed run does: the workload, and environments that
// can, of which each round takes a few. A command has arguments instead, one of which
// each round takes; OUT is the record, COPY a copy of crun.
var protocols = []killedProtocol{
	{"life", "hello", "blocks: 40, warmup: 0, trial-limit: 20s", `
{engine: oci, runtime: runc, client: steps, network: none}
{engine: oci, runtime: crun, client: run, network: none}
{engine: oci, runtime: runsc, network: none}
{engine: docker, client: api, network: none}
{engine: docker, client: cli}
{engine: podman, rootless: no, storage: overlay, network: none}
{engine: podman, rootless: yes, storage: overlay, network: none}
{engine: podman, rootless: no, storage: vfs, client: api}
{engine: podman, rootless: no}
{engine: containerd, client: api}
{engine: containerd, client: cli, network: none}
{engine: nerdctl, network: none}
{engine: cri}
{engine: lxd}
{engine: incus}
{engine: lxc, network: none}
{engine: lxc, network: none, storage: overlay}
{engine: charliecloud, storage: squashfs}
{engine: apptainer, rootless: no}
{engine: apptainer, rootless: yes, storage: sandbox}
{engine: bubblewrap}
{engine: nspawn}
`, ""},
	{"density", "{name: density, parameters: {count: 8, rest: 1s}}", "blocks: 6, warmup: 0, trial-limit: 60s, limits: {cpus: none, memory: none}", `
{engine: docker, client: api}
{engine: podman, rootless: no}
{engine: podman, rootless: yes}
{engine: containerd}
{engine: cri}
{engine: oci, runtime: runc}
{engine: lxd}
{engine: incus}
{engine: lxc}
`, ""},
	{"load", "{name: load, parameters: {rate: 5, seconds: 5}}", "blocks: 6, warmup: 0, trial-limit: 60s", `
{engine: docker, client: api, network: none}
{engine: podman, rootless: yes, network: none}
{engine: containerd, network: none}
{engine: oci, runtime: crun, client: steps, network: none}
{engine: bubblewrap, network: none}
{engine: charliecloud}
{engine: apptainer, storage: sandbox}
`, ""},
	{"pull", "pull", "blocks: 20, warmup: 0, trial-limit: 60s", `
{engine: docker, client: api}
{engine: docker, client: cli}
{engine: podman, rootless: no}
{engine: podman, rootless: yes}
{engine: containerd}
{engine: cri}
{engine: lxd}
{engine: apptainer}
{engine: charliecloud}
`, ""},
	{"private", "hello", "blocks: 40, warmup: 0, trial-limit: 20s", `
{engine: docker, storage: vfs}
{engine: docker, storage: btrfs, network: none}
{engine: docker, rootless: yes, network: none}
{engine: containerd, storage: native}
{engine: containerd, storage: btrfs}
{engine: podman, storage: btrfs, rootless: no, network: none}
{engine: podman, storage: fuse-overlayfs, rootless: yes, network: none}
`, ""},
	{name: "commands", arguments: `
ablate docker --mechanism network --blocks 8 --force -d OUT
ablate podman network=none --blocks 8 --force -d OUT
ablate containerd --mechanism network,seccomp --blocks 8 --force -d OUT
explain docker --starts 40 --keep OUT
explain podman --starts 40 --keep OUT
explain cri --starts 40 --keep OUT
explain oci runtime=crun --starts 200 --keep OUT
ab crun crun COPY --blocks 60 --force -d OUT
ab crun crun COPY --engine podman network=none --blocks 30 --force -d OUT
features docker
features podman
features containerd
run quick --tuned --engine oci,docker --blocks 40 --force -o OUT
run quick --tuned --engine podman --blocks 40 --force -o OUT
run quick --engine native,oci --blocks 400 --force -o OUT
`}}

// TestKilledEverywhere kills runs of all engines and protocols by SIGKILL: the
// program, its launcher or the whole process group, at moments drawn from a
// seed that is logged. Whatever comes next, no finished trial is lost, nothing
// of the run is left, and what is a user's is there.
func TestKilledEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some ten seconds a kill: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("most engines need root")
	}
	c := newCampaign(t)
	for i := range *killTimes {
		c.round(*killFirst + i)
		if t.Failed() || i%10 == 9 {
			c.flock.Check()
		}
		if t.Failed() {
			t.Fatalf("stopped after the round that failed; again: -kills 1 -killseed %d -killfirst %d", *killSeed, *killFirst+i)
		}
	}
	if long() {
		c.whole()
	}
	c.flock.Check()
	t.Logf("%d kills, seed %d: %s; %d canaries, and at most %d that looked like a killed run's", *killTimes, *killSeed, c.tally(), c.flock.Count(), c.likest)
}

// whole runs commands to their end among the canaries; the last one empties the store of
// images.
func (c *campaign) whole() {
	c.t.Helper()
	for i, command := range []string{
		"run quick --engine oci,podman,docker --blocks 2 --force -o OUT",
		"run quick --tuned --engine oci --blocks 2 --force -o OUT",
		"ablate oci runtime=crun network=none --blocks 3 --force -d OUT",
		"ab crun crun COPY --blocks 10 --force -d OUT",
		"features docker",
		"selftest --blocks 20",
		"clean --images",
	} {
		args := strings.Fields(strings.NewReplacer("OUT", filepath.Join(c.dir, fmt.Sprint("whole-", i)), "COPY", c.copyOf("crun")).Replace(command))
		args = append(args, "--wait")
		if args[0] != "clean" {
			args = append(args, "--progress", "none")
		}
		// A machine that others keep busy may fail a selftest, and a gate.
		if code, said := c.run(args...); code != 0 && args[0] != "selftest" && args[0] != "ab" {
			c.t.Errorf("%s: status %d\n%s", command, code, said)
		}
		c.flock.Check()
		if changed := stillChanged(c.t, c.text); len(changed) > 0 {
			c.t.Errorf("%s: the machine is not as it was:\n%s", command, strings.Join(changed, "\n"))
		}
	}
	if n := c.flock.Count() + c.likest; c.flock.Complete() && n < 140 {
		c.t.Errorf("%d canaries were planted, expected at least 140", n)
	}
}

// TestKilledPodman kills runs of Podman as root, which forgets a container while its
// runtime is still making the control groups: none of these is left.
func TestKilledPodman(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some ten seconds a kill: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("Podman makes control groups by itself for root only")
	}
	c := newCampaign(t)
	podman := protocols[0]
	podman.environments = `
{engine: podman, rootless: no, storage: overlay, network: none}
{engine: podman, rootless: no, storage: vfs, client: api}
{engine: podman, rootless: no, network: none, client: steps}
{engine: podman, rootless: no}
`
	for i := range max(1, *killTimes/3) {
		n := *killFirst + i
		c.roundOf(n, rand.New(rand.NewPCG(*killSeed, uint64(n))), podman)
		if t.Failed() {
			t.Fatalf("stopped after the round that failed; again: -kills 1 -killseed %d -killfirst %d", *killSeed, n)
		}
	}
	c.flock.Check()
}

// campaign is a series of kills in one state directory.
type campaign struct {
	*subject
	flock  *canary.Flock
	before *host.Census
	text   []string // the machine before the first round
	likest int      // how many canaries at most looked like a killed run's things
	counts map[string]int
}

func newCampaign(t *testing.T) *campaign {
	t.Helper()
	p := &subject{t: t, dir: t.TempDir()}
	require.Reachable(t, p.dir) // for ordinary users' engines
	kit := enginetest.Kit(t)
	c := &campaign{subject: p, counts: map[string]int{}}
	c.flock = canary.Plant(t, kit, record.NewRunID())
	c.flock.State(filepath.Join(p.dir, "state"))
	var err error
	if c.before, err = (host.Machine{}).Census(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.text = machineText(t)
	return c
}

// copyOf returns a copy of a program, which is another build of it.
func (c *campaign) copyOf(name string) string {
	path := filepath.Join(c.dir, name+"-copy")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	program, err := exec.LookPath(name)
	if err != nil {
		return name // the command then says that it is not installed
	}
	data, err := os.ReadFile(program)
	require.NoError(c.t, err)
	require.NoError(c.t, os.WriteFile(path, data, 0o755)) //nolint:gosec // a program
	return path
}

// tally says how often what was done.
func (c *campaign) tally() string {
	var parts []string
	for k, n := range c.counts {
		parts = append(parts, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// round is one kill with what comes after it.
func (c *campaign) round(n int) {
	c.t.Helper()
	chance := rand.New(rand.NewPCG(*killSeed, uint64(n)))
	proto := protocols[chance.IntN(len(protocols))]
	if proto.name == protocols[0].name {
		proto.environments = lives()
	}
	c.roundOf(n, chance, proto)
}

// roundOf is one kill of a run of some of a protocol's environments, or of a command.
func (c *campaign) roundOf(n int, chance *rand.Rand, proto killedProtocol) {
	t := c.t
	t.Helper()
	envs, most := strings.Split(strings.TrimSpace(proto.environments+proto.arguments), "\n"), 3
	if proto.arguments != "" {
		most = 1
	}
	chance.Shuffle(len(envs), func(i, k int) { envs[i], envs[k] = envs[k], envs[i] })
	envs = envs[:min(len(envs), 1+chance.IntN(most))]
	what, next := killed[chance.IntN(len(killed))], afterKill[chance.IntN(len(afterKill))]
	at := time.Duration(chance.Int64N(int64(latest)))
	label := fmt.Sprintf("round %d: %s in %s, %s killed after %v, then %s", n, proto.name, strings.Join(envs, " "), what, at.Round(time.Millisecond), next)

	c.out = filepath.Join(c.dir, fmt.Sprintf("result-%d", n))
	var args []string
	if proto.arguments != "" {
		args = strings.Fields(strings.NewReplacer("OUT", c.out, "COPY", c.copyOf("crun")).Replace(envs[0]))
	} else {
		study := filepath.Join(c.dir, fmt.Sprintf("study-%d.yaml", n))
		text := fmt.Sprintf("plimsoll: 1\nname: killed-%s\nprotocol: {%s}\nworkloads: [%s]\nbaselines: []\nenvironments:\n  - %s\n",
			proto.name, proto.protocol, proto.workload, strings.Join(envs, "\n  - "))
		require.NoError(t, os.WriteFile(study, []byte(text), 0o644))
		args = []string{"run", study, "-o", c.out, "--force"}
	}
	cmd := c.command(append(args, "--wait", "--progress", "none")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said := c.strike(cmd, what, at)
	ids := c.runsUnderWay()
	known := c.trials()
	engines := c.enginesOf()
	t.Logf("%s; %d trials were finished", label, len(known))
	alike := c.alike(ids)
	c.counts[what]++
	c.counts[proto.name]++

	switch {
	case next == "resume" && c.begun():
		code, said := c.resume()
		switch further := len(c.trials()) > len(known); {
		case code != 0 && code != 6 && code != 130:
			t.Errorf("%s: resuming: status %d\n%s", label, code, said)
		case code != 130:
			c.counts["resumed to its end"]++
		case long() && !further:
			t.Errorf("%s: resuming came no further in %v:\n%s", label, resumed(), said)
		}
		fallthrough
	case next != "next run":
		if code, said := c.run("clean", "--wait"); code != 0 {
			t.Errorf("%s: clean: status %d\n%s", label, code, said)
		}
	default:
		after := filepath.Join(c.dir, "next.yaml")
		require.NoError(t, os.WriteFile(after, []byte("plimsoll: 1\nname: next\nprotocol: {blocks: 1, warmup: 0}\nworkloads: [hello]\nenvironments: [host]\n"), 0o644))
		if code, said := c.run("run", "--wait", after, "-o", fmt.Sprintf("%s-next", c.out), "--force", "--progress", "none"); code != 0 {
			t.Errorf("%s: the next run: status %d\n%s", label, code, said)
		}
	}
	alike()
	now := c.trials()
	for seq, line := range known {
		if now[seq] != line {
			t.Errorf("%s: trial %d was finished before the kill and is now %q, not %q", label, seq, now[seq], line)
		}
	}
	c.clean(label, ids, engines)
	changed := stillChanged(t, c.text)
	if i := slices.IndexFunc(changed, nobodysNamespace); i >= 0 {
		t.Logf("%s: Podman was killed before it had written down its namespace: see docs/clean-up.md: %s", label, changed[i])
		changed = slices.DeleteFunc(changed, podmanNetwork.MatchString)
		c.text = machineText(t)
	}
	if len(changed) > 0 {
		t.Errorf("%s: the machine is not as it was:\n%s", label, strings.Join(changed, "\n"))
	}
	if t.Failed() {
		t.Logf("%s: the killed run had said:\n%s", label, said)
	}
}

// alike plants what looks like the last containers of killed runs, by their ledgers.
func (c *campaign) alike(ids []string) (done func()) {
	c.t.Helper()
	var all []func()
	for _, id := range ids {
		dir := run.State{Dir: filepath.Join(c.dir, "state")}.RunDir(id)
		l, err := run.OpenLedger(filepath.Join(dir, "ledger.jsonl"))
		if err != nil {
			c.t.Fatal(err)
		}
		var names []string
		for _, t := range engine.OfKind(l.Left(), engine.KindContainer) {
			names = append(names, t.Name)
		}
		l.Close()
		before := c.flock.Count()
		all = append(all, c.flock.Like(dir, names[max(0, len(names)-2):]...))
		c.likest = max(c.likest, c.flock.Count()-before)
	}
	return func() {
		for _, done := range slices.Backward(all) {
			done()
		}
	}
}

// strike starts the program and kills what is to be killed; a run whose
// launcher was killed goes on, and is told to end.
func (c *campaign) strike(cmd *exec.Cmd, what string, at time.Duration) string {
	c.t.Helper()
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // however it ends
		close(ended)
	}()
	select {
	case <-time.After(at):
	case <-ended:
	}
	switch what {
	case "plimsoll":
		_ = cmd.Process.Kill() // it may have ended
	case "group":
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	case "launcher":
		for _, pid := range childrenOf(cmd.Process.Pid) {
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); strings.HasPrefix(exe, c.dir+"/") {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
		select {
		case <-ended:
		case <-time.After(time.Second):
		}
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(90 * time.Second):
			c.t.Error("a run whose launcher was killed does not end when it is interrupted")
			_ = cmd.Process.Kill()
		}
	}
	<-ended
	return said.String()
}

// resume goes on with the run for a while, and ends it in order.
func (c *campaign) resume() (status int, said string) {
	c.t.Helper()
	var text strings.Builder
	cmd := c.command("run", "--wait", "--resume", c.out, "--force", "--progress", "none")
	cmd.Stderr = &text
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	stop := time.AfterFunc(resumed(), func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer stop.Stop()
	_ = cmd.Wait() // the status says it
	return cmd.ProcessState.ExitCode(), text.String()
}

// resumed is how long a resumed run goes on before it is told to end.
func resumed() time.Duration {
	if long() {
		return 3 * latest
	}
	return latest
}

// long says whether the campaign is the one of `make test-kill`.
func long() bool { return *killTimes >= 20 }

func childrenOf(pid int) []int {
	var all []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for s := range strings.FieldsSeq(string(b)) {
			if n, err := strconv.Atoi(s); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// runsUnderWay are the ids of runs whose folders are there.
func (c *campaign) runsUnderWay() []string {
	left, err := run.State{Dir: filepath.Join(c.dir, "state")}.Abandoned()
	if err != nil {
		c.t.Fatal(err)
	}
	var ids []string
	for _, o := range left {
		ids = append(ids, o.RunID)
	}
	return ids
}

// enginesOf are the engines of the record.
func (c *campaign) enginesOf() []string {
	if !c.begun() {
		return nil
	}
	r, err := record.Open(c.out)
	if err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, e := range r.Run().Environments {
		names = append(names, e.Engine)
	}
	return names
}

// clean demands that nothing of the runs is left, on the machine, in their
// engines, or in the state. It reports whether Podman left a network namespace that
// nothing proves to be the run's.
func (c *campaign) clean(label string, ids, engines []string) {
	c.t.Helper()
	if left := c.runsUnderWay(); len(left) > 0 {
		c.t.Errorf("%s: left behind: the folders of the runs %v", label, left)
	}
	now, err := host.Machine{}.Census(context.Background())
	if err != nil {
		c.t.Fatal(err)
	}
	kit := c.kit()
	for _, id := range ids {
		for _, it := range now.Since(c.before).Ours(host.Marks{RunID: id, Dir: filepath.Join(c.dir, "state", "runs", id), Helpers: helpers()}) {
			if strings.Contains(it.Detail, "not yet reaped by its parent 1") {
				continue // it has ended, and the rest is init's
			}
			c.t.Errorf("%s: left behind: %s", label, it)
		}
		for _, path := range namedFiles(kit, id) {
			c.t.Errorf("%s: left behind: %s", label, path)
		}
		for _, e := range c.all() {
			b, ok := e.(engine.Bearer)
			if !ok || !slices.Contains(engines, e.Info().Name) {
				continue
			}
			left, err := b.Bearing(context.Background(), kit, id)
			if err != nil {
				c.t.Errorf("%s: %s: %v", label, e.Info().Name, err)
			}
			for _, l := range left {
				c.t.Errorf("%s: left behind: %s", label, l)
			}
		}
	}
}

// podmanNamespace is a network namespace as Podman makes them, or a file that is to become
// one, in a changed text.
var podmanNamespace = regexp.MustCompile(`^\+ netns (.*/netns/netns-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}) $`)

// podmanNetwork is what such a namespace keeps: its mount, and with its link Podman's bridge
// and the rules for that.
var podmanNetwork = regexp.MustCompile(`/netns(/netns-|$)|cni|podman|veth|NETAVARK|10\.88\.|ff00::/8|fe80::`)

// nobodysNamespace returns whether a changed line is a namespace of Podman's, and no process
// is in it. That those which Podman has written down go is tested with its adapter.
func nobodysNamespace(changed string) bool {
	var file, of unix.Stat_t
	m := podmanNamespace.FindStringSubmatch(changed)
	if m == nil || unix.Stat(m[1], &file) != nil {
		return false
	}
	return !slices.ContainsFunc(proc.Here.PIDs(), func(pid int) bool {
		return unix.Stat(fmt.Sprintf("/proc/%d/ns/net", pid), &of) == nil && of.Dev == file.Dev && of.Ino == file.Ino
	})
}

func (c *campaign) setting() *setting {
	s, err := newSetting(c.world())
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *campaign) kit() *engine.Kit     { return c.setting().detectKit() }
func (c *campaign) all() []engine.Engine { return c.setting().engines }

// namedFiles are what bears a run's id where engines and Plimsoll put files
// outside of the run's folder.
func namedFiles(kit *engine.Kit, id string) []string {
	var found []string
	dirs := []string{os.TempDir(), "/run", "/run/*", "/run/netns", "/run/systemd/nspawn/*", "/var/lib/lxc", "/dev/shm", "/run/lxc/lock/*"}
	if kit.User != nil {
		dirs = append(dirs, kit.User.RuntimeDir, kit.User.RuntimeDir+"/*")
	}
	for _, d := range dirs {
		got, _ := filepath.Glob(filepath.Join(d, "*"+id+"*"))
		found = append(found, got...)
	}
	return found
}
