package features

import (
	"context"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
)

// secretText is what a secret holds.
const secretText = "kept-secret"

// swarm starts a private daemon in swarm mode with a service of two containers
// that has a secret: the user's daemon is not reconfigured. The result is what
// one of the containers reads as its secret.
func (t *try) swarm() string {
	return once(t, "swarm", func(t *try) string {
		if !t.b.kit.Root {
			t.untried("a private daemon, since the user's is not reconfigured, needs root")
		}
		env, err := t.b.engine.Open(t.ctx, t.b.kit, engine.Spec{ID: "features-swarm", Levels: map[string]string{
			engine.Storage: "vfs", engine.Network: "none", engine.Client: "api"}})
		t.need("starting a private daemon, since the user's is not reconfigured", err)
		t.later(func(ctx context.Context) { _ = env.Close(ctx) }) // what it leaves is found by the sweep
		d, ok := env.(engine.Daemons)
		if !ok {
			t.untried("the private daemon does not tell its socket")
		}
		sockets, _ := d.Daemons(t.ctx)
		if len(sockets) == 0 || !strings.HasPrefix(sockets[0], t.b.kit.Dir+"/") {
			t.untried("the daemon is not a private one, and the user's is not reconfigured")
		}
		program := []string{"docker", "--host", "unix://" + sockets[0]}
		cmd := func(args ...string) []string { return append(program[:len(program):len(program)], args...) }

		tag := t.b.tag("service")
		t.must(cmd("load", "--quiet", "--input", t.plainSample().dockerArchive(t, tag))...)
		t.asked(cmd("swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1:2377")...)
		t.clean(cmd("swarm", "leave", "--force"))
		secret, service := t.b.unique(), t.b.unique()
		t.asked(cmd("secret", "create", secret, t.file("secret", secretText))...)
		t.asked(cmd("service", "create", "--quiet", "--detach", "--name", service, "--replicas", "2", "--network", "host",
			"--secret", secret, "--no-resolve-image", tag, "sleep", "3600")...)
		t.clean(cmd("service", "rm", service))
		up := ""
		for deadline := time.Now().Add(child.Stretch(commandLimit)); !strings.HasPrefix(up, "2/2") && time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
			up = t.b.command(t.ctx, t.b.env, nil, cmd("service", "ls", "--format", "{{.Replicas}}")).out
		}
		t.must(cmd("service", "ps", service, "--format", "{{.Name}} {{.CurrentState}} {{.Error}}")...)
		if !strings.HasPrefix(up, "2/2") {
			t.untried("the service did not come up: %s of its containers run", strings.TrimSpace(up))
		}
		one, _, _ := strings.Cut(t.must(cmd("ps", "--quiet")...), "\n")
		return t.run(cmd("exec", one, "cat", "/run/secrets/"+secret)...).out
	})
}
