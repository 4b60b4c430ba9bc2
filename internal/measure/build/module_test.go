package build

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"plimsoll/internal/common/require"
)

// published serves releases of a module called example.org/tool from a directory, as a module
// proxy does. The last one of its first number can't be built.
func published(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed: releases are built with it")
	}
	proxy, cache := t.TempDir(), t.TempDir()
	for _, v := range []string{"v0.9.0", "v1.0.0", "v1.1.0", "v1.2.0-rc.1", "v1.3.0", "v2.0.0"} {
		path := "example.org/tool" + major(v)
		src, list := t.TempDir(), filepath.Join(proxy, path, "@v")
		require.NoError(t, os.MkdirAll(list, 0o755))
		text := "package main\n\nvar version string\n\nfunc main() { println(version) }\n"
		if v == "v1.3.0" {
			text = "package main\n\nfunc main() { missing() }\n"
		}
		gomod := "module " + path + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(src, "go.mod"), []byte(gomod), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(src, "main.go"), []byte(text), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(list, v+".mod"), []byte(gomod), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(list, v+".info"), fmt.Appendf(nil, `{"Version":%q}`, v), 0o644))
		packed, err := os.Create(filepath.Join(list, v+".zip"))
		require.NoError(t, err)
		require.NoError(t, zip.CreateFromDir(packed, module.Version{Path: path, Version: v}, src))
		require.NoError(t, packed.Close())
		all, err := os.OpenFile(filepath.Join(list, "list"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		require.NoError(t, err)
		_, err = fmt.Fprintln(all, v)
		require.NoError(t, err)
		require.NoError(t, all.Close())
	}
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", cache)
	t.Cleanup(func() { require.NoError(t, exec.Command("go", "clean", "-modcache").Run()) }) // its files are not writable
	sources["tool"] = source{Modules: []string{"example.org/tool", "example.org/tool/v2"}, Packages: map[string]string{"tool": "."}, Version: "main.version", Says: map[string]string{"1.2.0-rc.1": "29.1"}}
	t.Cleanup(func() { delete(sources, "tool") })
}

// TestModules: releases are listed from one on, built once, and proved to be what they are
// called.
func TestModules(t *testing.T) {
	published(t)
	var said []string
	dir := t.TempDir()
	m, err := OpenModules(t.Context(), "tool", dir, func(text string) { said = append(said, text) })
	require.NoError(t, err)
	versions, err := m.Versions(t.Context(), "1.0.0")
	require.NoError(t, err)
	if !slices.Equal(versions, []string{"1.0.0", "1.1.0", "1.3.0", "2.0.0"}) {
		t.Errorf("the releases from 1.0.0 on are %q", versions)
	}
	for range 2 {
		for _, v := range []string{"1.1.0", "1.2.0-rc.1", "2.0.0"} {
			built, err := m.Build(t.Context(), v)
			require.NoError(t, err)
			if out, err := exec.Command(built[0].Path).CombinedOutput(); err != nil || string(out) != cmp.Or(sources["tool"].Says[v], v)+"\n" || built[0].Level != v {
				t.Errorf("the build of %s is %+v, and says %q (%v)", v, built, out, err)
			}
		}
	}
	if len(said) != 3 {
		t.Errorf("three releases were built, each once, and it said %q", said)
	}
	if _, err := m.Build(t.Context(), "1.3.0"); err == nil || !strings.Contains(err.Error(), "building tool 1.3.0") || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("the build of a release that can't be compiled ends with %v", err)
	}
	if _, err := m.Build(t.Context(), "1.4.0"); err == nil || !strings.Contains(err.Error(), "fetching example.org/tool v1.4.0") {
		t.Errorf("the build of a release that is not there ends with %v", err)
	}
	// One release is put in another's place.
	one, err := m.Build(t.Context(), "1.1.0")
	require.NoError(t, err)
	other, err := m.Build(t.Context(), "2.0.0")
	require.NoError(t, err)
	require.NoError(t, os.Rename(other[0].Path, one[0].Path))
	if _, err := m.Build(t.Context(), "1.1.0"); err == nil || !strings.Contains(err.Error(), "was not built from example.org/tool v1.1.0") {
		t.Errorf("another release in the place of one is taken for it: %v", err)
	}
	// Nothing is left of what could not be built.
	left, err := filepath.Glob(filepath.Join(dir, "tool", "*", ".*"))
	require.NoError(t, err)
	if len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// TestModulesRefuses: what can't be listed or built ends before anything is fetched.
func TestModulesRefuses(t *testing.T) {
	published(t)
	say := func(string) {}
	if _, err := OpenModules(t.Context(), "nonesuch", t.TempDir(), say); err == nil || !strings.Contains(err.Error(), "expected one of containerd, dockerd, podman, runc, tool") {
		t.Error(err)
	}
	sources["tool"] = source{Modules: []string{"example.org/tool"}, Libraries: []string{"nonesuch"}}
	if _, err := OpenModules(t.Context(), "tool", t.TempDir(), say); err == nil || !strings.Contains(err.Error(), "tool needs nonesuch to be built") {
		t.Error(err)
	}
	sources["tool"] = source{Modules: []string{"example.org/tool"}}
	shared := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(shared, "tool"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(shared, "tool"), 0o777))
	if _, err := OpenModules(t.Context(), "tool", shared, say); err == nil || !strings.Contains(err.Error(), "others can write to ") {
		t.Errorf("a directory that others write to is used: %v", err)
	}
	m, err := OpenModules(t.Context(), "tool", t.TempDir(), say)
	require.NoError(t, err)
	for from, want := range map[string]string{"one": `"one" is not a version`, "1.9.0": "has no release from 1.9.0 on"} {
		if _, err := m.Versions(t.Context(), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("from %s: %v", from, err)
		}
	}
}
