package portable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/progress"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// pull is one `docker pull`, whose credentials are the command's own affair.
func (e *byCommand) pull(ctx context.Context, p pullTask) (course, error) {
	var c course
	if err := e.ledger.Made(e.thing(engine.KindImage, p.ref)); err != nil {
		return c, err
	}
	args := []string{"pull"}
	if e.p.engine == Podman && p.plain {
		args = append(args, "--tls-verify=false")
	}
	cmd := e.p.start(ctx, append(args, p.ref)...)
	out := &heard{}
	cmd.Stdout, cmd.Stderr = out, out // one writer, so one order
	restore := stamp.Quiet()
	c.Events = map[record.Event]int64{record.Request: stamp.Now()}
	err := cmd.Run()
	at := stamp.Now()
	restore()
	if s := cmd.ProcessState; s != nil {
		c.Client = &record.Usage{UserNS: int64(s.UserTime()), SystemNS: int64(s.SystemTime())}
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		c.Failure = failedBy(record.TimeOut, "%s pull did not end in time and was killed", e.p.engine)
	case errors.As(err, &exit):
		c.Failure = failedBy(record.EngineError, "%s pull ended with status %d: %s", e.p.engine, exit.ExitCode(), brief(out.last()))
	case err != nil:
		c.Failure = failedBy(record.HarnessError, "%s pull: %v", e.p.engine, err)
	}
	if c.Failure != nil {
		c.nothing = e.p.engine == Podman && len(copying(out.lines)) == 0
		return c, nil
	}
	c.Events[record.Ready] = at
	if e.p.engine == Podman {
		c.Steps = copying(out.lines)
		return c, nil
	}
	var said progress.Pull
	for _, l := range out.lines {
		said.AddLine(l.at, l.text)
	}
	c.Steps, c.held = said.Steps(false), said.Held
	return c, nil
}

func (e *byCommand) drop(ctx context.Context, ref string) error {
	return e.ledger.dropped(e.thing(engine.KindImage, ref), func() error { return e.p.removeImage(ctx, ref) })
}

// storedFormat asks for what is read of an image; both programs take Go's templates.
const storedFormat = `{"digests":{{json .RepoDigests}},"size":{{.Size}}}`

func (e *byCommand) stored(ctx context.Context, ref string) (s stored, err error) {
	text, err := e.p.ask(ctx, "image", "inspect", "--format", storedFormat, ref)
	if err != nil {
		return s, err
	}
	var said struct {
		Digests []string
		Size    int64
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return s, fmt.Errorf("reading what %s says of the image %s (%q): %w", e.p.engine, ref, text, err)
	}
	return stored{digests: said.Digests, size: said.Size}, nil
}

// line is what was said, and when it came: CLOCK_MONOTONIC, ns.
type line struct {
	at   int64
	text string
}

// copying are the parts of a pull of Podman's, by what it says.
func copying(lines []line) (steps []record.Step) {
	for _, part := range progress.Copying {
		for _, l := range lines {
			if strings.Contains(l.text, part.Line) {
				steps = append(steps, record.Step{Name: part.Over, At: l.at})
				break
			}
		}
	}
	return steps
}

// heard stamps the lines of a command as they come.
type heard struct {
	lines []line
	rest  []byte
}

// mostHeard bounds what is kept: beyond it the last line is always the newest.
const mostHeard = 4000

func (h *heard) Write(b []byte) (int, error) {
	at := stamp.Now()
	h.rest = append(h.rest, b...)
	for {
		i := bytes.IndexAny(h.rest, "\r\n")
		if i < 0 {
			break
		}
		if text := strings.TrimSpace(string(h.rest[:i])); text != "" {
			if len(h.lines) == mostHeard {
				h.lines = h.lines[:mostHeard-1]
			}
			h.lines = append(h.lines, line{at, text})
		}
		h.rest = h.rest[i+1:]
	}
	if len(h.rest) > 64<<10 {
		h.rest = nil
	}
	return len(b), nil
}

// last is the last that was said.
func (h *heard) last() string {
	if s := lastLine(h.rest); s != "" || len(h.lines) == 0 {
		return s
	}
	return lastLine([]byte(h.lines[len(h.lines)-1].text))
}
