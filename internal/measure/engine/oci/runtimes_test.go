package oci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

func TestHybridTrap(t *testing.T) {
	top := t.TempDir()
	if why, _ := hybridTrap(top); why != "" {
		t.Errorf("without a cgroup2 mount beside v1: %q", why)
	}
	file := filepath.Join(top, "unified", "cgroup.controllers")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	for text, want := range map[string][]string{"": nil, "\n": nil, "hugetlb\n": {"hugetlb"}, "rdma misc\n": {"rdma", "misc"}} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		why, fix := hybridTrap(top)
		if (why != "") != (want != nil) || (fix != "") != (want != nil) {
			t.Errorf("%q: reason %q, fix %q", text, why, fix)
		}
		for _, c := range want {
			if !strings.Contains(fix, "mount -t cgroup -o "+c+" none "+filepath.Join(top, c)) {
				t.Errorf("%q: the fix does not mount %s: %s", text, c, fix)
			}
		}
	}
}

func TestParsePlatforms(t *testing.T) {
	for in, want := range map[string][]string{
		"  -platform string\n    \tspecifies which platform to use: ptrace (default), kvm. (default \"ptrace\")\n": {"ptrace"},
		"  -platform string\n    \tspecifies which platform to use: systrap (default), ptrace, kvm.\n":             {"systrap", "ptrace"},
		"nothing about it": nil,
	} {
		if got := parsePlatforms(in); !slices.Equal(got, want) {
			t.Errorf("parsePlatforms(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	b := bundle{root: "/r", argv: []string{"/x"}, hostname: "h", hostNet: true}
	c := b.config()
	for _, ns := range c.Linux.Namespaces {
		if ns.Type == "network" {
			t.Error("with the host's network there is a network namespace")
		}
	}
	if c.Process.Rlimits != nil || c.Linux.Seccomp != nil {
		t.Error("a bare runtime's bundle has what belongs to a manager")
	}
	if r := c.Linux.Resources; r.CPU != nil || r.Memory != nil {
		t.Error("limits were set though none were asked for")
	}
	b.limits.CPUs, b.limits.MemoryBytes = 1.5, 1<<20
	r := b.config().Linux.Resources
	if *r.CPU.Quota != 150_000 || *r.CPU.Period != 100_000 || *r.Memory.Limit != 1<<20 {
		t.Errorf("limits %d/%d, %d", *r.CPU.Quota, *r.CPU.Period, *r.Memory.Limit)
	}
}

func TestParseVersion(t *testing.T) {
	for out, want := range map[string]string{
		"runc version 1.1.5+ds1\ncommit: x\nspec: 1.0.2-dev\ngo: go1.19.8\n": "1.1.5+ds1",
		"crun version 1.8.1\ncommit: f8a0\n":                                 "1.8.1",
		"youki version: 0.7.0\ncommit: 0.7.0\n":                              "0.7.0",
		"runsc version release-20221212.0\nspec: 1.0.2\n":                    "20221212.0",
		// What `go install` makes has no number; the specification's is not it.
		"runsc version VERSION_MISSING\nspec: 1.2.1\n": "VERSION_MISSING",
		"": "",
	} {
		got, err := parseVersion("x", out)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", out, got, err, want)
		}
	}
}

// A program that is called like a runtime and says that it is another is
// neither offered nor taken.
func TestAnotherRuntimeByThatName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "youki")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho crun version 1.8.1\n"), 0o755))
	const want = "asked for the runtime youki, and "
	e := New(WithRuntime("youki", path))
	kit := &engine.Kit{Root: true, LookPath: func(string) (string, error) { return "", os.ErrNotExist }, Images: directory{path: t.TempDir()}}
	d := e.Detect(t.Context(), kit)
	for _, l := range d.Levels[engine.Runtime] {
		if l.Name == "youki" && (l.Usable || !strings.Contains(l.Reason, want+path+" says that it is crun")) {
			t.Errorf("%+v", l)
		}
	}
	_, err := e.Open(t.Context(), kit, engine.Spec{ID: "x", Levels: map[string]string{engine.Runtime: "youki"}})
	var why *engine.Error
	if !errors.As(err, &why) || why.Class != record.WrongComponent || !strings.Contains(why.Text, want) {
		t.Errorf("%v", err)
	}
}

// directory is an image that is there.
type directory struct {
	image.Provider
	path string
}

func (d directory) Path(context.Context, string, image.Format) (string, error) { return d.path, nil }
