package containerdclient

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// exporter is containerd's plug-in that sends its own spans; a build may lack it, as
// Debian's 1.6 does.
const exporter = "io.containerd.tracing.processor.v1.otlp"

// Exports says why a private containerd could not send its spans, nil where it can.
func Exports(ctx context.Context, kit *engine.Kit) error {
	program, err := kit.LookPath(program)
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "the program containerd, for a private daemon, is not on the PATH", Fix: "apt-get install containerd"}
	}
	out, err := child.Run(ctx, child.Command{Argv: []string{program, "config", "default"}, Limit: dumpLimit})
	if err != nil {
		return &engine.Error{Class: record.EngineError, Text: "asking containerd for its plug-ins", Err: err}
	}
	if !strings.Contains(string(out.Stdout), exporter) {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("this containerd (%s) is built without what sends spans, the plug-in %s", program, exporter),
			Fix: "put a containerd that has it first on the PATH (those of containerd's own releases have it), or name cri endpoint=crio"}
	}
	return nil
}

// Tracing is what the configuration of a containerd before 2.0 says so that it sends all of
// its spans. From 2.0 on it takes this from its variables alone, and refuses it here.
func Tracing(to *engine.Collector, second bool) string {
	if to == nil || second {
		return ""
	}
	return fmt.Sprintf("[plugins.%q]\nendpoint = %q\nprotocol = \"grpc\"\ninsecure = true\n[plugins.\"io.containerd.internal.v1.tracing\"]\nsampling_ratio = 1.0\nservice_name = \"containerd\"\n", exporter, to.Addr)
}
