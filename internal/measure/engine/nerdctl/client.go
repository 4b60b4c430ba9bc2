package nerdctl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
)

// client is nerdctl on one containerd, in the run's namespace.
type client struct {
	path, socket string
	namespace    string
	data         string // nerdctl's own directory
	cni          string // where the CNI plug-ins are
}

// namespacePrefix begins the names of our namespaces in containerd.
const namespacePrefix = "plimsoll-nerdctl-"

// commandLimit bounds every command beside the trials.
const commandLimit = 60 * time.Second

func newClient(kit *engine.Kit, path, socket string) *client {
	c := &client{path: path, socket: socket, namespace: namespacePrefix + kit.RunID, data: filepath.Join(kit.Dir, "nerdctl")}
	dirs := []string{"/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"}
	if own := kit.Getenv("CNI_PATH"); own != "" {
		dirs = append([]string{own}, dirs...)
	}
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "bridge")); err == nil {
			c.cni = d
			break
		}
	}
	return c
}

func (c *client) argv(args ...string) []string {
	argv := []string{c.path, "--address", c.socket, "--namespace", c.namespace, "--data-root", c.data}
	if c.cni != "" {
		argv = append(argv, "--cni-path", c.cni)
	}
	return append(argv, args...)
}

// command is nerdctl for the launcher.
func (c *client) command(kit *engine.Kit, args ...string) probe.Command {
	return adapter.As(probe.Command{Argv: c.argv(args...), Dir: "/"}, nil, kit)
}

// output runs nerdctl beside the trials.
func (c *client) output(ctx context.Context, args ...string) ([]byte, error) {
	out, err := child.Run(ctx, child.Command{Argv: c.argv(args...), Env: []string{adapter.Path, "HOME=/root"}, Dir: "/",
		Limit: commandLimit, Leaves: true}) // the loggers of containers inherit our pipes
	if err != nil {
		return nil, fmt.Errorf("nerdctl %s: %w: %s", args[0], err, adapter.Words(out.Stderr))
	}
	return out.Stdout, nil
}

// containers lists the names of the namespace's containers.
func (c *client) containers(ctx context.Context) ([]string, error) {
	out, err := c.output(ctx, "ps", "--all", "--format", "{{.Names}}")
	return strings.Fields(string(out)), err
}

// removeContainer kills and removes a container; one that is not there is gone.
func (c *client) removeContainer(ctx context.Context, name string) error {
	_, err := c.output(ctx, "rm", "--force", "--volumes", name)
	if err != nil && strings.Contains(err.Error(), "no such container") {
		return nil
	}
	return err
}
