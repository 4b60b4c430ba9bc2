package catalogue

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
)

// What others would otherwise list by hand each engine tells itself.
func TestEveryEngineTells(t *testing.T) {
	for _, e := range All() {
		for _, lack := range untold(e.Info()) {
			t.Errorf("%s: %s", e.Info().Name, lack)
		}
	}
	// The test must be able to fail.
	if lacks := untold(engine.Info{Name: "new"}); len(lacks) != 3 {
		t.Errorf("of an engine that tells nothing there lack %q", lacks)
	}
}

// untold says what an engine does not tell, or tells wrongly.
func untold(info engine.Info) (lacks []string) {
	if info.Typical <= 0 {
		lacks = append(lacks, "Info.Typical: how long does one trial take, clean-up included?")
	}
	if !slices.Contains([]engine.Images{engine.ImagesPulled, engine.ImagesHanded, engine.ImagesGiven}, info.Images) {
		lacks = append(lacks, "Info.Images: how does it come to its images?")
	}
	p := info.Processes
	if !p.Told() {
		lacks = append(lacks, "Info.Processes: what runs beside its payloads? If nothing does, say None")
	}
	for _, name := range slices.Concat(p.Daemons, p.Helpers) {
		if name == "" || len(name) > 15 || strings.Contains(name, "/") {
			lacks = append(lacks, "Info.Processes: the kernel gives no process the name "+name)
		}
	}
	for _, c := range info.Cgroups {
		if _, err := regexp.Compile(c.Path); err != nil || !strings.HasSuffix(c.Path, "$") {
			lacks = append(lacks, "Info.Cgroups: "+c.Path+" is no regular expression of a path's end")
		}
	}
	if !info.OCI && !info.Simulated {
		for _, l := range info.Levels[engine.Runtime] {
			if slices.Contains(runtimes(All(), []string{engine.OCIRuntimes}), l) {
				lacks = append(lacks, "Info.OCI: its runtime "+l+" is an OCI runtime")
			}
		}
	}
	return lacks
}

// The containers that doctor names are told by the ends of their cgroups' paths.
func TestContainersAreTold(t *testing.T) {
	id := strings.Repeat("0f", 32)
	for path, want := range map[string]string{
		"/sys/fs/cgroup/memory/docker/" + id:                     "Docker balenaEngine",
		"/sys/fs/cgroup/system.slice/docker-" + id + ".scope":    "Docker balenaEngine",
		"/sys/fs/cgroup/machine.slice/libpod-" + id + ".scope":   "Podman",
		"/sys/fs/cgroup/libpod_parent/libpod-" + id:              "Podman",
		"/sys/fs/cgroup/machine.slice/libpod-conmon-" + id:       "",
		"/sys/fs/cgroup/kubepods.slice/pod1/crio-" + id:          "CRI-O",
		"/sys/fs/cgroup/kubepods/pod1/" + id:                     "",
		"/sys/fs/cgroup/pids/k8s.io/" + id:                       "containerd",
		"/sys/fs/cgroup/x.slice/cri-containerd-" + id + ".scope": "containerd",
		"/sys/fs/cgroup/lxc.payload.web":                         "LXC",
		"/sys/fs/cgroup/lxc.payload.web/init.scope":              "",
		"/sys/fs/cgroup/lxc.monitor.web":                         "",
		"/sys/fs/cgroup/machine.slice/machine-web.scope":         "systemd-nspawn",
		"/sys/fs/cgroup/system.slice/docker.service":             "",
		"/sys/fs/cgroup/system.slice/cri-containerd-" + id + "x": "",
	} {
		var found []string
		for _, e := range All() {
			info := e.Info()
			for _, c := range info.Cgroups {
				if regexp.MustCompile(c.Path).MatchString(path) {
					found = append(found, strings.TrimPrefix(c.Whose+" "+info.Title, " "))
				}
			}
		}
		if got := strings.TrimSuffix(strings.Join(found, " "), " CRI"); got != want {
			t.Errorf("%s is of %q, want %q", path, got, want)
		}
	}
}

// The words for many runtimes stand for those that the engines have.
func TestRuntimesInRules(t *testing.T) {
	oci, other := runtimes(All(), []string{engine.OCIRuntimes}), runtimes(All(), []string{engine.OtherRuntimes})
	if !slices.Contains(oci, "runc") || !slices.Contains(oci, "kata-fc") || !slices.Equal(other, []string{"lxc"}) {
		t.Errorf("OCI runtimes are %q, others %q", oci, other)
	}
}
