//go:build linux

package imagestore

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/measure/child"
)

// bootstrapLimit bounds one debootstrap.
const bootstrapLimit = 20 * time.Minute

// minimalName is what the minimal system of a distribution is called.
func minimalName(id string) string {
	if id == "ubuntu" {
		return "ubuntu-base"
	}
	return id
}

// distribution is the machine's.
func (s *Store) distribution() (distribution, error) {
	return thisDistribution(cmp.Or(s.opts.Root, "/"))
}

// mayBootstrap says whether a root file system of this name can be made here.
func (s *Store) mayBootstrap(name string) (distribution, error) {
	d, err := s.distribution()
	if err == nil && name != "toolbox" && minimalName(d.ID) != name {
		err = fmt.Errorf("the packages of this machine are those of %s, which make the image %s", d.Pretty, minimalName(d.ID))
	}
	if err != nil {
		return d, &Error{Text: "building the image " + name, Err: err}
	}
	if _, err := s.opts.LookPath("debootstrap"); err != nil {
		return d, &Error{Text: "building the image " + name + ": there is no debootstrap on this machine", Fix: "apt-get install debootstrap", Err: err}
	}
	if os.Geteuid() != 0 {
		return d, &Error{Text: "building the image " + name + " needs root: the packages' scripts run in a root directory of their own", Fix: "sudo plimsoll image build " + name}
	}
	return d, nil
}

// bootstrap makes the base of this name, unless it is there.
func (s *Store) bootstrap(ctx context.Context, name string, progress io.Writer) error {
	right := anyBase
	if name == "toolbox" {
		right = thisToolbox
	}
	if _, b, err := s.readBase(name); err == nil && right(b) {
		return nil
	}
	d, err := s.mayBootstrap(name)
	if err != nil {
		return err
	}
	err = s.makeBase(ctx, name, progress, right, func(ctx context.Context, work string) (tree, base, error) {
		if name == "toolbox" {
			return s.installToolbox(ctx, d, work, progress)
		}
		if err := s.debootstrap(ctx, d, work, name, progress); err != nil {
			return nil, base{}, err
		}
		return installed(work, d, nil)
	})
	var e *Error
	if err != nil && !errors.As(err, &e) {
		return &Error{Text: "building the image " + name, Err: err}
	}
	return err
}

// debootstrap installs the minimal system into work.
func (s *Store) debootstrap(ctx context.Context, d distribution, work, name string, progress io.Writer) error {
	tool, err := s.opts.LookPath("debootstrap")
	if err != nil {
		return err
	}
	argv := []string{tool, "--variant=minbase"}
	if d.Keyring != "" {
		argv = append(argv, "--keyring="+d.Keyring)
	}
	return s.packager(ctx, d, name, progress, nil, append(argv, d.Codename, work, d.Mirror)...)
}

// packager runs a program that installs packages and tells its lines on
// progress. It has namespaces of its own for mounts and processes, so that
// nothing outlives it, however it ends.
func (s *Store) packager(ctx context.Context, d distribution, name string, progress io.Writer, env []string, argv ...string) error {
	cmd := child.Command{Argv: argv, Limit: bootstrapLimit}
	cmd.Env = append([]string{insidePath, "LC_ALL=C", "HOME=/root", "DEBIAN_FRONTEND=noninteractive"}, env...)
	for _, k := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		if v := os.Getenv(k); v != "" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	cmd.Attr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	said, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	var last []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			last = append(last, lines.Text())
			last = last[max(0, len(last)-6):]
			fmt.Fprintf(progress, "%s: %s\n", name, strings.TrimPrefix(lines.Text(), "I: "))
		}
		_, _ = io.Copy(io.Discard, said) // a line that is too long
	}()
	fmt.Fprintf(progress, "%s: %s\n", name, strings.Join(argv, " "))
	_, err := child.Run(ctx, cmd)
	_ = w.Close()
	<-done
	if err == nil {
		return nil
	}
	return &Error{Text: fmt.Sprintf("building the image %s with %s from %s%s", name, filepath.Base(argv[0]), d.Mirror, tail(strings.Join(last, "\n"))), Err: err,
		Fix: "see that the apt source can be reached, and try again"}
}

// installed reads what debootstrap has made.
func installed(work string, d distribution, include []string) (tree, base, error) {
	t, err := readTree(work, ofNoInstallation)
	if err != nil {
		return nil, base{}, err
	}
	if t, err = fixShadow(t); err != nil {
		return nil, base{}, err
	}
	status, err := os.ReadFile(filepath.Join(work, "var/lib/dpkg/status"))
	if err != nil {
		return nil, base{}, err
	}
	b := base{Packages: packages(string(status))}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(b.Packages)) {
		fmt.Fprintf(h, "%s %s\n", name, b.Packages[name])
	}
	b.Facts = map[string]string{
		"distribution": d.Pretty, "suite": d.Codename, "built-by": "debootstrap --variant=minbase",
		"packages": fmt.Sprint(len(b.Packages)), "packages-digest": "sha256:" + hex.EncodeToString(h.Sum(nil)),
	}
	for _, name := range append([]string{"base-files", "libc6"}, include...) {
		v, ok := b.Packages[name]
		if !ok {
			return nil, b, fmt.Errorf("the package %s was not installed", name)
		}
		b.Facts["package-"+name] = v
	}
	return t, b, nil
}

// notBuilt is the error for an image whose base is not here.
func (s *Store) notBuilt(name string, err error) error {
	if _, may := s.mayBootstrap(name); may != nil && errors.Is(err, errNoBase) {
		return may
	}
	return &Error{Text: "the image " + name, Fix: "plimsoll image build " + name, Err: err}
}

// buildMinimal makes the content of a distribution's minimal system.
func buildMinimal(name string) func(context.Context, *Store) (*content, error) {
	return func(_ context.Context, s *Store) (*content, error) {
		t, b, err := s.readBase(name)
		if err != nil {
			return nil, s.notBuilt(name, err)
		}
		top, err := probeLayer(s)
		if err != nil {
			return nil, err
		}
		return contentOf(b.Facts, complete(t), top), nil
	}
}
