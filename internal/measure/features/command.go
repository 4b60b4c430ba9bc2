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

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
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
	if !kit.Root {
		return nil
	}
	return adapter.Credential(kit.User)
}

// maxOutput bounds what is read of a command, bytes.
const maxOutput = 1 << 20

// command runs a program to its end, with nothing of our own environment. Its
// children go with it: they share its process group.
func (b *bench) command(ctx context.Context, env []string, as *credential, argv []string) said {
	path := argv[0]
	if !filepath.IsAbs(path) {
		found, err := b.kit.LookPath(path)
		if err != nil {
			return said{status: -1, err: fmt.Errorf("%s is not installed", path)}
		}
		path = found
	}
	out, errs := &limited{}, &limited{}
	_, err := child.Run(ctx, child.Command{Argv: append([]string{path}, argv[1:]...), Env: append([]string{adapter.Path}, env...), Dir: "/",
		Stdout: out, Stderr: errs, User: as, Limit: commandLimit,
		Leaves: true}) // monitors of containers inherit our pipes and outlive the command
	s := said{out: out.String(), errs: errs.String()}
	var exit *exec.ExitError
	switch {
	case err == nil:
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
