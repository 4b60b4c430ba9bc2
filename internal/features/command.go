package features

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
)

// said is what came of a command.
type said struct {
	out, errs string
	status    int
	err       error // it did not run, or not to its end
}

func (s said) all() string { return s.out + s.errs }

// maxEvidence bounds what is kept of a command's output, bytes.
const maxEvidence = 500

// trimmed is the beginning and the end of what was printed.
func (s said) trimmed() string {
	text := strings.TrimSpace(strings.ToValidUTF8(s.all(), "?"))
	if s.err != nil {
		text = strings.TrimSpace(text + "\n" + s.err.Error())
	}
	if len(text) <= maxEvidence {
		return text
	}
	half := maxEvidence / 2
	return strings.ToValidUTF8(text[:half], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-half:], "")
}

// credential is another user than ourselves.
type credential = syscall.Credential

// as gives the credential of an ordinary user, nil where that is ourselves.
func as(kit *engine.Kit) *credential {
	if !kit.Root || kit.User == nil {
		return nil
	}
	c := &credential{Uid: uint32(kit.User.UID), Gid: uint32(kit.User.GID)}
	for _, g := range kit.User.Groups {
		c.Groups = append(c.Groups, uint32(g))
	}
	return c
}

// maxOutput bounds what is read of a command, bytes.
const maxOutput = 1 << 20

// command runs a program to its end, with nothing of our own environment. Its
// children go with it: they share its process group.
func (b *bench) command(ctx context.Context, env []string, as *credential, argv []string) said {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	path := argv[0]
	if !filepath.IsAbs(path) {
		found, err := b.kit.LookPath(path)
		if err != nil {
			return said{status: -1, err: fmt.Errorf("%s is not installed", path)}
		}
		path = found
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0] = argv[0]
	cmd.Env = append([]string{clirun.Path}, env...)
	cmd.Dir = "/"
	// Monitors of containers inherit our pipes and outlive the command.
	cmd.WaitDelay = 500 * time.Millisecond
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: as}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, errs := &limited{}, &limited{}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	s := said{out: out.String(), errs: errs.String()}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
	case ctx.Err() != nil:
		s.status, s.err = -1, fmt.Errorf("no end within %v", commandLimit)
	case errors.As(err, &exit):
		s.status = exit.ExitCode()
	default:
		s.status, s.err = -1, err
	}
	return s
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
