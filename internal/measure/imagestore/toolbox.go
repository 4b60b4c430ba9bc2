//go:build linux

package imagestore

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
)

// toolboxPackages are what workloads need besides the minimal system.
var toolboxPackages = []string{"apache2-bin", "apache2-utils", "fio", "iperf3", "iputils-ping", "nginx-light", "openmpi-bin",
	"openssl", "p7zip-full", "postgresql-15", "python3", "redis-server", "redis-tools", "sockperf", "sqlite3", "stress-ng",
	"sysbench", "wrk"}

// toolboxLeftOut is what the packages bring and no workload uses: the
// compiler that PostgreSQL has for long queries (it does without where the
// compiler is not there), sources of locales, settings and keys that are
// others in every installation.
var toolboxLeftOut = []string{
	"/etc/postgresql", "/etc/postgresql-common", "/etc/ssl/certs", "/etc/ssl/private", "/usr/lib/postgresql/15/lib/bitcode",
	"/usr/lib/postgresql/15/lib/llvmjit.so", "/usr/lib/postgresql/15/lib/llvmjit_types.bc", "/usr/sbin/policy-rc.d", "/usr/share/i18n",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/lib/x86_64-linux-gnu/libz3.so.4",
	"/usr/lib/aarch64-linux-gnu/libLLVM-14.so.1", "/usr/lib/aarch64-linux-gnu/libz3.so.4",
}

// toolboxFiles are our own workload programs: they come into the image as it
// is packed, without building it anew.
//
//go:embed toolbox
var toolboxFiles embed.FS

// toolboxRecipe names what the toolbox is made of. One that was made of
// something else has not what workloads expect.
func toolboxRecipe() string {
	sum := sha256.Sum256([]byte(strings.Join(toolboxPackages, " ") + "\n" + strings.Join(toolboxLeftOut, " ")))
	return hex.EncodeToString(sum[:8])
}

var errOtherRecipe = fmt.Errorf("%w: the one here has other packages, of another version of Plimsoll", errNoBase)

func thisToolbox(b base) bool { return b.Facts["recipe"] == toolboxRecipe() }

// installToolbox puts the packages over the minimal system, which was made
// before, below work.
func (s *Store) installToolbox(ctx context.Context, d distribution, work string, progress io.Writer) (tree, base, error) {
	minimal, _, err := s.readBase(minimalName(d.ID))
	if err != nil {
		return nil, base{}, err
	}
	if err := complete(minimal).writeDirectory(work); err != nil {
		return nil, base{}, err
	}
	if err := prepareForPackages(work); err != nil {
		return nil, base{}, fmt.Errorf("preparing the root directory for packages: %w", err)
	}
	conf, err := s.aptSettings(ctx, d, work)
	if err != nil {
		return nil, base{}, err
	}
	// The program's own /proc, gone with its namespace. What Python compiles
	// must hold whatever time the source file has: all times become the same.
	const script = `set -eu
work=$1; shift
mount -t proc proc "$work/proc"
apt-get update
apt-get install --yes "$@"
chroot "$work" python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3*`
	argv := append([]string{"sh", "-c", script, "apt-get", work}, toolboxPackages...)
	if err := s.packager(ctx, d, "toolbox", progress, []string{"APT_CONFIG=" + conf}, argv...); err != nil {
		return nil, base{}, err
	}
	for _, p := range toolboxLeftOut {
		if err := safepath.RemoveAll(filepath.Join(work, p)); err != nil {
			return nil, base{}, err
		}
	}
	t, b, err := installed(work, d, toolboxPackages)
	if err != nil {
		return nil, base{}, err
	}
	b.Facts["built-by"] = "debootstrap --variant=minbase, apt-get install --no-install-recommends"
	b.Facts["left-out"] = strings.Join(toolboxLeftOut, " ")
	b.Facts["recipe"] = toolboxRecipe()
	return t, b, nil
}

// prepareForPackages gives a root directory what packages' scripts expect and
// no image keeps: devices, caches, and a rule that no service is started.
func prepareForPackages(work string) error {
	for _, dir := range []string{"run/lock", "var/cache/apt/archives/partial", "var/cache/debconf", "var/cache/ldconfig", "var/log/apt",
		"etc/postgresql-common"} {
		if err := os.MkdirAll(filepath.Join(work, dir), 0o755); err != nil {
			return err
		}
	}
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		file := filepath.Join(work, "dev", name)
		if err := unix.Mknod(file, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err != nil { //nolint:gosec // a small number
			return err
		}
		if err := os.Chmod(file, 0o666); err != nil { // the umask took bits away
			return err
		}
	}
	for name, file := range map[string]struct {
		text string
		mode fs.FileMode
	}{
		"usr/sbin/policy-rc.d":                     {"#!/bin/sh\nexit 101\n", 0o755},
		"etc/postgresql-common/createcluster.conf": {"create_main_cluster = false\n", 0o644},
	} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(file.text), file.mode); err != nil { //nolint:gosec // a script is executable
			return err
		}
	}
	return nil
}

// aptSettings writes settings with which this machine's apt installs into
// work: from the one source, with work's dpkg. How archives are reached
// (proxies) is the machine's own.
func (s *Store) aptSettings(ctx context.Context, d distribution, work string) (string, error) {
	tool, err := s.opts.LookPath("apt-config")
	if err != nil {
		return "", err
	}
	acquire, err := child.Run(ctx, child.Command{Argv: []string{tool, "dump", "Acquire"}, Limit: 30 * time.Second})
	if err != nil {
		return "", fmt.Errorf("asking apt for its settings: %w", err)
	}
	dir := work + ".apt"
	for _, sub := range []string{"lists/partial", "empty"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return "", err
		}
	}
	components := "main"
	if d.ID == "ubuntu" {
		components = "main universe"
	}
	signed := ""
	if d.Keyring != "" {
		signed = "[signed-by=" + d.Keyring + "] "
	}
	source := fmt.Sprintf("deb %s%s %s %s\n", signed, d.Mirror, d.Codename, components)
	if err := os.WriteFile(filepath.Join(dir, "sources.list"), []byte(source), 0o600); err != nil {
		return "", err
	}
	text := string(acquire.Stdout)
	for _, set := range [][2]string{
		{"Dir::Etc::main", "/dev/null"}, {"Dir::Etc::parts", dir + "/empty"}, {"Dir::Etc::sourcelist", dir + "/sources.list"},
		{"Dir::Etc::sourceparts", dir + "/empty"}, {"Dir::Etc::preferences", "/dev/null"}, {"Dir::Etc::preferencesparts", dir + "/empty"},
		{"Dir::State::lists", dir + "/lists"}, {"Dir::State::extended_states", dir + "/extended"},
		{"Dir::State::status", work + "/var/lib/dpkg/status"}, {"Dir::Log", work + "/var/log/apt"},
		{"Dir::Cache::pkgcache", ""}, {"Dir::Cache::srcpkgcache", ""}, {"Dir::Cache::archives", work + "/var/cache/apt/archives"},
		{"DPkg::Chroot-Directory", work}, {"DPkg::Use-Pty", "false"}, {"Acquire::Languages", "none"},
		{"APT::Install-Recommends", "false"}, {"APT::Sandbox::User", "root"}, {"APT::Get::Assume-Yes", "true"},
	} {
		text += fmt.Sprintf("%s %q;\n", set[0], set[1])
	}
	// What no image keeps is not even unpacked; a half-made root directory is
	// thrown away, so nothing is synchronised.
	text += "DPkg::Options { \"--force-unsafe-io\"; \"--force-confdef\";"
	for _, p := range []string{"doc", "man", "info", "locale", "lintian", "i18n"} {
		text += fmt.Sprintf(" %q;", "--path-exclude=/usr/share/"+p+"/*")
	}
	text += " };\n"
	file := filepath.Join(dir, "apt.conf")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// buildToolbox lays the packages over the minimal system, as a layer.
func buildToolbox(_ context.Context, s *Store) (*content, error) {
	whole, b, err := s.readBase("toolbox")
	if err == nil && !thisToolbox(b) {
		err = errOtherRecipe
	}
	if err != nil {
		return nil, s.notBuilt("toolbox", err)
	}
	d, err := s.distribution()
	if err != nil {
		return nil, &Error{Text: "the image toolbox", Err: err}
	}
	minimal, _, err := s.readBase(minimalName(d.ID))
	if err != nil {
		return nil, s.notBuilt(minimalName(d.ID), err)
	}
	top, err := probeLayer(s)
	if err != nil {
		return nil, err
	}
	if err := addPrograms(&top, toolboxFiles, "toolbox", "/opt/plimsoll"); err != nil {
		return nil, &Error{Text: "the image toolbox", Err: err}
	}
	low := complete(minimal)
	return contentOf(b.Facts, low, over(low, complete(whole)), top), nil
}

// addPrograms adds the files of a folder, all of them executable.
func addPrograms(t *tree, from fs.FS, folder, to string) error {
	return fs.WalkDir(from, folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, p)
		if err != nil {
			return err
		}
		t.add(entry{path: to + strings.TrimPrefix(p, folder), kind: kindFile, mode: 0o755, data: data})
		return nil
	})
}
