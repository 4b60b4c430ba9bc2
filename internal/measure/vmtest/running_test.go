//go:build !unit

package vmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// running is a machine that has been started.
type running struct {
	t                     *testing.T
	dir, console, results string        // console and results are files in dir
	over                  chan struct{} // closed when it has ended
	err                   error         // QEMU's, once it has ended, as is
	said                  bytes.Buffer
}

// start starts a machine, which ends with the test at the latest. devices are QEMU's
// arguments for those that not every machine has.
func start(t *testing.T, disk, parameters string, devices ...string) *running {
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
	m := &running{t: t, dir: dir, console: filepath.Join(dir, "console"), results: filepath.Join(dir, "results"), over: make(chan struct{})}
	write(t, m.results, nil)
	if err := os.Truncate(m.results, 64<<20); err != nil { // what /out may hold
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	// No KVM: where there is /dev/kvm in a virtual machine, a guest may hang in it. One
	// processor each: two that are emulated wait for each other, and the same takes a
	// quarter more of ours. Of a busy machine's clock the kernel would find that it does not
	// tick, and would not boot.
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-M", "q35,accel=tcg", "-cpu", "max", "-smp", "1", "-m", "4096",
		"-display", "none", "-monitor", "none", "-no-reboot", "-serial", "file:"+m.console,
		"-drive", "if=virtio,format=raw,readonly=on,file="+disk, "-drive", "if=virtio,format=raw,file="+m.results,
		"-kernel", kernel, "-initrd", filepath.Join(dir, "initramfs"),
		"-append", "console=ttyS0 quiet panic=-1 psi=1 no_timer_check rdinit=/init "+parameters)
	cmd.Args = append(cmd.Args, devices...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &m.said, &m.said, 5*time.Second
	if err := cmd.Start(); err != nil {
		cancel(nil)
		t.Fatal(err)
	}
	go listen(ctx, m.console, cancel)
	go func() {
		defer close(m.over)
		if err := cmd.Wait(); err != nil {
			m.err = errors.Join(context.Cause(ctx), err)
		}
		cancel(nil)
	}()
	t.Cleanup(func() {
		cancel(nil)
		<-m.over
	})
	return m
}

// hears waits until the machine has printed a text.
func (m *running) hears(text string) {
	m.t.Helper()
	for over := false; ; {
		log, _ := os.ReadFile(m.console) // it may not be there yet
		if strings.Contains(string(log), text) {
			return
		}
		if over {
			m.end()
			m.t.Fatalf("the machine ended and has not said %q", text)
		}
		select {
		case <-m.over:
			over = true // what it said last is read once more
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// end waits until the machine ends, and gives the directory with what it left in /out.
func (m *running) end() (out string) {
	m.t.Helper()
	<-m.over
	log, _ := os.ReadFile(m.console)
	text := strings.TrimSpace(string(log))
	m.t.Logf("the machine's console:\n%s", text)
	if m.err != nil {
		m.t.Fatalf("qemu: %v: %s", m.err, m.said.String())
	}
	if !strings.Contains(text, "all is written") {
		m.t.Fatal("the machine ended before its script had")
	}
	out = filepath.Join(m.dir, "out")
	unpack(m.t, m.results, out)
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
