package cri

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// A private server knows all builds of runtimes that there are, in the form that its
// version reads, and no other program.
func TestConfiguration(t *testing.T) {
	builds := []record.Build{{Program: "podman", Level: "new", Path: "/opt/podman"}, {Program: "crun", Level: "old", Path: "/opt/a b/crun"}, {Program: "crun", Level: "new", Path: "/opt/crun"}}
	for second, want := range map[bool][]string{
		false: {"version = 2\n", `[plugins."io.containerd.grpc.v1.cri".cni]` + "\n" + `bin_dir = "/usr/lib/cni"`, `sandbox_image = "pause:1"`},
		true:  {"version = 3\n", `[plugins."io.containerd.cri.v1.runtime".cni]` + "\n" + `bin_dirs = ["/usr/lib/cni"]`, `[plugins."io.containerd.cri.v1.images".pinned_images]` + "\n" + `sandbox = "pause:1"`},
	} {
		text := configuration{dir: "/d", socket: "/d/c.sock", pause: "pause:1", plugins: "/usr/lib/cni", second: second, like: &state{storage: "native"}, builds: builds}.text()
		old := handlerOf("crun", "/opt/a b/crun")
		want = append(want, `snapshotter = "native"`, `default_runtime_name = "`+old+`"`, ".containerd.runtimes."+old+".options]\nBinaryName = \"/opt/a b/crun\"",
			".containerd.runtimes."+handlerOf("crun", "/opt/crun")+"]\nruntime_type")
		for _, w := range want {
			if strings.Count(text, w) != 1 {
				t.Errorf("containerd 2: %v: not once %q in\n%s", second, w, text)
			}
		}
		if strings.Contains(text, `runtimes.runc]`) {
			t.Errorf("a runtime that is not there is a handler:\n%s", text)
		}
		plain := configuration{dir: "/d", second: second, like: &state{byThe: "crun"}, builds: builds, plain: map[string]string{"runc": "/bin/runc", "crun": "/bin/crun"}}.text()
		for _, w := range []string{`default_runtime_name = "crun"`, ".containerd.runtimes.runc.options]\nBinaryName = \"/bin/runc\"", handlerOf("crun", "/opt/crun")} {
			if !strings.Contains(plain, w) {
				t.Errorf("containerd 2: %v: no %q in\n%s", second, w, plain)
			}
		}
		if strings.Contains(text, "podman") {
			t.Errorf("a program that is no runtime is a handler:\n%s", text)
		}
	}
}
