package wrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Version is the version of the control groups whose controllers containers
// get here, "v1" or "v2": in a hybrid v1, and "" where none are mounted.
func Version() string { return versionAt("/proc/self/mountinfo") }

func versionAt(mountinfo string) string {
	text, err := os.ReadFile(mountinfo)
	if err != nil {
		return ""
	}
	version := ""
	for _, h := range parseHierarchies(string(text)) {
		switch {
		case h.v2 && version == "":
			version = "v2"
		case h.has("cpu"), h.has("memory"), h.has("pids"):
			return "v1"
		}
	}
	return version
}

// Driver is the fact of engines that make their groups by themselves.
const Driver = "cgroupfs"

// RemoveNamed removes the group of this name at the top of every hierarchy,
// with what still runs in it: what a runtime leaves that gave up waiting for
// the end of processes that it had killed. A group that is not there is no
// error.
func RemoveNamed(ctx context.Context, name string) error {
	if !strings.HasPrefix(name, groupPrefix) || strings.ContainsAny(name, "/*?[") {
		return fmt.Errorf("%q is no name of a cgroup of ours", name)
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range parseHierarchies(string(text)) {
		d := groupDir{path: filepath.Join(h.mount, name)}
		if _, err := os.Stat(d.path); err != nil {
			continue
		}
		d.kill()
		errs = append(errs, d.remove(ctx))
	}
	return errors.Join(errs...)
}
