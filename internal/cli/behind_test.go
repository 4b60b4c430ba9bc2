package cli

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
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

// overTCP serves a socket by TCP and says where in a variable: without encryption, or by
// TLS with a client's certificates in a folder.
func overTCP(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: overtcp NAME SOCKET [CERTIFICATES]")
	}
	socket := ts.MkAbs(args[1])
	var l net.Listener
	if len(args) == 3 {
		a, err := portabletest.NewAuthority()
		ts.Check(err)
		l, err = portabletest.BehindTLS(ts.MkAbs(args[2]+"-server"), socket, a)
		ts.Check(err)
		ts.Check(a.Issue(ts.MkAbs(args[2]), "a client", x509.ExtKeyUsageClientAuth))
	} else {
		var err error
		l, err = net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		go portabletest.Relay(l, socket)
	}
	ts.Defer(func() { _ = l.Close() }) // the script has ended
	ts.Setenv(args[0], "tcp://"+l.Addr().String())
}

// service starts Podman's service at a socket, or at a port of loopback that a variable then
// names, with the script's environment, for as long as the script runs.
func service(ts *testscript.TestScript, neg bool, args []string) {
	network, path := "unix", ""
	switch {
	case !neg && len(args) == 1:
		path = ts.MkAbs(args[0])
	case !neg && len(args) == 2 && args[0] == "--tcp":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		network, path = "tcp", l.Addr().String()
		ts.Check(l.Close())
		ts.Setenv(args[1], "tcp://"+path)
	default:
		ts.Fatalf("usage: service SOCKET, or service --tcp NAME")
	}
	cmd := exec.Command("podman", "system", "service", "--time=0", network+"://"+path)
	cmd.Env = append(scriptEnv(ts), "CONTAINERS_CONF="+ts.Getenv("CONTAINERS_CONF"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill() // one that has ended is as good
		<-ended
	})
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial(network, path); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-ended:
			ts.Fatalf("podman system service has ended: %s", said.String())
		default:
		}
		if time.Since(begin) > time.Minute {
			ts.Fatalf("podman system service does not answer")
		}
	}
}

// nothingOf fails where Docker, or the engine that is named, has a container or an
// image of a record's run.
func nothingOf(ts *testscript.TestScript, neg bool, args []string) {
	program := "docker"
	if len(args) == 3 && args[0] == "--engine" {
		program, args = args[1], args[2:]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: nothingof [--engine PROGRAM] RECORD")
	}
	r, err := record.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	label := "label=" + engine.Label + "=" + r.Run().ID
	for _, what := range []string{"container ls --all", "image ls"} {
		cmd := exec.Command(program, append(strings.Fields(what), "--quiet", "--filter", label)...)
		cmd.Env = append(scriptEnv(ts), "DOCKER_CONTEXT=default")
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) > 0 {
			ts.Fatalf("%s %s --filter %s: %v: %s", program, what, label, err, out)
		}
	}
}

// groupsGone fails where a run of a script has left a control group: engines make some
// beside the containers that they list.
func groupsGone(env *testscript.Env) {
	err := filepath.WalkDir(env.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "run.json" {
			return nil //nolint:nilerr // what can't be read is no record of the script's
		}
		r, err := record.Open(filepath.Dir(path))
		if err != nil || !record.IsRunID(r.Run().ID) {
			return nil //nolint:nilerr // likewise
		}
		left, err := cgroup.Bearing(r.Run().ID)
		if len(left) > 0 {
			err = fmt.Errorf("left by %s: %v", path, left)
		}
		return err
	})
	if err != nil {
		env.T().Fatal(err)
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
