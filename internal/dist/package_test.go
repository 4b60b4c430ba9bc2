package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// inPackage are files that every package has.
var inPackage = []string{"/usr/bin/plimsoll", "/usr/share/man/man1/plimsoll.1.gz", "/usr/share/man/man1/plimsoll-run.1.gz",
	"/usr/share/bash-completion/completions/plimsoll", "/usr/share/fish/vendor_completions.d/plimsoll.fish",
	"/usr/share/doc/plimsoll/README.md", "/usr/share/doc/plimsoll/NOTICE", "/usr/share/doc/plimsoll/docs/compare.md", "/usr/share/plimsoll/ci/gate.sh"}

// The .deb says what it is, installs into an empty root, runs there, and goes
// without a trace.
func TestDistDeb(t *testing.T) {
	dir, version := release(t)
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("no dpkg here")
	}
	do := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		deb := filepath.Join(dir, "plimsoll-"+version+"-linux-"+arch+".deb")
		field := func(name string) string { return strings.TrimSpace(do("dpkg-deb", "-f", deb, name)) }
		if field("Package") != "plimsoll" || field("Architecture") != arch || field("Depends") != "" || field("Recommends") != "" {
			t.Errorf("%s:\n%s", deb, do("dpkg-deb", "-I", deb))
		}
		if v := field("Version"); exec.Command("dpkg", "--validate-version", v).Run() != nil {
			t.Errorf("%s: %q is no version", deb, v)
		}
		listing := do("dpkg-deb", "-c", deb)
		for _, f := range append(inPackage, "/usr/share/doc/plimsoll/copyright") {
			if !strings.Contains(listing, " ."+f+"\n") {
				t.Errorf("%s has no %s", deb, f)
			}
		}
		for line := range strings.Lines(listing) {
			if !strings.Contains(line, " root/root ") {
				t.Errorf("%s: not root's: %s", deb, line)
			}
		}
		if arch != runtime.GOARCH {
			continue
		}
		if os.Geteuid() != 0 {
			t.Log("not root: the package is not installed")
			continue
		}
		root := t.TempDir()
		for _, d := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
			require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o755))
		}
		for _, f := range []string{"status", "available"} {
			require.NoError(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg", f), nil, 0o644))
		}
		dpkg := func(args ...string) string {
			return do("dpkg", append([]string{"--root=" + root, "--force-not-root", "--force-script-chrootless", "--log=/dev/null"}, args...)...)
		}
		dpkg("-i", deb)
		if out := do(filepath.Join(root, "usr/bin/plimsoll"), "version"); !strings.HasPrefix(out, "plimsoll "+version+" ") {
			t.Errorf("installed: %s", out)
		}
		dpkg("-P", "plimsoll")
		if _, err := os.Stat(filepath.Join(root, "usr/bin/plimsoll")); err == nil {
			t.Error("it is there after it was removed")
		}
	}
}

// The .rpm is one, and holds the same files.
func TestDistRPM(t *testing.T) {
	dir, version := release(t)
	for _, arch := range []string{"amd64", "arm64"} {
		rpm := filepath.Join(dir, "plimsoll-"+version+"-linux-"+arch+".rpm")
		if !bytes.HasPrefix(read(t, rpm), []byte{0xed, 0xab, 0xee, 0xdb}) {
			t.Fatalf("%s does not begin as an RPM does", rpm)
		}
		if _, err := exec.LookPath("rpm"); err != nil {
			t.Skip("no rpm here to read it with (package rpm)")
		}
		ask := func(args ...string) string {
			t.Helper()
			out, err := exec.Command("rpm", append(append([]string{"--dbpath", t.TempDir()}, args...), rpm)...).CombinedOutput()
			if err != nil {
				t.Fatalf("rpm %v: %v\n%s", args, err, out)
			}
			return string(out)
		}
		ask("-K", "--nosignature")
		listing := ask("-qpl")
		for _, f := range append(inPackage, "/usr/share/licenses/plimsoll/LICENSE") {
			if !strings.Contains(listing, f+"\n") {
				t.Errorf("%s has no %s", rpm, f)
			}
		}
		want := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
		if got := ask("-qp", "--queryformat", "%{NAME} %{ARCH} %{LICENSE}"); got != "plimsoll "+want+" Apache-2.0" {
			t.Errorf("%s: %s", rpm, got)
		}
		for line := range strings.Lines(ask("-qp", "--requires")) {
			if !strings.HasPrefix(line, "rpmlib(") {
				t.Errorf("%s requires %s", rpm, line)
			}
		}
	}
}
