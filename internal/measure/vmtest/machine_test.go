package vmtest

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "embed"

	"plimsoll/internal/common/require"
)

// firstInit is the initramfs' /init: it unpacks the disk into memory and goes
// on there. The root of an initramfs can't be left by pivot_root, which
// runtimes call.
//
//go:embed testdata/init.sh
var firstInit string

// silent is for how long a machine may print nothing. Its script says what it begins,
// and how long all of it takes depends on who else has the processors.
const silent = 10 * time.Minute

// kernelDir is where the lab keeps the kernel.
func kernelDir() string {
	state := os.Getenv("PLIMSOLL_LAB_STATE")
	if state == "" {
		state = "/var/lib/plimsoll-lab"
	}
	return filepath.Join(state, "vm")
}

// need skips where there is nothing to boot.
func need(t *testing.T) (kernel string) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots virtual machines, which takes most of a minute")
	}
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		t.Skip("qemu-system-x86_64 is not installed: lab/engines/vm up installs it")
	}
	kernel = filepath.Join(kernelDir(), "vmlinuz")
	if _, err := os.Stat(kernel); err != nil {
		t.Skipf("there is no kernel to boot at %s: lab/engines/vm up provides one", kernel)
	}
	return kernel
}

// boot starts a machine on a disk with a root file system, waits until it ends
// and gives the directory with what it left in /out. parameters are the
// kernel's.
func boot(t *testing.T, disk, parameters string) (out string) {
	t.Helper()
	kernel, dir := need(t), t.TempDir()
	early := []file{{"bin", dirMode, nil}, {"dev", dirMode, nil}, {"proc", dirMode, nil}, {"root", dirMode, nil},
		{"bin/busybox", execMode, static(t, "busybox")}, {"init", execMode, []byte(firstInit)}}
	modules, _ := filepath.Glob(filepath.Join(kernelDir(), "*.ko")) // their names begin with their place
	for _, m := range modules {
		text, err := os.ReadFile(m)
		require.NoError(t, err)
		early = append(early, file{filepath.Base(m), 0o100644, text})
	}
	write(t, filepath.Join(dir, "initramfs"), initramfs(early))
	results, console := filepath.Join(dir, "results"), filepath.Join(dir, "console")
	write(t, results, nil)
	if err := os.Truncate(results, 64<<20); err != nil { // what /out may hold
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go listen(ctx, console, cancel)
	// No KVM: where there is /dev/kvm in a virtual machine, a guest may hang in it. One
	// processor each: two that are emulated wait for each other, and the same takes a
	// quarter more of ours. Of a busy machine's clock the kernel would find that it does not
	// tick, and would not boot.
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-M", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", "4096",
		"-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot", "-serial", "file:"+console,
		"-drive", "if=virtio,format=raw,readonly=on,file="+disk, "-drive", "if=virtio,format=raw,file="+results,
		"-kernel", kernel, "-initrd", filepath.Join(dir, "initramfs"),
		"-append", "console=ttyS0 quiet panic=-1 psi=1 no_timer_check rdinit=/init "+parameters)
	cmd.WaitDelay = 5 * time.Second
	said, err := cmd.CombinedOutput()
	log, _ := os.ReadFile(console)
	text := strings.TrimSpace(string(log))
	t.Logf("the machine's console:\n%s", text)
	if err != nil {
		t.Fatalf("qemu: %v: %s", errors.Join(context.Cause(ctx), err), said)
	}
	if !strings.Contains(text, "all is written") {
		t.Fatal("the machine ended before its script had")
	}
	out = filepath.Join(dir, "out")
	unpack(t, results, out)
	return out
}

// listen ends a machine that prints nothing any more.
func listen(ctx context.Context, console string, end context.CancelCauseFunc) {
	var size int64
	for last := time.Now(); ; {
		if fi, err := os.Stat(console); err == nil && fi.Size() != size {
			size, last = fi.Size(), time.Now()
		}
		if time.Since(last) > silent {
			end(fmt.Errorf("the machine has printed nothing for %v", silent))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// unpack takes the machine's own archive apart; nothing in it may lead out of
// the directory.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("reading what the machine left: %v", err)
		}
		if !filepath.IsLocal(h.Name) {
			t.Fatalf("the machine left a file %q", h.Name)
		}
		switch path := filepath.Join(dir, h.Name); h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
		}
		require.NoError(t, err)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, text, 0o644))
}
