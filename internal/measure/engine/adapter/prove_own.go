package adapter

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// ProveOwn runs one container that writes a file into its own file system, into
// the directory that every image has for it, and says with the payload's words
// what kept it from that; "" where it could. An option that an engine takes need
// not have come to anything. What keeps the container itself from running is no
// answer: known is then false, and a trial will tell.
func ProveOwn(ctx context.Context, kit *engine.Kit, env engine.Environment, id string) (why string, known bool) {
	args := probe.TaskArgs{Word: Word(), Dir: image.WorkDir, Steps: []probe.TaskStep{{
		Kind: probe.TaskMain, Argv: []string{image.ProbePath, "bench", "small-files", "--count", "1", "--bytes", "1"}}}}
	argv, err := args.Argv(image.ProbePath)
	if err != nil {
		return "", false
	}
	res, err := env.Run(ctx, engine.Task{Name: Name(kit.RunID, id, "own-"+Word()[:6]), Limit: proveLimit, Argv: argv, Own: true})
	if err != nil || res.Failure != nil {
		return "", false
	}
	said, err := probe.ParseTask(res.Stdout, args.Word)
	if err != nil || len(said.Steps) != 1 || said.Steps[0].End == 0 {
		return "", false
	}
	if s := said.Steps[0]; s.Errno == 0 && s.Status == 0 {
		return "", true
	}
	return Words(res.Stderr), true
}
