package lxd

import (
	"context"
	"path"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// instance is what is read of a live container.
type instance struct {
	Config  map[string]string `json:"expanded_config"`
	Devices map[string]device `json:"expanded_devices"`
	Status  string
}

// prove runs one container and shows by what the daemon says of it, and by
// what the payload sees from inside, that it is what was asked for.
func (env *environment) prove(ctx context.Context) error {
	var live instance
	env.look = func(ctx context.Context, name string) error {
		return env.d.get(ctx, "/1.0/instances/"+name, &live)
	}
	payload, err := adapter.Prove(ctx, env.kit, env, env.spec.ID)
	env.look = nil
	if err != nil {
		return err
	}
	in := payload.Report
	privileged := live.Config["security.privileged"] == "true"
	facts := map[string]string{
		"root-fs": in["root.fs"], "seccomp": seccompWord(in["seccomp"]), "seccomp-inside": in["seccomp"],
		"user": "root as " + in["uid_map"], "privileged": "no", "capabilities": in["cap.eff"],
		"cgroup": cgroupVersion(in),
	}
	if privileged {
		facts["privileged"] = "yes"
	}
	env.AddFacts(facts)
	if err := adapter.JudgeOmitted(env.spec, in); err != nil {
		return err
	}
	return env.judge(live, in, privileged)
}

func seccompWord(mode string) string {
	switch mode {
	case "0":
		return "off"
	case "2":
		return "default"
	}
	return mode
}

// cgroupVersion is what the payload lives in: a v1 machine may have an empty
// v2 hierarchy beside.
func cgroupVersion(in map[string]string) string {
	if _, ok := in["cgroup.memory"]; ok {
		return "v1"
	}
	if _, ok := in["cgroup.v2"]; ok {
		return "v2"
	}
	return ""
}

// judge compares what was found with what was asked for.
func (env *environment) judge(live instance, in map[string]string, privileged bool) error {
	if got := live.Devices["root"]["pool"]; got != env.pool.Name {
		return adapter.Wrong("asked for the storage pool %s, the container's is %q", env.pool.Name, got)
	}
	if env.pool.Driver == "btrfs" && in["root.fs"] != "btrfs" {
		return adapter.Wrong("asked for the storage driver btrfs, the root inside is %s", in["root.fs"])
	}
	if ns := in["ns.net"]; ns != "" && ns == adapter.HostNow().Net {
		return adapter.Wrong("the container has the host's network namespace")
	}
	nics := 0
	for _, dev := range live.Devices {
		if dev["type"] == "nic" {
			nics++
		}
	}
	// The loopback is there besides.
	if got := len(strings.Fields(strings.ReplaceAll(in["net.names"], ",", " "))); got != nics+1 || nics != len(env.networks) {
		return adapter.Wrong("asked for the networks %q, the container has %d, and inside there are %s", env.networks, nics, in["net.names"])
	}
	if privileged != (strings.HasPrefix(in["uid_map"], "0 0 ")) {
		return adapter.Wrong("the container's security.privileged is %v, and its user map inside is %s", privileged, in["uid_map"])
	}
	if asked := env.spec.Level(engine.Privileged); asked != engine.DefaultLevel && (asked == "yes") != privileged {
		return adapter.Wrong("asked for privileged=%s, and the container's security.privileged is %v", asked, privileged)
	}
	// Where we live under a filter ourselves, so does every child.
	if got := in["seccomp"]; env.spec.Level(engine.Seccomp) == "off" && got != "0" && got != "" && adapter.HostNow().Seccomp == "0" {
		return adapter.Wrong("asked for seccomp off, and the payload ran in mode %s", got)
	}
	if want := path.Base(strings.Fields(initCommand)[0]); !strings.HasPrefix(want, in["pid1"]) || in["pid1"] == "" {
		return adapter.Wrong("asked for %s as the init, PID 1 is %q", want, in["pid1"])
	}
	return nil
}
