package podman

import (
	"fmt"
	"strconv"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// mayRaise says whether this process may raise its hard limits
// (CAP_SYS_RESOURCE is capability 24, see capabilities(7)).
func mayRaise(status map[string]string) bool {
	n, err := strconv.ParseUint(status["CapEff"], 16, 64)
	return err == nil && n&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// podmanProcs is the most that podman leaves itself of RLIMIT_NPROC.
const podmanProcs = 32768

// ulimits are options that keep podman from asking for more than this process
// has. Podman gives containers the limits of its containers.conf or 1048576
// files, which a process without CAP_SYS_RESOURCE can't set: the runtime then
// fails with status 126. An ordinary user's podman knows that of itself.
func ulimits(status map[string]string, files, procs unix.Rlimit) []string {
	if mayRaise(status) {
		return nil
	}
	nofile := min(files.Max, 1<<20)
	nproc := min(procs.Max, podmanProcs)
	return []string{"--ulimit", fmt.Sprintf("nofile=%d:%d", nofile, nofile),
		"--ulimit", fmt.Sprintf("nproc=%d:%d", nproc, nproc)}
}

// OwnUlimits are the options that keep podman from asking for more than this
// process has; there are none where it may raise its limits.
func OwnUlimits() ([]string, error) {
	status, err := proc.Here.Status(proc.Self)
	if err != nil {
		return nil, err
	}
	var files, procs unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &procs); err != nil {
		return nil, err
	}
	return ulimits(status, files, procs), nil
}
