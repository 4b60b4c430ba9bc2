package house

import (
	"go/ast"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// reader is the one package that reads these files.
const reader = "measure/host/proc/"

// kernelFiles are the kernel's files that have one reader, by what a path to one
// looks like in a program's text; and who else may read them, with a reason.
var kernelFiles = map[string]struct {
	path *regexp.Regexp
	also map[string]string
}{
	"mountinfo": {regexp.MustCompile(`(^|/)mountinfo$`), map[string]string{
		"measure/engine/podman/store.go": "printed by a command in podman's own namespace, and read by proc.ParseMounts",
	}},
	"meminfo": {regexp.MustCompile(`(^|/)meminfo$`), map[string]string{
		"measure/collect/read_host.go": "sampled",
	}},
	"loadavg": {regexp.MustCompile(`(^|/)loadavg$`), map[string]string{
		"measure/collect/find.go": "sampled",
		"measure/host/meter.go":   "sampled",
		"measure/host/quiet.go":   "read many times a second before a trial",
	}},
	"PID/stat": {regexp.MustCompile(`^(/proc/[^/]+)?/stat$`), map[string]string{
		"measure/host/census.go": "for all processes before and after a trial, by plain system calls, and read by proc.ParseStat",
	}},
	"PID/cgroup": {regexp.MustCompile(`^(/proc/[^/]+)?/cgroup$`), nil},
	"PID/status": {regexp.MustCompile(`^(/proc/[^/]+)?/status$`), map[string]string{
		"measure/collect/read_process.go": "sampled",
		"measure/features/rows_since.go":  "read by a command in a container",
	}},
	"PID/limits":  {regexp.MustCompile(`^(/proc/[^/]+)?/limits$`), nil},
	"filesystems": {regexp.MustCompile(`^/proc/filesystems$`), nil},
}

// kernelFile says which of the files a string leads to, or "".
func kernelFile(path string) string {
	for name, f := range kernelFiles {
		if f.path.MatchString(path) {
			return name
		}
	}
	return ""
}

// TestOneReader: each of the kernel's files is read in one place.
func TestOneReader(t *testing.T) {
	used := map[string]bool{}
	for _, src := range sources(t) {
		at, ok := src.below("internal")
		if !ok {
			continue
		}
		ast.Inspect(src.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				text, _ := strconv.Unquote(n.Value) // of a number nothing
				name := kernelFile(text)
				switch _, may := kernelFiles[name].also[at]; {
				case name == "":
				case may || strings.HasPrefix(at, reader):
					used[name+" "+at] = true
				default:
					t.Errorf("%s reads %s itself: %s has the reader", at, name, reader)
				}
			}
			return true
		})
	}
	for name, f := range kernelFiles {
		for at := range f.also {
			if !used[name+" "+at] {
				t.Errorf("%s is excused from the rule on %s, and does not need it", at, name)
			}
		}
	}
}

// The rule itself must be able to fail.
func TestOneReaderFails(t *testing.T) {
	for path, want := range map[string]string{
		"/proc/self/mountinfo": "mountinfo", "/proc/%d/stat": "PID/stat", "/stat": "PID/stat", "/proc/meminfo": "meminfo",
		"/proc/self/cgroup": "PID/cgroup", "/proc/%d/status": "PID/status", "/proc/filesystems": "filesystems",
		"/proc/stat": "", "/sys/fs/cgroup": "", "/proc/self/ns/cgroup": "", "mountinfo of a process": "", "status": "",
	} {
		if got := kernelFile(path); got != want {
			t.Errorf("%s leads to %q, want %q", path, got, want)
		}
	}
}
