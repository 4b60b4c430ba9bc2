package docker

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/record"
)

// TestInitPath: dockerd is told the build of docker-init, and of two ways to name one it is
// open which is meant.
func TestInitPath(t *testing.T) {
	file, text := filepath.Join(t.TempDir(), configFile), []byte(`{"init-path": "/usr/bin/docker-init"}`)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	configured := record.Build{Program: "dockerd", Level: "new", Files: []record.BuildFile{{Name: configFile, Path: file, SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}}}
	built := record.Build{Program: initProgram, Level: "new", Path: "/b/tini"}
	for _, c := range []struct {
		builds      []record.Build
		want, wrong string
	}{
		{nil, "", ""},
		{[]record.Build{built}, "/b/tini", ""},
		{[]record.Build{configured}, "", ""},
		{[]record.Build{configured, built}, "", "the daemon.json has the init-path /usr/bin/docker-init, and docker-init:new is /b/tini"},
	} {
		kit := (&engine.Kit{}).With(c.builds)
		conf, err := buildconfig.Of(kit, "dockerd")
		require.NoError(t, err)
		got, err := initPath(kit, conf)
		if got != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%v: %q %v", c.builds, got, err)
		}
	}
}

// TestInitIsAdded: docker-init is one of the programs where a container has an init, and
// what a runtime may become.
func TestInitIsAdded(t *testing.T) {
	for with, runs := range map[string]bool{"": false, engine.DefaultLevel: false, engine.LogFile: false, engine.Init: true, engine.Init + engine.And + engine.LogFile: true} {
		named := New().Info().ProgramsWith(map[string]string{engine.With: with, engine.Runtime: "crun"})
		if is := slices.ContainsFunc(named, func(p engine.Program) bool { return p.Name == initProgram }); is != runs {
			t.Errorf("with %q docker-init is one of the set: %v, expected %v", with, is, runs)
		}
		if !slices.ContainsFunc(named, func(p engine.Program) bool { return p.Name == "crun" && slices.Contains(p.Becomes, initProgram) }) {
			t.Errorf("with %q: crun may not become docker-init: %+v", with, named)
		}
	}
}
