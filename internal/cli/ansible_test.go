package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/require"
)

// The collection can be read: its files are YAML and Python, each role says what it
// takes, and what users are told to run is there. Hosts are measured with it at a site.
func TestAnsibleCollection(t *testing.T) {
	const root = "../../ansible"
	var python []string
	seen := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".py":
			python = append(python, path)
		case ".yml":
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var any yaml.Node
			if err := yaml.Unmarshal(data, &any); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			seen++
		}
		return nil
	})
	if err != nil || seen < 10 || len(python) < 3 {
		t.Fatalf("%d files of YAML, %d of Python: %v", seen, len(python), err)
	}
	roles, err := os.ReadDir(root + "/roles")
	require.NoError(t, err)
	for _, role := range roles {
		for _, file := range []string{"tasks/main.yml", "meta/argument_specs.yml"} {
			if _, err := os.Stat(filepath.Join(root, "roles", role.Name(), file)); err != nil {
				t.Error(err)
			}
		}
	}
	// Each variable that a role has a default of is described.
	for _, role := range roles {
		defaults, err := os.ReadFile(filepath.Join(root, "roles", role.Name(), "defaults/main.yml"))
		if err != nil {
			continue // measure has none of its own
		}
		var all map[string]any
		require.NoError(t, yaml.Unmarshal(defaults, &all))
		specs, err := os.ReadFile(filepath.Join(root, "roles", role.Name(), "meta/argument_specs.yml"))
		require.NoError(t, err)
		for name := range all {
			if !strings.Contains(string(specs), "\n      "+name+":\n") {
				t.Errorf("the role %s does not describe %s", role.Name(), name)
			}
		}
	}
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the plug-ins are not compiled: there is no python3")
	}
	const compiles = "import ast, sys\nfor p in sys.argv[1:]: ast.parse(open(p).read(), p)"
	if out, err := exec.Command(interpreter, append([]string{"-c", compiles}, python...)...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
