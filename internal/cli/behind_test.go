package cli

import (
	"os/exec"
	"strings"
	"time"

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
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), scriptEnv(ts)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			ts.Fatalf("it ended before it had a container: %v: %s", err, said.String())
		case <-time.After(50 * time.Millisecond):
		}
		r, err := record.Open(ts.MkAbs(args[0]))
		if err != nil {
			continue // it has not begun
		}
		ls := exec.Command("docker", "container", "ls", "--quiet", "--filter", "status=running", "--filter", "label="+engine.Label+"="+r.Run().ID)
		ls.Env = append(scriptEnv(ts), "DOCKER_CONTEXT=default")
		out, err := ls.CombinedOutput()
		if err != nil {
			_ = cmd.Process.Kill()
			ts.Fatalf("docker container ls: %v: %s", err, out)
		}
		if len(out) > 0 {
			ts.Check(cmd.Process.Kill())
			<-ended
			return
		}
	}
}
