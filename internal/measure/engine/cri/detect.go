package cri

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// Detect returns version and facts of the endpoint that a study uses by default.
// A level is usable where any of the endpoints has it; Open checks the one asked
// for.
func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	var det engine.Detection
	unusable := func(err error) engine.Detection {
		det.Reason, det.Fix = engine.Reason(err)
		return det
	}
	first, err := e.connect(ctx, kit, engine.DefaultLevel)
	if err != nil {
		return unusable(err)
	}
	defer first.close()
	det.Where = first.path
	det.Version = first.version.GetRuntimeVersion()
	st, err := first.ask(ctx)
	if err == nil {
		err = st.condition("RuntimeReady")
	}
	if err != nil {
		return unusable(err)
	}
	det.Usable = true
	det.Facts = first.facts(st)
	servers := []*server{first}
	states := []*state{st}
	for _, level := range []string{containerd, crio} {
		s, err := e.connect(ctx, kit, level)
		if err != nil || s.path == first.path {
			continue
		}
		defer s.close()
		if st, err := s.ask(ctx); err == nil && st.condition("RuntimeReady") == nil {
			servers, states = append(servers, s), append(states, st)
		}
	}
	det.Levels = engine.LevelsBy(e.Info().Levels, func(factor, level string) (why error) {
		for i, s := range servers {
			err := e.possible(ctx, kit, s, states[i], factor, level)
			if err == nil {
				return nil
			}
			if i == 0 {
				why = err
			}
		}
		return why
	})
	return det
}

// possible says whether a server offers a level; the error has the reason and
// what would help.
func (e *Engine) possible(ctx context.Context, kit *engine.Kit, s *server, st *state, factor, level string) error {
	if level != engine.DefaultLevel {
		if err := engine.Unknown("CRI", e.Info().Levels, factor, level); err != nil {
			return err
		}
	}
	switch factor {
	case engine.Endpoint:
		if level == engine.DefaultLevel || level == endpointOf(s.version.GetRuntimeName()) {
			return nil
		}
		other, err := e.connect(ctx, kit, level)
		if err == nil {
			other.close()
		}
		return err
	case engine.Runtime:
		if kit.Built(level) != "" {
			return s.canBuild(kit, level)
		}
		_, err := st.handlerFor(level)
		return err
	case engine.Storage:
		if level != engine.DefaultLevel && level != st.storage {
			return &engine.Error{Class: record.Unavailable,
				Text: fmt.Sprintf("%s keeps its root file systems with %q", s.version.GetRuntimeName(), st.storage)}
		}
	case engine.Driver:
		if level != engine.DefaultLevel && level != st.driver {
			return &engine.Error{Class: record.Unavailable,
				Text: fmt.Sprintf("the cgroups of %s are made by %q", s.version.GetRuntimeName(), st.driver)}
		}
	case engine.Network:
		return st.networkFor(level)
	case engine.Rootless:
		if is := s.rootless(); level != engine.DefaultLevel && is != "" && is != level {
			return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("the CRI server at %s runs with rootless %s", s.path, is)}
		}
	}
	return nil
}

// networkFor says whether pods can have a network: the pod's own is made by
// CNI, and one without CNI does not exist in the interface.
func (st *state) networkFor(level string) error {
	switch level {
	case engine.DefaultLevel:
		return st.condition("NetworkReady")
	case "none":
		return &engine.Error{Class: record.Unsupported,
			Text: "the CRI knows a pod's own network, which CNI makes, and the host's; a pod without a network it does not know"}
	}
	return nil
}

// facts are what a server says of itself.
func (s *server) facts(st *state) map[string]string {
	f := map[string]string{
		"version": s.version.GetRuntimeVersion(), "endpoint": endpointOf(s.version.GetRuntimeName()),
		"socket": s.path, "cri-version": s.version.GetRuntimeApiVersion(), "client": byAPI,
		"storage": st.storage, "image-store": st.storage, "cgroup": cgroup.Version(), "cgroup-driver": st.driver,
		"default-runtime": st.byThe, "sandbox-image": st.sandbox, "network-by": networkBy(st.cni), "rootless": s.rootless(), "daemon": private.UserFact,
	}
	if s.own != nil {
		f["daemon"], f["registry"] = private.Fact, relayed
		if addr, name, ok := strings.Cut(st.sandbox, "/"); ok && s.own.program == crio && strings.HasPrefix(addr, "127.") {
			f["sandbox-image"] = name // it was served there for a moment
		}
	}
	for k, v := range f {
		if v == "" {
			delete(f, k)
		}
	}
	return f
}
