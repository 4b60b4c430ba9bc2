//go:build linux

package image

import (
	"bytes"
	"context"
	"strings"
	"time"

	"os/exec"
)

// tool runs a packer with a time limit and a small, fixed environment. What
// it printed is in the error.
func (s *Store) tool(ctx context.Context, limit time.Duration, doing string, env []string, argv ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append([]string{insidePath, "LC_ALL=C", "HOME=/"}, env...)
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return &Error{Text: doing + " with " + strings.Join(argv, " ") + tail(out.String()), Err: err}
	}
	return nil
}

// tail is the end of what a tool said, on one line.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) > 4 {
		lines = lines[len(lines)-4:]
	}
	s := strings.Join(lines, "; ")
	if len(s) > 500 {
		s = "…" + s[len(s)-500:]
	}
	if s == "" {
		return ""
	}
	return ": it said: " + s
}
