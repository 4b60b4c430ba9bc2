package trace

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
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
		"regexp.MustCompile github.com/docker/cli.init runtime.doInit1":                    "Go package initialisation",
		"regexp.MustCompile github.com/docker/cli/cli.New main.main":                       "package regexp",
		"main.init.0 runtime.doInit":                                                       "Go package initialisation",
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

// TestLinkedWithC: where C stands before Go's functions in a program, each has its name
// still. The truth is the program's symbol table, which is not read for it.
func TestLinkedWithC(t *testing.T) {
	for _, tool := range []string{"go", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed: a program is built with it")
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module linked\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\n// int one(void) { return 1; }\nimport \"C\"\n\nfunc main() { println(C.one()) }\n"), 0o644))
	for _, mode := range []string{"exe", "pie"} {
		path := filepath.Join(dir, mode)
		build := exec.Command("go", "build", "-buildmode", mode, "-ldflags", "-linkmode external", "-o", path)
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f, err := elf.Open(path)
		require.NoError(t, err)
		defer f.Close()
		all, err := f.Symbols()
		require.NoError(t, err)
		p, n := openProgram(path), 0
		for _, s := range all {
			if name, ok := strings.CutSuffix(s.Name, ".abi0"); ok && strings.HasPrefix(name, "runtime.") && elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 8 {
				n++
				if is, _ := strings.CutSuffix(p.function(offsetOf(f, s.Value+4)), ".abi0"); is != name {
					t.Errorf("%s: at %#x is %q, not %q", mode, s.Value, is, name)
				}
			}
		}
		if n < 10 {
			t.Errorf("%s: only %d functions were compared", mode, n)
		}
	}
}

// offsetOf is where in a program's file an address is.
func offsetOf(f *elf.File, at uint64) uint64 {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && at >= p.Vaddr && at < p.Vaddr+p.Filesz {
			return at - p.Vaddr + p.Off
		}
	}
	return 0
}
