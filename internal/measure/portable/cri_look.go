package portable

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// askCRI asks a server what it is.
func (f *Found) askCRI(ctx context.Context) error {
	s, err := f.address.connectCRI("")
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it was only asked
	v, err := s.greet(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
	defer cancel()
	st, err := s.runtime.Status(ctx, &runtimev1.StatusRequest{})
	if err != nil {
		return s.wrong("asking the server for its state", err)
	}
	for _, c := range st.GetStatus().GetConditions() {
		if c.GetType() == "RuntimeReady" && !c.GetStatus() {
			return unavailable(nil, "", "the CRI at %s says that its runtime is not ready: %s %s", f.Where, c.GetReason(), c.GetMessage())
		}
	}
	if f.RoundTrip, err = s.RoundTrip(ctx); err != nil {
		return s.wrong("measuring the round trip", err)
	}
	for _, h := range st.GetRuntimeHandlers() {
		if h.GetName() != "" { // the default has none
			f.handlers = append(f.handlers, h.GetName())
		}
	}
	f.Facts = map[string]string{"version": v.GetRuntimeVersion(), "api-version": v.GetRuntimeApiVersion(), "endpoint": endpointOf(v.GetRuntimeName()),
		"output": "by ExecSync, with the end of what was executed", "log": logOf(v.GetRuntimeName())}
	pods, err := s.runtime.ListPodSandbox(ctx, &runtimev1.ListPodSandboxRequest{})
	if err != nil {
		return s.wrong("listing the server's pods", err)
	}
	if n := foreignPods(pods.GetItems()); n > 0 {
		f.Facts["other-pods"] = strconv.Itoa(n)
	}
	return nil
}

// foreignPods counts the pods that run and are no run's of ours.
func foreignPods(pods []*runtimev1.PodSandbox) (n int) {
	for _, p := range pods {
		if p.GetState() == runtimev1.PodSandboxState_SANDBOX_READY && p.GetLabels()[engine.Label] == "" {
			n++
		}
	}
	return n
}

// logOf says where a pod's log lies whose configuration names no directory.
func logOf(name string) string {
	if name == "cri-o" {
		return "in CRI-O's own directory of logs, on the engine's machine"
	}
	return "none: it would lie on the engine's machine"
}

// endpointOf turns a server's own name into a level of the factor endpoint.
func endpointOf(name string) string {
	if name == "cri-o" {
		return "crio"
	}
	return name
}

// offersCRI says why a level can't be had by the CRI; "" where it can, or where the
// first container shows it.
func (f *Found) offersCRI(factor, level string, images *Images) (reason, fix string) {
	switch factor {
	case engine.Network:
		if level == "none" {
			return "the CRI knows a pod's own network, which CNI makes, and the host's; a pod without a network it does not know", ""
		}
		return "", ""
	case engine.Client, engine.Seccomp, engine.CPULimit, engine.MemoryLimit, engine.Rootless: // of rootless there is one level
		return "", ""
	case engine.Image:
		return images.Has(level)
	case engine.Endpoint:
		if is := f.Facts["endpoint"]; is != level {
			return fmt.Sprintf("the server at %s is %s", f.Where, is), "set " + criVariable
		}
		return "", ""
	case engine.Runtime:
		if len(f.handlers) > 0 && !slices.Contains(f.handlers, level) {
			return fmt.Sprintf("the server has no runtime handler %s; it has %s", level, strings.Join(f.handlers, ", ")), ""
		}
		return "", ""
	}
	return "the CRI does not tell the engine's " + factor, ""
}

// noCRI says why a workload can't be measured by the CRI alone; "" where it can, or where
// the engine is another one.
func noCRI(env *record.Environment, w *record.Workload) string {
	if env.Engine != CRI {
		return ""
	}
	def, err := workload.Of(*w)
	if err != nil {
		return err.Error()
	}
	inst, err := def.Instance(w.Params)
	switch {
	case err != nil:
		return err.Error()
	case inst.Pull != nil, inst.Exec, inst.Stop:
		return ""
	}
	return "the CRI writes a container's output into a file on the engine's own machine, and streams it from a port there: " +
		"neither its first byte nor what it prints reaches us; exec, stop and pull can be measured"
}
