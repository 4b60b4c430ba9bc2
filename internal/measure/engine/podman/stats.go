package podman

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docker/go-units"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// MemoryTold returns what `podman stats` prints, to four digits.
func (env *environment) MemoryTold(ctx context.Context, containers []string) (int64, error) {
	if len(containers) == 0 {
		return 0, nil
	}
	var list []struct {
		Used string `json:"mem_usage"`
	}
	err := env.p.read(ctx, &list, append([]string{"stats", "--no-stream", "--format", "json"}, containers...)...)
	var end *failed
	if errors.As(err, &end) && strings.Contains(end.said, "not supported in rootless mode") {
		return 0, &engine.Error{Class: record.Unsupported, Text: end.said}
	}
	if err != nil {
		return 0, wrong("asking for the containers' memory", err)
	}
	if len(list) != len(containers) {
		return 0, fmt.Errorf("podman reported the memory of %d containers, and %d were asked for", len(list), len(containers))
	}
	var sum int64
	for _, c := range list {
		used, _, _ := strings.Cut(c.Used, " / ")
		n, err := units.FromHumanSize(used)
		if err != nil {
			return 0, fmt.Errorf("podman stats printed %q for the memory used: %w", c.Used, err)
		}
		sum += n
	}
	return sum, nil
}
