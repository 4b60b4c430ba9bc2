package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plimsoll/internal/record"
)

// serving starts `plimsoll serve ARGS` at a free port, asks for each of the
// addresses after --, ends it by an interrupt, and demands status 0:
//
//	serving results -- '/ 200 Runs' '/api/runs 200 "done"'
//
// An address is followed by the status and a pattern of the answer.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	split := -1
	for i, a := range args {
		if a == "--" {
			split = i
		}
	}
	if neg || split < 1 {
		ts.Fatalf("usage: serving DIR... -- 'path status pattern'...")
	}
	path, err := exec.LookPath("plimsoll")
	ts.Check(err)
	cmd := exec.Command(path, append([]string{"serve", "--listen", "127.0.0.1:0"}, args[:split]...)...)
	cmd.Dir, cmd.Env = ts.Getenv("WORK"), scriptEnv(ts)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		ts.Fatalf("it printed no address: %v, %v\n%s", err, cmd.Wait(), errs.String())
	}
	address := strings.TrimSuffix(strings.TrimSpace(line), "/")
	problems := fetchAll(address, args[split+1:])
	ts.Check(os.WriteFile(ts.MkAbs("priority"), []byte(priority(cmd.Process.Pid)), 0o644))
	// A viewer that stays must not keep it from ending.
	live, _ := http.Get(address + "/")
	ts.Check(cmd.Process.Signal(os.Interrupt))
	end := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	end.Stop()
	if live != nil {
		live.Body.Close()
	}
	if err != nil {
		problems = append(problems, "after an interrupt: "+err.Error()+"\n"+errs.String())
	}
	if len(problems) > 0 {
		ts.Fatalf("%s", strings.Join(problems, "\n"))
	}
}

// priority is a process's nice value and its scheduling policy, proc(5).
func priority(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err.Error()
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return fmt.Sprintf("nice %s policy %s\n", fields[16], fields[38])
}

// living copies the run in a directory to another one as one that goes on: its
// first trials, written by this process, until the script ends.
//
//	living result results/live 7
func living(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: living RUN DIR TRIALS")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	r, err := record.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	run := *r.Run()
	run.Status, run.Finished = "running", time.Time{}
	w, err := record.Create(ts.MkAbs(args[1]), &run)
	ts.Check(err)
	ts.Defer(func() { ts.Check(w.Close()) })
	for t, err := range r.Trials() {
		ts.Check(err)
		if n--; n < 0 {
			break
		}
		ts.Check(w.Append(t))
	}
}

func fetchAll(address string, wants []string) (problems []string) {
	for _, want := range wants {
		f := strings.SplitN(want, " ", 3)
		answer, err := http.Get(address + f[0])
		if err != nil {
			return append(problems, err.Error())
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case !strings.HasPrefix(answer.Status, f[1]+" "):
			problems = append(problems, f[0]+": "+answer.Status+": "+string(body))
		case len(f) == 3 && !regexp.MustCompile(f[2]).Match(body):
			problems = append(problems, f[0]+" does not match "+f[2]+": "+string(body))
		}
	}
	return problems
}
