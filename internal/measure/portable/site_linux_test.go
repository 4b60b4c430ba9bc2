//go:build !unit

package portable

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/portable/portabletest"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// farDaemon is a dockerd in network and mount namespaces of its own, which this
// machine reaches by TCP with TLS over a pair of virtual interfaces; its Unix socket is
// for the full half.
type farDaemon struct {
	socket string // "" has none
	tcp    Address
	certs  string // the folder of the client's
}

// startFar makes one, which goes with the test; without the socket nothing but TCP with
// TLS leads to it.
func startFar(t *testing.T, socket bool) farDaemon {
	t.Helper()
	if os.Getenv("PLIMSOLL_SITE") != "1" {
		t.Skip("takes minutes: make test-site runs it")
	}
	if os.Geteuid() != 0 {
		t.Skip("a private dockerd needs root")
	}
	for _, name := range []string{"dockerd", "unshare", "ip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir, err := os.MkdirTemp("", "plimsoll-far-")
	require.NoError(t, err)
	subnet := fmt.Sprintf("169.254.%d", 100+rand.IntN(100))
	here, there := subnet+".1", subnet+".2"
	a, err := portabletest.NewAuthority()
	if err == nil {
		err = errors.Join(a.Issue(dir+"/server", there, x509.ExtKeyUsageServerAuth), a.Issue(dir+"/client", "a client", x509.ExtKeyUsageClientAuth))
	}
	log, lerr := os.Create(dir + "/log")
	if err = errors.Join(err, lerr); err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	f := farDaemon{certs: dir + "/client", tcp: Address{Engine: Docker, Host: "tcp://" + there + ":2376", From: "the test", TLS: tlsIn(dir + "/client")}}
	// It waits for its interface, and then becomes the daemon, whose pid it has.
	script := `ip link set lo up; while ! ip link set far up 2>/dev/null; do sleep 0.02; done; ip addr add ` + there + `/30 dev far; exec dockerd "$@"`
	cmd := exec.Command("unshare", "--net", "--mount", "sh", "-c", script, "dockerd", "--data-root", dir+"/root", "--exec-root", dir+"/exec",
		"--pidfile", dir+"/pid", "--bridge", "none", "--iptables=false", "--ip-forward=false", "--host", "tcp://"+there+":2376",
		"--tlsverify", "--tlscacert", dir+"/server/ca.pem", "--tlscert", dir+"/server/cert.pem", "--tlskey", dir+"/server/key.pem")
	if socket {
		f.socket = "unix://" + dir + "/docker.sock"
		cmd.Args = append(cmd.Args, "--host", f.socket)
	}
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // its status says nothing; its namespace takes the interfaces with it
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the daemon's directory: %v", err)
		}
	})
	name := fmt.Sprintf("plim%d", cmd.Process.Pid)
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) { // unshare has not got to it yet, at first
		ours, _ := os.Readlink("/proc/self/ns/net")
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", cmd.Process.Pid)); err == nil && ns != ours {
			break
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatal("unshare made no namespace")
		}
	}
	for _, args := range [][]string{
		{"link", "add", name, "type", "veth", "peer", "name", "far", "netns", fmt.Sprint(cmd.Process.Pid)},
		{"addr", "add", here + "/30", "dev", name}, {"link", "set", name, "up"},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
	}
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		d, err := f.tcp.Connect("")
		if err == nil {
			err = errors.Join(d.Greet(t.Context()), d.Close())
		}
		if err == nil {
			return f
		}
		if time.Since(begin) > time.Minute {
			text, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("the daemon did not come up: %v: %s", err, text)
		}
	}
}

// The same daemon, measured by both halves in turn: start-up and whole are the same to
// five in a hundred, by the whole of their intervals. A proved difference fails; where the
// machine scatters too much to tell, that is no pass: it is said, with the intervals.
func TestSiteBothHalvesAgree(t *testing.T) {
	far := startFar(t, true)
	kit := enginetest.Kit(t)
	kit.Getenv = func(name string) string {
		if name == "DOCKER_HOST" {
			return far.socket
		}
		return os.Getenv(name)
	}
	spec := engine.Spec{ID: "far", Levels: map[string]string{engine.Network: "none"}}
	full, err := docker.New().Open(t.Context(), kit, spec)
	require.NoError(t, err)
	defer func() {
		if err := full.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	id := record.NewRunID()
	ledger, err := NewLedger(t.TempDir(), id)
	require.NoError(t, err)
	d, err := far.tcp.Connect(id)
	if err == nil {
		err = d.Greet(t.Context())
	}
	require.NoError(t, err)
	defer d.Close()
	images := &Images{RunID: id}
	tag := images.tag(payloadImage)
	img, err := images.get(t.Context(), payloadImage)
	if err == nil {
		err = d.load(t.Context(), img, tag)
	}
	require.NoError(t, err)
	defer func() {
		if err := errors.Join(d.removeImage(context.Background(), tag), ledger.Close()); err != nil {
			t.Error(err)
		}
	}()
	api := &byAPI{d: d, ledger: ledger, settings: settingsFor(spec, id, tag)}
	halves := []func(context.Context, engine.Task) (engine.Result, error){full.Run, api.run}
	logs := map[string][]float64{}
	n := 0
	for begin := time.Now(); n < 100 && (n < 12 || time.Since(begin) < 80*time.Second); n++ {
		var times [2]map[string]float64
		for _, half := range rand.Perm(2) {
			time.Sleep(50 * time.Millisecond) // alike before both, whatever the other still asked
			word := newWord()
			task := engine.Task{Name: fmt.Sprintf("plimsoll-%s-%d-%d", id, n, half), Argv: probe.PayloadArgs{Word: word}.Argv(image.ProbePath), Limit: time.Minute}
			res, err := halves[half](t.Context(), task)
			if err == nil && res.Failure != nil {
				err = errors.New(res.Failure.Text)
			}
			if err == nil {
				_, err = probe.ParsePayload(res.Stdout, word)
			}
			if err != nil {
				t.Fatalf("half %d, trial %d: %v", half, n, err)
			}
			ev := res.Events
			times[half] = map[string]float64{"startup": float64(ev[record.Ready] - ev[record.Request]), "whole": float64(ev[record.Removed] - ev[record.Request])}
		}
		if n >= 2 { // the first two warm up
			for metric, v := range times[1] {
				logs[metric] = append(logs[metric], math.Log(v/times[0][metric]))
			}
		}
	}
	bound, open := math.Log(1.05), []string(nil)
	for _, metric := range []string{"startup", "whole"} {
		d := logs[metric]
		middle, at95, ok := stats.PseudoMedian(d, 0.95)
		_, sure, ok2 := stats.PseudoMedian(d, 0.999)
		if !ok || !ok2 {
			t.Fatalf("%s: %d pairs give no interval", metric, len(d))
		}
		found := fmt.Sprintf("%s, portable to full, %d pairs: %.4f [%.4f, %.4f]", metric, len(d), math.Exp(middle), math.Exp(at95.Lo), math.Exp(at95.Hi))
		t.Log(found)
		switch {
		case sure.Lo > bound || sure.Hi < -bound:
			t.Errorf("%s: the halves differ by more than 5 %%: %.4f [%.4f, %.4f]", metric, math.Exp(middle), math.Exp(sure.Lo), math.Exp(sure.Hi))
		case at95.Lo < -bound || at95.Hi > bound:
			open = append(open, found)
		}
	}
	if len(open) > 0 && !t.Failed() {
		t.Skipf("that the halves agree to 5 %% is not shown on a machine that scatters so much: %s", strings.Join(open, "; "))
	}
}
