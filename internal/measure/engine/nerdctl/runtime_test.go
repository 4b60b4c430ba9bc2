package nerdctl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// A program that is called like a runtime and says that it is another is not
// taken.
func TestAnotherRuntimeByThatName(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"nerdctl": `echo '{"Client":{"Version":"2.0"},"Server":{"Components":[{"Name":"containerd","Version":"2.0"}]}}'`,
		"crun":    "echo runc version 1.1.5",
		"socket":  "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	kit := &engine.Kit{Root: true, RunID: "abcdefgh", Dir: dir,
		LookPath: func(name string) (string, error) { return filepath.Join(dir, name), nil },
		Getenv: func(key string) string {
			if key == "CONTAINERD_ADDRESS" {
				return filepath.Join(dir, "socket")
			}
			return ""
		}}
	_, err := New().Open(t.Context(), kit, engine.Spec{ID: "x", Levels: map[string]string{engine.Runtime: "crun"}})
	var why *engine.Error
	if !errors.As(err, &why) || why.Class != record.WrongComponent || !strings.Contains(why.Text, "says that it is runc") {
		t.Errorf("%v", err)
	}
}
