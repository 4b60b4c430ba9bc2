package cli

import (
	"fmt"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/portable/portabletest"
	"plimsoll/internal/record"
)

// behind puts the lab's Docker daemon behind TCP with TLS, where the Docker context
// lab of $DOCKER_CONFIG leads; the context stranger has a certificate of nobody's.
func behind(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: behind")
	}
	a, err := portabletest.NewAuthority()
	ts.Check(err)
	other, err := portabletest.NewAuthority()
	ts.Check(err)
	l, err := portabletest.BehindTLS(ts.MkAbs("server"), "/var/run/docker.sock", a)
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() }) // the script has ended
	config := ts.Getenv("DOCKER_CONFIG")
	ts.Check(portabletest.WriteContext(config, "stranger", "tcp://"+l.Addr().String(), other))
	ts.Check(portabletest.WriteContext(config, "lab", "tcp://"+l.Addr().String(), a))
}

// nothingOf fails where Docker has a container or an image of a record's run.
func nothingOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nothingof RECORD")
	}
	r, err := record.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	label := "label=" + engine.Label + "=" + r.Run().ID
	for _, what := range []string{"container ls --all", "image ls"} {
		cmd := exec.Command("docker", append(strings.Fields(what), "--quiet", "--filter", label)...)
		cmd.Env = append(scriptEnv(ts), "DOCKER_CONTEXT=default")
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) > 0 {
			ts.Fatalf("docker %s --filter %s: %v: %s", what, label, err, out)
		}
	}
}

// killHeld starts a program that makes a record, and kills it when a container of its
// run is there and runs, so that nothing is asked for at that moment.
func killHeld(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killheld RECORD PROGRAM ARGS…")
	}
	killOnce(ts, args[1:], "it had a container", func() (bool, error) {
		r, err := record.Open(ts.MkAbs(args[0]))
		if err != nil {
			return false, nil //nolint:nilerr // it has not begun
		}
		ls := exec.Command("docker", "container", "ls", "--quiet", "--filter", "status=running", "--filter", "label="+engine.Label+"="+r.Run().ID)
		ls.Env = append(scriptEnv(ts), "DOCKER_CONTEXT=default")
		out, err := ls.CombinedOutput()
		if err != nil {
			return false, fmt.Errorf("docker container ls: %w: %s", err, out)
		}
		return len(out) > 0, nil
	})
}
