//go:build linux

package imagestore

import (
	"context"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
)

// tool runs a packer with a time limit and a small, fixed environment. What
// it printed is in the error.
func (s *Store) tool(ctx context.Context, limit time.Duration, doing string, env []string, argv ...string) error {
	out, err := child.Run(ctx, child.Command{Argv: argv, Env: append([]string{insidePath, "LC_ALL=C", "HOME=/"}, env...), Limit: limit, Together: true})
	if err != nil {
		return &Error{Text: doing + " with " + strings.Join(argv, " ") + tail(string(out.Stdout)), Err: err}
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
