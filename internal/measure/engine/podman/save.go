package podman

import (
	"context"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/adapter"
)

// Save writes what `podman save` prints.
func (env *environment) Save(ctx context.Context, ref string) (int64, error) {
	var n adapter.Count
	c := child.Command{Argv: env.p.argv([]string{"save", "--quiet", ref}), Env: env.p.env, Dir: "/",
		User: adapter.Credential(env.p.as), Limit: pullLimit, Stdout: &n, Leaves: true}
	if _, err := child.Run(ctx, c); err != nil {
		return int64(n), wrong("saving the image "+ref, err)
	}
	return int64(n), nil
}
