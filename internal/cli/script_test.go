package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/record"
)

func TestMain(m *testing.M) {
	testscript.Main(tidying{m}, map[string]func(){
		"plimsoll": func() { os.Exit(Main(patient())) },
	})
}

// patient is the world in which the hypervisor's other machines are no reason to
// measure nothing: the tests on measuring run on busy machines too.
func patient() World {
	w := System()
	w.Judge = func(l []record.Remark) []record.Remark {
		for i := range l {
			if l[i].Code == "steal-heavy" {
				l[i].Level = "warn"
			}
		}
		return l
	}
	return w
}

// tidying takes away what the tests have in common, when the last has ended.
type tidying struct{ *testing.M }

func (m tidying) Run() int {
	defer forgetProgram()
	return m.M.Run()
}

// TestScripts drives the command line as a user does: each script is a
// session, with its files, its output and its exit statuses.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program hundreds of times: left out with -short")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// A place of its own for what outlives a run, so that no test
			// meets another's, nor the user's.
			env.Setenv("PLIMSOLL_STATE", env.WorkDir+"/state")
			env.Setenv("XDG_RUNTIME_DIR", env.WorkDir)
			env.Setenv("CI", "1")
			here, err := filepath.Abs("../../ci")
			env.Setenv("SCRIPTS", here)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"harmless": isHarmless,
			"living":   living,
			"serving":  serving,
			"status":   status,
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("there is no condition %q", cond)
			}
			return os.Geteuid() == 0, nil
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
