package docker

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// firstWithSpans is the version of Docker that sends its own spans.
const firstWithSpans = 25

func (e *Engine) Spans(ctx context.Context, kit *engine.Kit, spec engine.Spec) error {
	if e.daemon == "" {
		return &engine.Error{Class: record.Unsupported, Text: e.name + " has no private daemon that could be asked for spans"}
	}
	program, no := e.daemonProgram(kit)
	if no != nil {
		return no
	}
	out, err := child.Run(ctx, child.Command{Argv: []string{program, "--version"}, Limit: engine.DetectLimit})
	if err != nil {
		return &engine.Error{Class: record.EngineError, Text: "asking dockerd for its version", Err: err}
	}
	version := cmp.Or(cliVersion(string(out.Stdout)), "of an unknown version")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < firstWithSpans {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("Docker %s makes no spans: it does from %d on", version, firstWithSpans),
			Fix: "name cri endpoint=crio, or see where the time goes without --spans"}
	}
	if !asksOwn(spec) {
		return &engine.Error{Class: record.Unsupported, Text: "this is your daemon, which is neither restarted nor asked", Fix: "plimsoll explain docker with=own-daemon --spans starts one of its own"}
	}
	return nil
}
