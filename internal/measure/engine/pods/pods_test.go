package pods

import (
	"reflect"
	"testing"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
)

// TestPods: what a study asks for is what the server is asked for.
func TestPods(t *testing.T) {
	image := &v1.ImageSpec{Image: "x"}
	task := engine.Task{Name: "plimsoll-r-1", Argv: []string{"/payload", "say", "word"}, Env: []string{"A=b=c"}}
	plain := Settings{RunID: "r"}
	c := plain.Container(task, "payload", image)
	sc := c.GetLinux().GetSecurityContext()
	if n := sc.GetNamespaceOptions(); n.GetNetwork() != v1.NamespaceMode_POD || n.GetPid() != v1.NamespaceMode_CONTAINER {
		t.Errorf("the namespaces are %v", n)
	}
	if sc.GetSeccomp().GetProfileType() != v1.SecurityProfile_RuntimeDefault || len(sc.GetMaskedPaths()) == 0 || len(sc.GetReadonlyPaths()) == 0 {
		t.Errorf("it is confined by %v", sc)
	}
	if r := c.GetLinux().GetResources(); r.GetCpuQuota() != 0 || r.GetMemoryLimitInBytes() != 0 {
		t.Errorf("without limits it has %v", r)
	}
	if e := c.GetEnvs(); len(e) != 1 || e[0].GetKey() != "A" || e[0].GetValue() != "b=c" {
		t.Errorf("the environment is %v", e)
	}
	if !reflect.DeepEqual(c.GetCommand(), []string{"/payload"}) || !reflect.DeepEqual(c.GetArgs(), []string{"say", "word"}) {
		t.Errorf("it runs %v %v", c.GetCommand(), c.GetArgs())
	}
	pod := plain.Sandbox(task.Name)
	if pod.GetHostname() == "" || pod.GetLabels()[engine.Label] != "r" || c.GetLabels()[engine.Label] != "r" {
		t.Errorf("the pod is %v", pod)
	}
	if in := pod.GetLabels()["io.kubernetes.container.name"]; in != "" || c.GetLabels()["io.kubernetes.container.name"] != "payload" {
		t.Errorf("the container's name is %q in the pod's labels, and %v in its own", in, c.GetLabels())
	}

	asked := Settings{HostNet: true, Unconfined: true, Limits: engine.Limits{CPUs: 0.5, MemoryBytes: 64 << 20}}
	c, pod = asked.Container(task, "payload", image), asked.Sandbox(task.Name)
	r := c.GetLinux().GetResources()
	if r.GetCpuPeriod() != 100_000 || r.GetCpuQuota() != 50_000 || r.GetMemoryLimitInBytes() != 64<<20 || r.GetMemorySwapLimitInBytes() != 64<<20 {
		t.Errorf("the limits are %v", r)
	}
	ps, cs := pod.GetLinux().GetSecurityContext(), c.GetLinux().GetSecurityContext()
	if ps.GetNamespaceOptions().GetNetwork() != v1.NamespaceMode_NODE || cs.GetNamespaceOptions().GetNetwork() != v1.NamespaceMode_NODE || pod.GetHostname() != "" {
		t.Errorf("on the host's network the pod is %v", pod)
	}
	if ps.GetSeccomp().GetProfileType() != v1.SecurityProfile_Unconfined || cs.GetSeccomp().GetProfileType() != v1.SecurityProfile_Unconfined {
		t.Errorf("without a profile the container is %v", c)
	}
}
