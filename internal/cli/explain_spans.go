//go:build linux

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/spans"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// ownSpans refuses --spans where it can't go together with what else is asked for.
func (f *explainFlags) ownSpans(c *cobra.Command, args []string) error {
	switch {
	case !f.spans:
		return nil
	case c.ArgsLenAtDash() == 0:
		return fail(Usage, "--spans is for environments: plimsoll explain ENGINE --spans")
	case f.many(c, args) || f.together[0] > 1, c.Flags().Changed("against"):
		return fail(Usage, "--spans is for one environment, and one start at a time: --at-once and --against can't be given with it")
	case f.keep != "":
		return fail(Usage, "--spans and --keep can't be given together: no record has the engine's own spans; --format json -o FILE has them")
	case slices.Contains([]string{"html", "folded"}, f.format):
		return fail(Usage, "--format %s shows no spans: choose text, json or chrome", f.format)
	}
	return nil
}

// receive begins to take in the spans of an environment's daemon; it is refused before
// anything is started where no daemon of ours sends any.
func (f *explainFlags) receive(ctx context.Context, s *setting, env record.Environment, lacks string) (*engine.Collector, error) {
	if lacks != "" {
		return nil, fail(Usage, "--spans shows the engine's own spans next to the recorded path: %s", lacks)
	}
	can, ok := s.engine(env.Engine).(engine.Spanning) // all are shielded
	if !ok {
		return nil, fail(Usage, "no engine %q", env.Engine)
	}
	ctx, cancel := child.Within(ctx, engine.DetectLimit)
	defer cancel()
	if err := can.Spans(ctx, s.detectKit(), engine.Spec{ID: env.ID, Levels: maps.Clone(env.Levels)}); err != nil {
		why, fix := engine.Reason(err)
		if fix == "" {
			fix = "those that can: " + spanning(s.engines)
		}
		return nil, withHint(fail(Usage, "%s can't be explained with --spans: %s", env.ID, why), "%s", fix)
	}
	var err error
	if f.received, err = spans.Listen(); err != nil {
		return nil, fail(Failed, "%w", err)
	}
	return f.received.Collector(), nil
}

// told sets what has come beside what was followed.
func (f *explainFlags) told(x *timeline.Explanation, env string) {
	x.Own(&timeline.OwnSpans{
		How:          fmt.Sprintf("%s ran on a private daemon with its own tracing switched on, for every call, towards Plimsoll: that is another configuration than that of your daemon, and the times above are this one's.", env),
		ClockErrorNS: f.received.ClockError(), Refused: f.received.Refused(),
	})
}

// spanning names the engines that can be asked for spans of their own; nil stands for the
// whole catalogue.
func spanning(all engines) string {
	if all == nil {
		all = catalogue.All()
	}
	var how []string
	for _, e := range all {
		if h := e.Info().Spans; h != "" {
			how = append(how, h)
		}
	}
	return strings.Join(how, ", ")
}
