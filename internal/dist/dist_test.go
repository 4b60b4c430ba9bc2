package main

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/hex"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// make dist-check gives these; building a release takes minutes.
var (
	made  = flag.String("dist", "", "directory that build.sh filled")
	again = flag.String("again", "", "another, of the same commit")
)

// release gives the directory and the version that its files are named by.
func release(t *testing.T) (dir, version string) {
	t.Helper()
	if *made == "" {
		t.Skip("no release is given: make dist-check builds one, in some minutes")
	}
	boms, err := filepath.Glob(filepath.Join(*made, "plimsoll-*.cdx.json"))
	if err != nil || len(boms) != 1 {
		t.Fatalf("%d lists of parts in %s: %v", len(boms), *made, err)
	}
	return *made, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(boms[0]), "plimsoll-"), ".cdx.json")
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// sums reads SHA256SUMS by file.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(string(read(t, filepath.Join(dir, "SHA256SUMS")))) {
		sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("SHA256SUMS: %q", line)
		}
		out[file] = sum
	}
	return out
}

func TestDistSums(t *testing.T) {
	dir, version := release(t)
	listed := sums(t, dir)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() == "SHA256SUMS" {
			continue
		}
		sum := sha256.Sum256(read(t, filepath.Join(dir, e.Name())))
		if listed[e.Name()] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: SHA256SUMS says %q", e.Name(), listed[e.Name()])
		}
		delete(listed, e.Name())
	}
	if len(listed) > 0 {
		t.Errorf("listed and not there: %v", listed)
	}
	for _, rest := range []string{"linux-amd64", "linux-arm64", "linux-amd64.tar.gz", "linux-arm64.tar.gz", "linux-amd64.deb", "linux-arm64.deb",
		"linux-amd64.rpm", "linux-arm64.rpm", "darwin-amd64.tar.gz", "darwin-arm64.tar.gz", "windows-amd64.zip"} {
		if _, err := os.Stat(filepath.Join(dir, "plimsoll-"+version+"-"+rest)); err != nil {
			t.Error(err)
		}
	}
}

// Two builds in two places give the same bytes.
func TestDistReproducible(t *testing.T) {
	dir, version := release(t)
	if *again == "" {
		t.Skip("no second build is given: make dist-check makes one")
	}
	first, second := sums(t, dir), sums(t, *again)
	if second["plimsoll-"+version+"-linux-amd64.deb"] == "" {
		t.Fatalf("the second build is of something else: %v", second)
	}
	for file, sum := range second {
		if first[file] != sum {
			t.Errorf("%s differs", file)
		}
	}
}

// The Linux programs are static and of their architecture, and the version is
// stamped.
func TestDistLinux(t *testing.T) {
	dir, version := release(t)
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		path := filepath.Join(dir, "plimsoll-"+version+"-linux-"+arch)
		f, err := elf.Open(path)
		require.NoError(t, err)
		if f.Machine != machine {
			t.Errorf("%s is of %v", path, f.Machine)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is not static: %v", path, p.Type)
			}
		}
		if f.Section(".symtab") != nil || f.Section(".debug_info") != nil {
			t.Errorf("%s is not stripped", path)
		}
		f.Close()
		program := read(t, path)
		if !bytes.Contains(program, []byte(version)) {
			t.Errorf("%s is not stamped with %s", path, version)
		}
		if !bytes.Contains(program, read(t, "../measure/probe/bin/probe-"+arch)) {
			t.Errorf("%s does not carry the probe of its architecture", path)
		}
		if arch == runtime.GOARCH {
			out, err := exec.Command(path, "version").CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "plimsoll "+version+" (") {
				t.Errorf("%s version: %v %s", path, err, out)
			}
		}
	}
}

// The archives hold the program for their system, and all that belongs to it.
func TestDistArchives(t *testing.T) {
	dir, version := release(t)
	for _, target := range []string{"linux-amd64.tar.gz", "linux-arm64.tar.gz", "darwin-amd64.tar.gz", "darwin-arm64.tar.gz", "windows-amd64.zip"} {
		files := unpacked(t, filepath.Join(dir, "plimsoll-"+version+"-"+target))
		name := "plimsoll-" + version + "-" + strings.TrimSuffix(strings.TrimSuffix(target, ".tar.gz"), ".zip") + "/"
		program := bytes.NewReader([]byte(files[name+"plimsoll*"] + files[name+"plimsoll.exe*"]))
		var err error
		switch target {
		case "darwin-amd64.tar.gz", "darwin-arm64.tar.gz":
			var f *macho.File
			if f, err = macho.NewFile(program); err == nil && (f.Cpu == macho.CpuArm64) != strings.Contains(target, "arm64") {
				t.Errorf("%s is of %v", target, f.Cpu)
			}
		case "windows-amd64.zip":
			var f *pe.File
			if f, err = pe.NewFile(program); err == nil && f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
				t.Errorf("%s is of %v", target, f.Machine)
			}
		default:
			_, err = elf.NewFile(program)
			if files[name+"ci/gate.sh*"] == "" || files[name+"ci/pair.sh*"] == "" || files[name+"ci/install.sh*"] == "" {
				t.Errorf("%s has no scripts for CI", target)
			}
		}
		if err != nil {
			t.Errorf("the program in %s: %v", target, err)
		}
		for _, f := range []string{"LICENSE", "NOTICE", "README.md", "man/plimsoll.1", "man/plimsoll-report.1", "completions/plimsoll.bash", "completions/_plimsoll", "docs/compare.md"} {
			if files[name+f] == "" {
				t.Errorf("%s has no %s", target, f)
			}
		}
	}
}
