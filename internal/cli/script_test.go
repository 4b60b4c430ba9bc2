package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/record"
)

func TestMain(m *testing.M) {
	testscript.Main(tidying{m}, map[string]func(){
		"plimsoll": func() { os.Exit(Main(patient())) },
		"a-novel":  func() { fmt.Println("novel version 0.2") },
		"a-runc":   func() { fmt.Println("runc version 9.9.9") },
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
	// Started in the background or by nohup, a program takes no notice of these signals,
	// nor does what it starts: the tests send them.
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	defer forgetProgram()
	return m.M.Run()
}

// TestScripts drives the command line as a user does: each script is a
// session, with its files, its output and its exit statuses.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program hundreds of times: left out with -short")
	}
	testscript.Run(t, scripts("testdata/script"))
}

// scripts are those in a directory, with what they can do and ask.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			// A place of its own for what outlives a run, so that no test
			// meets another's, nor the user's.
			env.Setenv("PLIMSOLL_STATE", env.WorkDir+"/state")
			env.Setenv("XDG_RUNTIME_DIR", env.WorkDir)
			env.Setenv("CI", "1")
			env.Defer(func() { groupsGone(env) })
			here, err := filepath.Abs("../../ci")
			env.Setenv("SCRIPTS", here)
			if err == nil { // a program that says that it is runc
				var path string
				path, err = exec.LookPath("a-runc")
				env.Setenv("RUNC", path)
			}
			for _, name := range []string{"crun", "podman"} {
				if path, err := exec.LookPath(name); err == nil {
					env.Setenv(strings.ToUpper(name), path)
				}
			}
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"behind":      behind,
			"far":         far,
			"forgotten":   forgotten,
			"harmless":    isHarmless,
			"killheld":    killHeld,
			"killwhen":    killWhen,
			"living":      living,
			"nopods":      noPods,
			"nothingof":   nothingOf,
			"overtcp":     overTCP,
			"secondctrd":  secondContainerd,
			"service":     service,
			"serving":     serving,
			"slowbuild":   slowBuild,
			"slowcrun":    slowCrun,
			"status":      status,
			"swappedcrun": swappedCrun,
			"vanished":    vanished,
			"wrapped":     wrapped,
		},
		Condition: func(cond string) (bool, error) {
			if path, ok := strings.CutPrefix(cond, "socket:"); ok {
				conn, err := net.Dial("unix", path)
				if err == nil {
					err = conn.Close()
				}
				return err == nil, nil
			}
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "far":
				return withoutFar() == "", nil
			case "watched":
				return executionsWatched(), nil
			}
			return false, fmt.Errorf("there is no condition %q", cond)
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
	}
}
