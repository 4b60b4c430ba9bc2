package place

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// mpirunFix is what gives a machine of Debian's kind a launcher.
const mpirunFix = "apt-get install openmpi-bin"

// mpirun is Open MPI's launcher. MPICH's has other options and is told by its
// version.
func (p Place) mpirun(ctx context.Context, j Job, look Look) (Launch, error) {
	path, err := look("mpirun")
	if err != nil {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: "the ranks of an MPI program are started by mpirun, and there is none on PATH", Fix: mpirunFix}
	}
	version, err := firstLine(ctx, path, "--version")
	if err != nil {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: "asking " + path + " for its version", Err: err}
	}
	if !strings.Contains(version, "Open MPI") && !strings.Contains(version, "OpenRTE") {
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("%s is %q, and only Open MPI's mpirun is known here", path, version), Fix: mpirunFix}
	}
	argv := []string{path, "--allow-run-as-root", "-n", strconv.Itoa(j.Ranks),
		// Each rank's streams in files of their own, and nowhere else.
		"--output-filename", j.Dir + ":nojobid,nocopy"}
	if j.Scratch != "" {
		argv = append(argv, "--mca", "orte_tmpdir_base", j.Scratch)
	}
	per := (j.Ranks + j.Nodes - 1) / j.Nodes
	switch {
	case p.Kind == Mpirun && len(p.Hosts) > 0:
		if j.Nodes > len(p.Hosts) {
			return Launch{}, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("%d nodes are asked for, and --hosts names %d", j.Nodes, len(p.Hosts))}
		}
		argv = append(argv, "--host", strings.Join(slotted(p.Hosts[:j.Nodes], per), ","), "--map-by", fmt.Sprintf("ppr:%d:node", per))
	case j.Nodes > 1:
		return Launch{}, &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("%d nodes are asked for, and mpirun knows this machine only", j.Nodes),
			Fix: "name them: plimsoll run --on mpirun --hosts HOST,HOST"}
	}
	if per > runtime.NumCPU() {
		argv = append(argv, "--oversubscribe")
	}
	return Launch{Argv: argv, Env: handedOn(os.Environ(), settings...), Name: version}, nil
}

// slotted gives each host that names no slots as many as are wanted of it.
func slotted(hosts []string, per int) []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		if out[i] = h; !strings.Contains(h, ":") {
			out[i] = fmt.Sprintf("%s:%d", h, per)
		}
	}
	return out
}

// firstLine is the first line that a command prints.
func firstLine(ctx context.Context, argv ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: argv, Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}, Limit: 30 * time.Second})
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(out.Stdout), "\n")
	return strings.TrimSpace(line), nil
}
