package podman

import (
	"encoding/json"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
)

// period is that of a CPU limit, in microseconds: the one that the podman
// command sets.
const period = 100_000

// spec is what containers/create takes, as far as we set it.
type spec struct {
	Name       string            `json:"name"`
	Image      string            `json:"image"`
	Entrypoint []string          `json:"entrypoint"`
	Command    []string          `json:"command"`
	Env        map[string]string `json:"env,omitempty"`
	Labels     map[string]string `json:"labels"`
	Notes      map[string]string `json:"annotations"`
	Log        struct {
		Driver string `json:"driver"`
	} `json:"log_configuration"`
	Network   *namespace `json:"netns,omitempty"`
	Seccomp   string     `json:"seccomp_profile_path,omitempty"`
	PID       *namespace `json:"pidns,omitempty"`
	UTS       *namespace `json:"utsns,omitempty"`
	IPC       *namespace `json:"ipcns,omitempty"`
	Cgroup    *namespace `json:"cgroupns,omitempty"`
	Cgroups   string     `json:"cgroups_mode,omitempty"`
	Parent    string     `json:"cgroup_parent,omitempty"`
	CapAdd    []string   `json:"cap_add,omitempty"`
	Unmask    []string   `json:"unmask,omitempty"`
	Rlimits   []rlimit   `json:"r_limits,omitempty"`
	Resources *resources `json:"resource_limits,omitempty"`
	Init      bool       `json:"init,omitempty"`
	InitPath  string     `json:"init_path,omitempty"`
	NoNew     bool       `json:"no_new_privileges,omitempty"`
	Volatile  bool       `json:"volatile,omitempty"`
	Score     *int       `json:"oom_score_adj,omitempty"`
	Ports     []port     `json:"portmappings,omitempty"`
	NoHosts   bool       `json:"use_image_hosts,omitempty"`
	NoResolv  bool       `json:"use_image_resolve_conf,omitempty"`
	AppArmor  string     `json:"apparmor_profile,omitempty"`
	SELinux   []string   `json:"selinux_opts,omitempty"`
	Mounts    []mount    `json:"mounts,omitempty"`
	Volumes   []volume   `json:"volumes,omitempty"`
}

type namespace struct {
	Mode  string `json:"nsmode"`
	Value string `json:"value,omitempty"`
}

type rlimit struct {
	Type string `json:"type"`
	Hard uint64 `json:"hard"`
	Soft uint64 `json:"soft"`
}

type port struct {
	Host      string `json:"host_ip"`
	Container uint16 `json:"container_port"`
}

type resources struct {
	CPU    *cpuLimit    `json:"cpu,omitempty"`
	Memory *memoryLimit `json:"memory,omitempty"`
}

type cpuLimit struct {
	Quota  int64  `json:"quota"`
	Period uint64 `json:"period"`
}

type memoryLimit struct {
	Limit int64 `json:"limit"`
	Swap  int64 `json:"swap"`
}

// spec gives the same container as args. There is no init, since the service
// makes one only where it is asked for.
func (s settings) spec(task engine.Task) ([]byte, error) {
	c := spec{Name: task.Name, Image: s.image, Entrypoint: task.Argv[:1], Command: task.Argv[1:],
		Labels: map[string]string{engine.Label: s.runID}, Notes: annotations(s.runID, task.Name)}
	c.Log.Driver = driverFor(s.adds)
	if network := s.networkOf(task); network != "" {
		mode, value, _ := strings.Cut(network, ":")
		c.Network = &namespace{Mode: mode, Value: value}
	}
	c.Parent = s.group
	c.mount(task)
	if s.seccomp == "off" {
		c.Seccomp = "unconfined"
		c.Notes["io.podman.annotations.seccomp"] = "unconfined" // as podman's remote client tells inspect
	}
	c.leaveOut(s.omits)
	c.add(s.adds)
	if len(task.Env) > 0 {
		c.Env = map[string]string{}
	}
	for _, kv := range task.Env {
		k, v, _ := strings.Cut(kv, "=")
		c.Env[k] = v
	}
	for _, option := range s.inherited() {
		if r, ok := parseUlimit(option); ok {
			c.Rlimits = append(c.Rlimits, r)
		}
	}
	if s.limits != (engine.Limits{}) {
		c.Resources = &resources{}
	}
	if s.limits.CPUs > 0 {
		c.Resources.CPU = &cpuLimit{Quota: int64(s.limits.CPUs * period), Period: period}
	}
	if n := s.limits.MemoryBytes; n > 0 {
		c.Resources.Memory = &memoryLimit{Limit: n, Swap: n}
	}
	return json.Marshal(c)
}

// leaveOut takes away what leaveOutArgs do.
func (c *spec) leaveOut(omits engine.Omitted) {
	for mechanism, ns := range map[string]**namespace{engine.PIDNamespace: &c.PID, engine.UTSNamespace: &c.UTS,
		engine.IPCNamespace: &c.IPC, engine.CgroupNamespace: &c.Cgroup} {
		if omits.Has(mechanism) {
			*ns = &namespace{Mode: "host"}
		}
	}
	if omits.Has(engine.OwnCgroup) {
		c.Cgroups = "disabled"
	}
	if omits.Has(engine.Capabilities) {
		c.CapAdd = engine.OwnCapabilities()
	}
	c.NoHosts, c.NoResolv = omits.Has(engine.NameFiles), omits.Has(engine.NameFiles) && (c.Network == nil || c.Network.Mode != "none")
	if omits.Has(engine.AppArmor) {
		c.AppArmor = "unconfined"
	}
	if omits.Has(engine.SELinux) {
		c.SELinux = []string{"disable"}
	}
	if omits.Has(engine.MaskedPaths) {
		c.Unmask = []string{"ALL"}
	}
}

// add asks for what addArgs do, but for a terminal.
func (c *spec) add(adds engine.Omitted) {
	c.Init, c.NoNew, c.Volatile = adds.Has(engine.Init), adds.Has(engine.NoNewPrivileges), adds.Has(engine.Volatile)
	if adds.Has(engine.Init) {
		c.InitPath = initPath()
	}
	if adds.Has(engine.Rlimits) {
		c.Rlimits = append(c.Rlimits, rlimit{Type: "nofile", Hard: engine.RlimitFiles, Soft: engine.RlimitFiles}, rlimit{Type: "core"})
	}
	if adds.Has(engine.OOMScore) {
		score := engine.ScoreAdded
		c.Score = &score
	}
	if adds.Has(engine.PublishedPort) {
		c.Ports = []port{{Host: "127.0.0.1", Container: 9}}
	}
}

// parseUlimit reads "nofile=1024:1024".
func parseUlimit(option string) (r rlimit, ok bool) {
	name, value, ok := strings.Cut(option, "=")
	if !ok {
		return r, false // the option's name
	}
	soft, hard, ok := strings.Cut(value, ":")
	if !ok {
		return r, false
	}
	var err, err2 error
	r.Type = name
	r.Soft, err = strconv.ParseUint(soft, 10, 64)
	r.Hard, err2 = strconv.ParseUint(hard, 10, 64)
	return r, err == nil && err2 == nil
}
