//go:build linux && !unit

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// outsideFiles are command lines that read each file or directory a user can name, by the
// command and the flag or argument. {} stands for the path, RUN for a good record, PROGRAM
// for a good program, NEW for a path where nothing is. notRead is for one that is only
// written to, or is no path.
var outsideFiles = map[string]string{
	"ab DIR":                 "ab {}",
	"ab OLD":                 "ab runc {} PROGRAM",
	"ab NEW":                 "ab runc PROGRAM {}",
	"ab --output":            notRead,
	"ab --record":            notRead,
	"ablate --output":        notRead,
	"ablate --record":        notRead,
	"advise DIR":             "advise {} --profile ci",
	"advise --features":      "advise RUN --profile ci --features {}",
	"advise --output":        notRead,
	"advise --profile":       "advise RUN --profile {}",
	"agent --cert":           "agent --listen 127.0.0.1:0 --key RUN/run.json --cert {}",
	"agent --key":            "agent --listen 127.0.0.1:0 --cert RUN/run.json --key {}",
	"agent --identity":       notRead, // the command creates it
	"bisect --keep":          notRead,
	"bisect --metric":        notRead, // a word
	"bisect --program":       notRead, // a path in the work tree
	"bisect --repo":          "bisect runc a..b --program runc --build make --repo {}",
	"bisect BAD":             notRead, // a commit, as GOOD
	"bisect GOOD":            notRead,
	"bisect step --metric":   notRead,
	"bisect step --record":   notRead,
	"bisect step BAD":        "bisect step runc PROGRAM {} PROGRAM",
	"bisect step CANDIDATE":  "bisect step runc PROGRAM PROGRAM {}",
	"bisect step GOOD":       "bisect step runc {} PROGRAM PROGRAM",
	"clean --on":             "clean --on file:{}",
	"compare --history":      "compare RUN RUN --history {}",
	"compare --noise":        "compare RUN RUN --fail-above 5% --noise {}",
	"compare --output":       notRead,
	"compare --thresholds":   "compare RUN RUN --thresholds {}",
	"compare BASE":           "compare {} RUN",
	"compare NEW":            "compare RUN {}",
	"explain --build":        "explain oci build=a --build runc:a={}",
	"explain --builds":       "explain oci build=a --builds {}",
	"explain --keep":         notRead,
	"explain --output":       notRead,
	"export --output":        notRead,
	"export DIR":             "export {}",
	"factors --output":       notRead,
	"factors DIR":            "factors {}",
	"features --output":      notRead,
	"features --read":        "features --read {}",
	"findings --features":    "findings RUN --features {}",
	"findings --output":      notRead,
	"findings --study":       "findings RUN --study {}",
	"findings DIR":           "findings {}",
	"floor --output":         notRead,
	"floor --record":         notRead,
	"history --output":       notRead,
	"history DIR":            "history {}",
	"import --output":        notRead,
	"import DIR":             notRead,
	"import FILE":            "import {} -o NEW",
	"on-host DIR":            "on-host run {}",
	"plan --build":           "plan quick --build runc:a={}",
	"plan --builds":          "plan quick --builds {}",
	"plan --image-on":        "plan quick --image-on a={}",
	"plan STUDY":             "plan {}",
	"releases --builds":      "releases runc --builds {}",
	"releases --output":      notRead,
	"releases --record":      notRead,
	"releases DIR":           "releases {}",
	"releases FILE":          "releases runc a={} b=PROGRAM",
	"report --figures":       "report RUN --figures {}",
	"report --output":        notRead,
	"report DIR":             "report {}",
	"run --agent-token-file": "run quick --engine floor --agent https://127.0.0.1:1#FINGERPRINT --agent-token-file {}",
	"run --build":            "run quick --build runc:a={}",
	"run --builds":           "run quick --builds {}",
	"run --gate":             "run quick --engine floor --gate {} --fail-above 5%",
	"run --hosts":            "run quick --on mpirun --hosts {}",
	"run --image-archive":    notRead, // only once a workload runs in the image
	"run --image-on":         "run quick --image-on a={}",
	"run --noise":            "run quick --engine floor --noise {} -o NEW",
	"run --on":               "run quick --on file:{}",
	"run --output":           notRead,
	"run --program":          notRead, // only once a host with such a processor answers
	"run --resume":           "run --resume {}",
	"run --thresholds":       "run quick --engine floor --gate RUN --thresholds {}",
	"run STUDY":              "run {}",
	"serve DIR":              "serve {} --listen 127.0.0.1:0",
	"tune --output":          notRead,
	"tune --record":          notRead,
	"workloads WORKLOAD":     notRead, // only a name
	"workloads show":         "workloads show {}",
	"studies show":           "studies show {}",
}

const notRead = ""

// accepted is what is no mistake: serve waits for runs in an empty directory.
var accepted = []string{"serve DIR a directory", "plan --image-on a directory", "run --image-on a directory", "studies show a link"}

// noPaths are arguments that never are a path.
var noPaths = strings.Fields("NAME LEVEL ENGINE FACTOR PROGRAM COMMAND SHELL VERB REF IMAGE WORKLOAD VERSION")

// The files at a path that a user names by mistake, or by somebody's malice.
var oddFiles = map[string]func(path string) error{
	"a device":       func(path string) error { return os.Symlink("/dev/zero", path) },
	"a pipe":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a directory":    func(path string) error { return os.Mkdir(path, 0o700) },
	"10 GiB":         func(path string) error { return sparse(path, 10<<30) },
	"1 GiB":          func(path string) error { return sparse(path, 1<<30) },
	"a link to none": func(path string) error { return os.Symlink("nothing", path) },
	"a link": func(path string) error {
		return errors.Join(os.WriteFile(path+"-target", []byte("no file of plimsoll\n"), 0o700), os.Symlink(filepath.Base(path)+"-target", path))
	},
}

// TestOutsideFiles: a device without an end, a pipe without a writer, a file of 10 GiB, a
// dangling link and whatever else lies at a path that a user names is refused with an
// error that names it, soon and in little memory.
func TestOutsideFiles(t *testing.T) {
	realProgram(t)
	everyPathIsTried(t)
	run := day(t, 1, nil)
	program, err := exec.LookPath("a-runc")
	require.NoError(t, err)
	for of, line := range outsideFiles {
		if line == notRead {
			continue
		}
		for kind, create := range oddFiles {
			if slices.Contains(accepted, of+" "+kind) {
				continue
			}
			t.Run(of+" "+kind, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "odd.yaml")
				require.NoError(t, create(path))
				line := strings.NewReplacer("{}", path, "RUN", run, "PROGRAM", program, "FINGERPRINT", strings.Repeat("0", 64), "NEW", filepath.Join(dir, "new")).Replace(line)
				refusesOdd(t, path, strings.Fields(line)...)
			})
		}
	}
}

// TestOddRecords: the same in the place of each file of a record.
func TestOddRecords(t *testing.T) {
	realProgram(t)
	lines := []string{"report {}", "report {} --audit", "report {} --format html", "compare {} {}", "findings {}", "advise {} --profile ci", "export {}", "factors {}", "history {}", "run --resume {}"}
	for _, file := range []string{record.RunFile, record.TrialsFile} {
		for kind, create := range oddFiles {
			if kind == "a link to none" && file == record.TrialsFile {
				continue // is as if there were none yet
			}
			t.Run(file+" "+kind, func(t *testing.T) {
				dir := day(t, 1, nil)
				path := filepath.Join(dir, file)
				require.NoError(t, errors.Join(os.Remove(path), create(path)))
				for _, line := range lines {
					refusesOdd(t, path, strings.Fields(strings.ReplaceAll(line, "{}", dir))...)
				}
			})
		}
	}
}

// realProgram skips a test where tests are to be short.
func realProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts the program hundreds of times")
	}
}

// refusesOdd runs the program, which is to fail with an error that names the path's file.
func refusesOdd(t *testing.T, path string, args ...string) {
	t.Helper()
	const slack, most = 10 * time.Second, 100 << 10 // KiB
	ctx, cancel := context.WithTimeout(t.Context(), slack)
	defer cancel()
	c := exec.CommandContext(ctx, "plimsoll", args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr, c.Env = &out, &out, append(os.Environ(), "PLIMSOLL_STATE="+filepath.Join(t.TempDir(), "state"))
	c.Dir, c.WaitDelay = t.TempDir(), 20*time.Second
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // it removes what it has created
	err := c.Run()
	status, said := c.ProcessState.ExitCode(), out.String()
	line := strings.Join(args, " ")
	switch name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)); {
	case ctx.Err() != nil:
		t.Errorf("%s: still running after %s: %.300s", line, slack, said)
	case status != int(Failed) && status != int(Usage) && !(status >= 125 && args[0] == "bisect"):
		t.Errorf("%s: status %d, %v: %.300s", line, status, err, said)
	case !strings.Contains(said, name) || strings.Contains(said, "goroutine ") || len(said) > 4<<10:
		t.Errorf("%s: the error does not name the file, or is no message: %.300s", line, said)
	}
	if grown := maxRSS(c) - idleRSS(t); grown > most {
		t.Errorf("%s: took %d MiB of memory", line, grown>>10)
	}
}

// idleRSS is what the program takes that reads nothing, KiB.
func idleRSS(t *testing.T) int64 {
	c := exec.Command("plimsoll", "version")
	require.NoError(t, c.Run())
	return maxRSS(c)
}

func maxRSS(c *exec.Cmd) int64 { return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss }

func sparse(path string, size int64) error {
	return errors.Join(os.WriteFile(path, nil, 0o700), os.Truncate(path, size))
}

var (
	argumentName = regexp.MustCompile(`[A-Z]{3,}`)
	meansFile    = regexp.MustCompile(`(?i)file|folder|director|path|yaml`)
)

// everyPathIsTried reports flags and arguments that take a path and are not in the table.
func everyPathIsTried(t *testing.T) {
	t.Helper()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		check := func(what string) {
			if _, ok := outsideFiles[strings.TrimPrefix(c.CommandPath(), "plimsoll ")+" "+what]; !ok {
				t.Errorf("%s %s takes a path: which command line reads it belongs into outsideFiles", c.CommandPath(), what)
			}
		}
		for _, word := range argumentName.FindAllString(c.Use, -1) {
			if !slices.Contains(noPaths, word) {
				check(word)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, file := f.Annotations[cobra.BashCompFilenameExt]
			_, dir := f.Annotations[cobra.BashCompSubdirsInDir]
			if file || dir || strings.HasPrefix(f.Value.Type(), "string") && meansFile.MatchString(f.Name+" "+f.Usage) {
				check("--" + f.Name)
			}
		})
	}
	walk(Root(System()))
}

// TestPipesAreRead: a file may come from a pipe, as <(command) makes one. While nothing
// comes out of it SIGTERM ends the program, which then has status 130.
func TestPipesAreRead(t *testing.T) {
	realProgram(t)
	run := day(t, 1, nil)
	start := func() (c *exec.Cmd, writer *os.File, stderr *bytes.Buffer) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		c, stderr = exec.Command("plimsoll", "compare", run, run, "--thresholds", "/dev/fd/3"), &bytes.Buffer{}
		c.ExtraFiles, c.Stderr = []*os.File{r}, stderr
		require.NoError(t, c.Start())
		r.Close()
		return c, w, stderr
	}
	c, w, stderr := start()
	_, err := w.WriteString("plimsoll-gate: 1\nfail-above: 5%\n")
	require.NoError(t, errors.Join(err, w.Close()))
	if err := c.Wait(); err != nil {
		t.Errorf("thresholds from a pipe: %v: %s", err, stderr)
	}
	c, w, stderr = start()
	defer w.Close()
	// Writing more than a pipe holds succeeds only once the program reads, and from then
	// on it catches the signal.
	_, err = w.WriteString(strings.Repeat("#\n", 100<<10))
	require.NoError(t, err)
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	err = c.Wait()
	if status := c.ProcessState.ExitCode(); status != int(Interrupted) || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("interrupted while reading a pipe: status %d, %v: %s", status, err, stderr)
	}
}
