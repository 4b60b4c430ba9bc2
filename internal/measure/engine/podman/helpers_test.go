package podman

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// TestHelpers: builds of what podman starts bear their programs' names, whatever their
// files are called; who only looks makes nothing.
func TestHelpers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.out")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	builds := []record.Build{{Program: conmon, Level: "new", Path: file}, {Program: netavark, Level: "new", Path: file}}
	kit := (&engine.Kit{Dir: dir, RunID: "r1"}).With(builds)
	for range 2 { // of a second environment they are there already
		p := &program{env: []string{"HOME=/"}}
		if err := p.help(kit); err != nil {
			t.Fatal(err)
		}
		if len(p.global) != 2 || p.global[0] != "--conmon" || filepath.Base(p.global[1]) != conmon || !p.told {
			t.Fatalf("podman is told %v", p.global)
		}
		where, ok := strings.CutPrefix(p.env[len(p.env)-1], helperDir+"=")
		entries, err := os.ReadDir(where)
		if !ok || err != nil || len(entries) != 1 || entries[0].Name() != netavark {
			t.Errorf("podman's helpers are %v of %q (%v), expected a netavark alone", entries, p.env, err)
		}
		for _, link := range []string{p.global[1], filepath.Join(where, netavark)} {
			if to, err := filepath.EvalSymlinks(link); err != nil || to != file {
				t.Errorf("%s is %q (%v), not %s", link, to, err, file)
			}
		}
		if is := p.monitor("c").Program; is != "a.out" {
			t.Errorf("a monitor is known by the file %q, and the build's is a.out", is)
		}
	}
	p := &program{}
	if err := p.help((&engine.Kit{Dir: filepath.Join(dir, "none")}).With(builds)); err != nil || p.told || len(p.env) > 0 {
		t.Errorf("who only looks tells podman %v %v (%v)", p.global, p.env, err)
	}
	if is := p.monitor("c").Program; is != conmon {
		t.Errorf("a monitor is known by the file %q, expected conmon", is)
	}
}

// TestNoNetavark: a build that podman would not start is refused, or not of the set.
func TestNoNetavark(t *testing.T) {
	kit := (&engine.Kit{}).With([]record.Build{{Program: netavark, Level: "new", Path: "/n"}})
	for _, c := range []struct {
		network, backend string
		user             *engine.User
		want             string
	}{
		{"", netavark, nil, ""},
		{bridge, netavark, nil, ""},
		{bridge, netavark, &engine.User{}, ""},
		{"", netavark, &engine.User{}, "an ordinary user's podman starts for a bridge alone"},
		{bridge, "cni", nil, "podman's network backend here is cni"},
	} {
		var i info
		i.Host.NetworkBackend = c.backend
		spec := engine.Spec{Levels: map[string]string{}}
		if c.network != "" {
			spec.Levels[engine.Network] = c.network
		}
		err := (&program{user: c.user}).helped(kit, spec, &i)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("network %q, backend %s, user %v: %v, expected %q", c.network, c.backend, c.user, err, c.want)
		}
	}
	for network, runs := range map[string]bool{"": true, bridge: true, "none": false, "host": false} {
		named := New().Info().ProgramsWith(map[string]string{engine.Network: network})
		if is := slices.ContainsFunc(named, func(p engine.Program) bool { return p.Name == netavark }); is != runs {
			t.Errorf("with the network %q netavark is one of the set: %v, expected %v", network, is, runs)
		}
	}
}
