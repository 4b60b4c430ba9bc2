package build

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// TestMain lets the test's program play what a user may give for a build: links
// named by what they do.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "--help") {
		fmt.Print(map[string]string{"podman": "Manage pods\n\nUsage:\n"}[filepath.Base(os.Args[0])])
		os.Exit(0)
	}
	if slices.Contains(os.Args[1:], "--version") {
		switch filepath.Base(os.Args[0]) {
		case "runc":
			fmt.Println("runc version 1.9.9\ncommit: none\nspec: 1.0.2")
		case "crun":
			fmt.Println("crun version 1.2")
		case "podman", "renamed":
			fmt.Println(filepath.Base(os.Args[0]), "version 4.3.1")
		case "exe": // by its process: /proc/PID/exe
			fmt.Println("stayer version 2.1")
		case "number":
			fmt.Println("0.31")
		case "fails":
			fmt.Println("no user database")
			os.Exit(3)
		case "hangs":
			time.Sleep(time.Minute)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// programs is a directory of files that could be named as builds.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"runc", "crun", "podman", "renamed", "number", "silent", "fails", "hangs"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	foreign := slices.Clone(data[:1<<16])
	machine := elf.EM_AARCH64
	if binary.NativeEndian.Uint16(foreign[18:]) == uint16(elf.EM_AARCH64) {
		machine = elf.EM_X86_64
	}
	binary.NativeEndian.PutUint16(foreign[18:], uint16(machine)) // e_machine, elf(5)
	binary.NativeEndian.PutUint64(foreign[40:], 0)               // e_shoff: the cut file has no sections
	binary.NativeEndian.PutUint16(foreign[60:], 0)               // e_shnum
	binary.NativeEndian.PutUint16(foreign[62:], 0)               // e_shstrndx
	for name, text := range map[string][]byte{"foreign": foreign, "script": []byte("#!/bin/sh\nexec runc \"$@\"\n"), "text": []byte("hello"), "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), data[:4096], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

var known = []engine.Program{{Name: "ch-run", Unnamed: true}, {Name: "crun"}, {Name: "podman", Helps: "Manage pods"}, {Name: "runc"}}

// What can't be a build ends in one sentence, and what can is known by its digest.
func TestBind(t *testing.T) {
	dir := programs(t)
	whole := answerLimit
	t.Cleanup(func() { answerLimit = whole })
	good, err := Parse("runc:old=runc", "--build", dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Bind(t.Context(), []Asked{good, good}, known, exec.LookPath)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v %v", list, err)
	}
	b := list[0]
	if st, err := os.Stat(b.Path); err != nil || b.Version != "1.9.9" || len(b.SHA256) != 64 || b.BuildID == "" || b.Bytes != st.Size() || b.Name() != "runc:old" {
		t.Errorf("%+v %v", b, err)
	}
	for _, c := range []struct{ text, want string }{
		{"runc=runc", "expected PROGRAM:LEVEL=PATH"},
		{"runc:old=", "expected PROGRAM:LEVEL=PATH"},
		{"runc:Old=runc", "is not a name for a build"},
		{"runc:default=runc", "is not a name for a build"},
		{"rnuc:old=runc", `is not a program whose builds an engine can use; it can be one of ch-run, crun, podman, runc; did you mean "runc"?`},
		{"runc:old=nope", "nope is not there"},
		{"runc:old=.", "is a directory"},
		{"runc:old=/dev/null", "is not a regular file"},
		{"runc:old=pipe", "is not a regular file"}, // and nobody waits for a writer
		{"runc:old=plain", "is not executable"},
		{"runc:old=script", "is a script: name the program that it runs"},
		{"runc:old=text", "is not a program that Linux can execute"},
		{"runc:old=empty", "is not a program that Linux can execute"},
		{"runc:old=foreign", "is for another processor"},
		{"runc:old=crun", "is another program: it says that it is crun 1.2, not runc"},
		{"runc:old=number", `does not say that it is runc: --version prints "0.31" alone`},
		{"runc:old=silent", "prints no version"},
		{"runc:old=fails", "does not say its version (--version): exit status 3: no user database"},
		{"runc:old=hangs", "hangs: it did not say its version (--version) within 2s"},
		{"runc:old=runc@sha256:" + strings.Repeat("0", 64), "is another file than before"},
		{"podman:old=podman", ""},
		{"podman:old=renamed", `is another program: its --help has no line "Manage pods", as that of podman has`},
		{"ch-run:old=number", ""},
		{"runc:old=runc@sha256:" + b.SHA256, ""},
	} {
		if answerLimit = whole; strings.HasSuffix(c.text, "hangs") {
			answerLimit = 2 * time.Second // what answers may need longer on a busy machine
		}
		a, err := Parse(c.text, "--build", dir)
		if err == nil {
			_, err = Bind(t.Context(), []Asked{a}, known, exec.LookPath)
		}
		switch {
		case c.want == "" && err != nil, c.want != "" && err == nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (!strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "--build") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, not %q", c.text, err, c.want)
		}
	}
	other := good
	other.Path = filepath.Join(dir, "crun")
	if _, err := Bind(t.Context(), []Asked{good, other}, []engine.Program{{Name: "runc"}}, exec.LookPath); err == nil {
		t.Error("one name was bound to two files")
	}
	again, err := Parse(Texts(b)[0], "--build", "/")
	if err != nil || again.Path != b.Path || again.SHA256 != b.SHA256 || again.Level != b.Level || again.Program != b.Program {
		t.Errorf("%+v %v", again, err)
	}
}

// A file of builds takes its paths from its own folder, and errors name the place.
func TestRead(t *testing.T) {
	list, err := Read("/some/where/builds.yaml", []byte("plimsoll-builds: 1\nbuilds:\n  runc: {old: /opt/runc, new: ./runc}\n  crun:\n    mine: ../crun\n"))
	if err != nil || len(list) != 3 || list[0].Path != "/opt/runc" || list[1].Path != "/some/where/runc" || list[2].Path != "/some/crun" || list[2].Program != "crun" || list[2].Level != "mine" {
		t.Fatalf("%+v %v", list, err)
	}
	for text, want := range map[string]string{
		"builds: {}": "plimsoll-builds",
		"plimsoll-builds: 2\nbuilds: {runc: {a: /b}}":            "b.yaml:1:",
		"plimsoll-builds: 1\nbuilds: {runc: /opt/runc}":          "keys with a value each",
		"plimsoll-builds: 1\nbuilds:\n  runc:\n    Old: /opt/x":  "b.yaml:4:5 runc:Old=/opt/x: \"Old\" is not a name for a build",
		"plimsoll-builds: 1\nbuilt:\n  runc:\n    old: /opt/x\n": "built",
	} {
		if _, err := Read("b.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
	}
}

// What programs print is read as it is.
func TestItself(t *testing.T) {
	for out, want := range map[string][2]string{
		"runc version 1.1.5+ds1\ncommit: x": {"runc", "1.1.5+ds1"}, "youki version: 0.7.0": {"youki", "0.7.0"},
		"runsc version release-20240212.0": {"runsc", "release-20240212.0"}, "bubblewrap 0.8.0\n": {"bubblewrap", "0.8.0"},
		"0.31\n": {"", "0.31"}, "containerd github.com/containerd/containerd v1.7.2 0cae528": {"containerd", "v1.7.2"},
		"containerd-shim-runc-v2:\n  Version:  1.6.20~ds1\n  Revision: x\n": {"containerd-shim-runc-v2", "1.6.20~ds1"},
		"Docker version 24.0.5, build ced0996":                              {"Docker", "24.0.5"}, "tini version 0.19.0 - git.de40ad0\n": {"tini", "0.19.0"}, "": {"", ""}, "hello": {"", ""},
	} {
		if name, version := itself(out); name != want[0] || version != want[1] {
			t.Errorf("%q: %q %q", out, name, version)
		}
	}
}

// An environment has the builds of its own programs, and who named none is told.
func TestBuildsFor(t *testing.T) {
	bare := engine.Info{Name: "bare", Title: "Bare", Levels: map[string][]string{engine.Runtime: {"runc", "crun"}}, Programs: []engine.Program{{Of: engine.Runtime}}}
	manager := engine.Info{Name: "manager", Title: "Manager", Levels: map[string][]string{engine.Runtime: {"default", "runc", "crun"}}, Programs: []engine.Program{{Name: "manager"}, {Of: engine.Runtime}}}
	all := []record.Build{{Program: "runc", Level: "new"}, {Program: "manager", Level: "new"}, {Program: "crun", Level: "new"}, {Program: "runc", Level: "old"}}
	for _, c := range []struct {
		info            engine.Info
		runtime, level  string
		want, wantError string
	}{
		{bare, "", "", "", ""},
		{bare, "", "default", "", ""},
		{bare, "", "new", "runc:new", ""},
		{bare, "crun", "new", "crun:new", ""},
		{bare, "crun", "old", "", "--build crun:old=PATH"},
		{manager, "crun", "new", "manager:new crun:new", ""},
		{manager, "", "new", "manager:new", ""},
		{manager, "runc", "old", "runc:old", ""},
		{manager, "", "third", "", "the run was not given the build manager:third"},
		{manager, "", "old", "", "runc:old would not run: Manager starts its runc only where runtime=runc is named"},
	} {
		var names []string
		got, err := c.info.BuildsFor(map[string]string{engine.Runtime: c.runtime, engine.Build: c.level}, all)
		for _, b := range got {
			names = append(names, b.Name())
		}
		if strings.Join(names, " ") != c.want || (err != nil) != (c.wantError != "") || err != nil && !strings.Contains(err.Error(), c.wantError) {
			t.Errorf("%s %s %s: %v %v", c.info.Name, c.runtime, c.level, names, err)
		}
	}
}

// A program that an engine starts only where something is added has a build there alone.
func TestBuildsForWhatIsAdded(t *testing.T) {
	manager := engine.Info{Name: "manager", Title: "Manager", Programs: []engine.Program{{Name: "manager"}, {Name: "an-init", With: map[string]string{engine.With: engine.Init}}}}
	both := []record.Build{{Program: "manager", Level: "new"}, {Program: "an-init", Level: "new"}}
	for _, c := range []struct {
		with            string
		all             []record.Build
		want, wantError string
	}{
		{"", both, "manager:new", ""},
		{"default", both, "manager:new", ""},
		{engine.LogFile, both, "manager:new", ""},
		{engine.Init, both, "manager:new an-init:new", ""},
		{engine.LogFile + engine.And + engine.Init, both, "manager:new an-init:new", ""},
		{engine.Init, both[1:], "an-init:new", ""},
		{"", both[1:], "", "an-init:new would not run: Manager starts its an-init only where with=init is named"},
	} {
		var names []string
		got, err := manager.BuildsFor(map[string]string{engine.With: c.with, engine.Build: "new"}, c.all)
		for _, b := range got {
			names = append(names, b.Name())
		}
		if strings.Join(names, " ") != c.want || (err != nil) != (c.wantError != "") || err != nil && !strings.Contains(err.Error(), c.wantError) {
			t.Errorf("with %q: %v %v", c.with, names, err)
		}
	}
}
