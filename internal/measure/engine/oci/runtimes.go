package oci

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// program is one OCI runtime: how its command line differs from the others'.
type program struct {
	name string
	fix  string // how to install it
	// usable says why it can't be used on this machine although it is there.
	usable func() (reason, fix string)
	// noRun says why this version can't be used with client=run.
	noRun func(version string) string
	// global are its flags before the verb.
	global func(o global) []string
}

// global is what global flags depend on.
type global struct {
	root     string // state directory
	hostNet  bool
	platform string // runsc only
	noCgroup bool   // crun only
}

// programs are the runtimes that are known, in the order of preference for
// the level "default".
var programs = []program{
	{name: "runc", fix: "apt-get install runc", global: func(o global) []string { return []string{"--root", o.root} }},
	{name: "crun", fix: "apt-get install crun", usable: crunUsable,
		global: func(o global) []string {
			if o.noCgroup {
				return []string{"--root", o.root, "--cgroup-manager=disabled"}
			}
			return []string{"--root", o.root}
		}},
	{name: "youki", fix: "cargo install youki --locked --features v1,v2,systemd,seccomp", noRun: youkiRun,
		global: func(o global) []string { return []string{"--root", o.root} }},
	{name: "runsc", fix: "apt-get install runsc", global: func(o global) []string {
		network := "none"
		if o.hostNet {
			network = "host"
		}
		return []string{"--root=" + o.root, "--platform=" + o.platform, "--network=" + network}
	}},
}

// programNamed returns the program of a level, the zero value of an unknown one.
func programNamed(name string) program {
	if name == engine.DefaultLevel {
		return programs[0]
	}
	for _, p := range programs {
		if p.name == name {
			return p
		}
	}
	return program{}
}

// youkiRun: up to 0.7 `youki run` does not see the end of a container that
// ends at once, and waits for ever.
func youkiRun(version string) string {
	for _, old := range []string{"0.0.", "0.1.", "0.2.", "0.3.", "0.4.", "0.5.", "0.6.", "0.7."} {
		if strings.HasPrefix(version, old) {
			return fmt.Sprintf("youki %s hangs in run when a container ends at once; client=steps works", version)
		}
	}
	return ""
}

// toolLimit bounds the calls that are not measured.
const toolLimit = engine.DetectLimit

// tool runs a command of the runtime that is not measured.
func tool(ctx context.Context, path string, args ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: append([]string{path}, args...), Env: []string{"PATH=" + os.Getenv("PATH")},
		Limit: toolLimit, Together: true})
	said := string(out.Stdout)
	if err != nil {
		return said, fmt.Errorf("%s %s: %w: %s", filepath.Base(path), strings.Join(args, " "), err, strings.TrimSpace(said))
	}
	return said, nil
}

var versionNumber = regexp.MustCompile(`\d+\.\d+[\w.+~-]*`)

// version asks the runtime for its own, and whether it is the one that it is
// called.
func (p program) version(ctx context.Context, path string) (string, error) {
	out, err := tool(ctx, path, "--version")
	if err != nil {
		return "", err
	}
	name, _ := adapter.ParseItself(out)
	if err := (adapter.Itself{Path: path, Program: name}).Wrong(p.name, ""); err != nil {
		return "", err
	}
	return parseVersion(path, out)
}

// parseVersion reads the first line; further ones are of other things, such as
// the specification. A runtime that was built without its number says a word.
func parseVersion(path, out string) (string, error) {
	line, _, _ := strings.Cut(out, "\n")
	if v := versionNumber.FindString(line); v != "" {
		return v, nil
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return "", fmt.Errorf("%s --version prints no version: %q", path, out)
	}
	return words[len(words)-1], nil
}

// platforms are runsc's platforms that need no virtual machine and that this
// version knows, the better one first: systrap replaced ptrace in 2023.
func platforms(ctx context.Context, path string) ([]string, error) {
	out, err := tool(ctx, path, "flags")
	if err != nil {
		return nil, err
	}
	known := parsePlatforms(out)
	if known == nil {
		return nil, fmt.Errorf("%s flags names neither systrap nor ptrace as a platform", path)
	}
	return known, nil
}

func parsePlatforms(flags string) []string {
	_, text, ok := strings.Cut(flags, "which platform to use:")
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n")
	var known []string
	for _, p := range []string{"systrap", "ptrace"} {
		if strings.Contains(text, p) {
			known = append(known, p)
		}
	}
	return known
}

// crunUsable: crun refuses a machine where v1 hierarchies lie beside a cgroup2
// mount that still has controllers. It says so within milliseconds, which is
// easily taken for a fast start.
func crunUsable() (reason, fix string) {
	return hybridTrap("/sys/fs/cgroup")
}

func hybridTrap(top string) (reason, fix string) {
	text, err := os.ReadFile(filepath.Join(top, "unified", "cgroup.controllers"))
	left := strings.Fields(string(text))
	if err != nil || len(left) == 0 {
		return "", ""
	}
	var cmds []string
	for _, c := range left {
		dir := filepath.Join(top, c)
		cmds = append(cmds, fmt.Sprintf("mkdir -p %s && mount -t cgroup -o %s none %s", dir, c, dir))
	}
	return fmt.Sprintf("crun does not support cgroups in hybrid mode while controllers are left on the cgroup2 mount (here: %s)",
		strings.Join(left, ", ")), strings.Join(cmds, " && ")
}
