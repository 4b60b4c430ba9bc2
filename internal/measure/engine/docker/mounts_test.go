package docker

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
)

// Both clients ask for the same: what the command line reads is held against
// what the API is sent, and a path may hold a comma.
func TestMounts(t *testing.T) {
	s := settings{runID: "r"}
	task := engine.Task{Name: "n", Argv: []string{"/a"}, Mounts: []engine.Mount{
		{Kind: engine.Bind, Source: "/a,b", Target: "/x"}, {Kind: engine.Volume, Target: "/y"},
		{Kind: engine.Tmpfs, Target: "/z", SizeBytes: 42}}}
	want := []string{"--mount", `type=bind,"source=/a,b",target=/x`,
		"--mount", "type=volume,volume-nocopy=true,volume-label=io.plimsoll.run=r,volume-label=io.plimsoll.container=n,target=/y", "--mount", "type=tmpfs,tmpfs-size=42,target=/z"}
	if got := s.mountArgs(task); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	list := s.options(task).HostConfig.Mounts
	if len(list) != 3 || list[0].Source != "/a,b" || !list[1].VolumeOptions.NoCopy || list[1].Source != "" || list[2].TmpfsOptions.SizeBytes != 42 {
		t.Errorf("%+v", list)
	}
}

// one is a held container of this package.
type one struct{ engine.Held }

func (one) ContainerName() string { return "other" }

// A container is put beside one of this package only, and not under a kernel of
// the runtime's own.
func TestBeside(t *testing.T) {
	other := one{}
	task := engine.Task{Name: "n", Argv: []string{"/a"}, Beside: other}
	s := settings{network: "none"}
	if got := string(s.options(task).HostConfig.NetworkMode); got != "container:other" {
		t.Errorf("network %q", got)
	}
	if args := strings.Join(s.args(task), " "); !strings.Contains(args, "--network container:other ") || strings.Contains(args, "none --entry") {
		t.Errorf("%s", args)
	}
	env := &environment{Base: &apirun.Base{}, d: &daemon{flavour: plain}}
	env.AddFacts(map[string]string{"kernel": "host"})
	if f := env.impossible(task); f != nil {
		t.Error(f)
	}
	env.AddFacts(map[string]string{"kernel": "foreign: 4.4.0"})
	if f := env.impossible(task); f == nil {
		t.Error("two sandboxes with network stacks of their own are said to share one")
	}
	task.Beside = struct{ engine.Held }{}
	if f := env.impossible(task); f == nil {
		t.Error("a container of another engine is taken")
	}
	if f := env.impossible(engine.Task{Mounts: []engine.Mount{{Kind: "nfs"}}}); f == nil {
		t.Error("a kind of mount that there is not is taken")
	}
}
