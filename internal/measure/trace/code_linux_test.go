package trace

import (
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestProgram: the functions of this test's own binary are found by where they lie
// in its file.
func TestProgram(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := openProgram(self)
	if p.table == nil || len(p.loads) == 0 {
		t.Fatalf("this binary's functions are not read: %d segments", len(p.loads))
	}
	at := uint64(reflect.ValueOf(openProgram).Pointer())
	if want := runtime.FuncForPC(uintptr(at)).Name(); !strings.HasSuffix(want, ".openProgram") {
		t.Fatal(want)
	}
	for _, s := range p.loads {
		if at >= s.Vaddr && at < s.Vaddr+s.Filesz {
			if got := p.function(at - s.Vaddr + s.Off); !strings.HasSuffix(got, ".openProgram") {
				t.Errorf("it is taken for %q", got)
			}
		}
	}
	if got := p.function(1 << 60); got != "" {
		t.Errorf("beyond the end of the file lies %q", got)
	}
	for _, none := range []string{"/nonexistent/x", "/etc/passwd", os.TempDir()} {
		if p := openProgram(none); p.function(0) != "" || p.name == "" {
			t.Errorf("%s: %+v", none, p)
		}
	}
}

func TestPart(t *testing.T) {
	for stack, want := range map[string]string{
		"encoding/json.(*encodeState).marshal main.main":                                   "package encoding/json",
		"runtime.memmove github.com/opencontainers/runc/libcontainer.(*initProcess).start": "package github.com/opencontainers/runc/libcontainer",
		"runtime.mallocgc encoding/json.Unmarshal":                                         "Go's memory management",
		"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker":                        "Go's garbage collection",
		"regexp.MustCompile github.com/docker/cli.init runtime.doInit1":                    "the initialisation of its Go packages",
		"regexp.MustCompile github.com/docker/cli/cli.New main.main":                       "package regexp",
		"main.init.0 runtime.doInit":                                                       "the initialisation of its Go packages",
		"runtime.findRunnable runtime.schedule":                                            "Go's scheduler",
		"seccomp_rule_add main":                                                            "libseccomp.so.2",
		"":                                                                                 "", // itself
	} {
		module := "crun"
		if strings.HasPrefix(stack, "seccomp") {
			module = "libseccomp.so.2"
		}
		if got := part(strings.Fields(stack), module); got != want {
			t.Errorf("%q is %q, expected %q", stack, got, want)
		}
	}
}
