package nerdctl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/engine/wrap"
	"plimsoll/internal/probe"
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
	return clirun.As(probe.Command{Argv: c.argv(args...), Dir: "/"}, nil, kit)
}

// output runs nerdctl beside the trials.
func (c *client) output(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	argv := c.argv(args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = []string{clirun.Path, "HOME=/root"}, "/"
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("nerdctl %s: %w: %s", args[0], err, clirun.Words(errs.Bytes()))
	}
	return out.Bytes(), nil
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

// clear removes everything of the namespace, then the namespace and its control
// group. Its snapshots and blobs go with containerd's collector.
func (c *client) clear(ctx context.Context) error {
	names, err := c.containers(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, c.removeContainer(ctx, name))
	}
	endShims(c.namespace)
	ids, err := c.output(ctx, "images", "--quiet")
	errs = append(errs, err)
	for _, id := range unique(strings.Fields(string(ids))) {
		_, err := c.output(ctx, "rmi", "--force", id)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		_, err = c.output(ctx, "namespace", "remove", c.namespace)
		if err == nil || strings.Contains(err.Error(), "not found") {
			// On cgroup v1 the containers' groups lie in one of the namespace's
			// name, which nobody else removes.
			return wrap.RemoveNamed(ctx, c.namespace)
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
	}
}

// endShims ends the shims of a namespace whose containers are gone. containerd
// leaves one behind where a client was killed while a task was being made.
func endShims(namespace string) {
	mark := []byte("\x00-namespace\x00" + namespace + "\x00")
	ours := func(line []byte) bool {
		return bytes.Contains(line, mark) && bytes.Contains(line, []byte("containerd-shim"))
	}
	for pid, line := range clirun.CommandLines() {
		if !ours(line) {
			continue
		}
		p, err := os.FindProcess(pid) // by a pidfd, so that it can't become another one
		if err != nil {
			continue
		}
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && ours(line) {
			_ = p.Kill() // where it has not ended
		}
		_ = p.Release()
	}
}

func unique(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
