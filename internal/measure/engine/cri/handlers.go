package cri

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// runtimeLevels are the runtimes that a study can ask for by name. What a
// server calls its handlers is its owner's choice; handlerNames has the usual
// names.
var runtimeLevels = []string{"runc", "crun", "youki", "runsc", "kata", "kata-qemu", "kata-clh", "kata-fc"}

// handlerNames are the names under which a runtime is found, its own first.
var handlerNames = map[string][]string{
	"runsc": {"runsc", "gvisor"},
	"kata":  {"kata", "kata-qemu", "kata-clh", "kata-fc", "kata-runtime"},
}

// handler is one runtime handler of a server.
type handler struct {
	Name string
	// Path is the program, where the server says.
	Path string
	// Type is containerd's name of the shim, or CRI-O's "oci" and "vm".
	Type string
}

// state is what a server says of itself.
type state struct {
	ready map[string]*v1.RuntimeCondition
	// known says that the server lists its handlers.
	known    bool
	handlers map[string]handler
	byThe    string // the default handler's name, where the server says
	storage  string
	driver   string // cgroupfs, systemd; empty where nobody says
	sandbox  string // the image of the pod's own process
	// What containerd's plug-in was told: not to lower OOM scores, and to do without
	// AppArmor.
	restricted, noAppArmor bool
	cni                    []string
}

// ask reads a server's state. Only the conditions are part of the interface
// for every version; the rest is read where it is given.
func (s *server) ask(ctx context.Context) (*state, error) {
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	r, err := s.runtime.Status(ctx, &v1.StatusRequest{Verbose: true})
	if err != nil {
		return nil, s.wrong("asking the CRI server for its state", err)
	}
	st := &state{handlers: map[string]handler{}, ready: map[string]*v1.RuntimeCondition{}}
	for _, c := range r.GetStatus().GetConditions() {
		st.ready[c.GetType()] = c
	}
	for _, h := range r.GetRuntimeHandlers() {
		if h.GetName() != "" { // the default's second entry
			st.handlers[h.GetName()] = handler{Name: h.GetName()}
		}
	}
	st.readConfig([]byte(r.GetInfo()["config"]))
	st.cni = cniOf(r.GetInfo())
	st.known = len(st.handlers) > 0
	if c, err := s.runtime.RuntimeConfig(ctx, &v1.RuntimeConfigRequest{}); err == nil {
		st.driver = strings.ToLower(c.GetLinux().GetCgroupDriver().String())
	}
	if f, err := s.image.ImageFsInfo(ctx, &v1.ImageFsInfoRequest{}); err == nil {
		for _, u := range f.GetImageFilesystems() {
			st.storage = storageOf(u.GetFsId().GetMountpoint())
		}
	}
	return st, nil
}

// readConfig reads the configuration that verbose answers bring, of the two
// servers whose form is known. What is not there stays empty.
func (st *state) readConfig(data []byte) {
	var c struct {
		Containerd struct { // containerd
			DefaultRuntimeName string
			Runtimes           map[string]struct {
				RuntimeType string
				RuntimePath string
				Options     map[string]any
			}
		}
		SystemdCgroup bool

		RestrictOOMScoreAdj, DisableAppArmor bool
		SandboxImage                         string // both
		Crio                                 struct {
			DefaultRuntime    string
			CgroupManagerName string
			Runtimes          map[string]struct{ RuntimePath, RuntimeType string }
		}
	}
	if json.Unmarshal(data, &c) != nil {
		return
	}
	st.sandbox, st.restricted, st.noAppArmor = c.SandboxImage, c.RestrictOOMScoreAdj, c.DisableAppArmor
	for name, r := range c.Containerd.Runtimes {
		path, _ := r.Options["BinaryName"].(string)
		if path == "" && r.RuntimePath == "" && r.RuntimeType == "io.containerd.runc.v2" {
			path = "runc" // the shim's own default
		}
		st.handlers[name] = handler{Name: name, Path: path, Type: r.RuntimeType}
		if name == c.Containerd.DefaultRuntimeName {
			st.driver = "cgroupfs"
			if on, _ := r.Options["SystemdCgroup"].(bool); on || c.SystemdCgroup {
				st.driver = "systemd"
			}
		}
	}
	for name, r := range c.Crio.Runtimes {
		st.handlers[name] = handler{Name: name, Path: r.RuntimePath, Type: r.RuntimeType}
	}
	st.byThe = c.Containerd.DefaultRuntimeName + c.Crio.DefaultRuntime
	if c.Crio.CgroupManagerName != "" {
		st.driver = c.Crio.CgroupManagerName
	}
}

// storageOf reads what keeps the root file systems from the directory that
// the server names for its images: …/io.containerd.snapshotter.v1.overlayfs,
// or …/storage/overlay-images.
func storageOf(dir string) string {
	base := filepath.Base(dir)
	if _, name, ok := strings.Cut(base, "io.containerd.snapshotter.v1."); ok {
		return name
	}
	if name, ok := strings.CutSuffix(base, "-images"); ok {
		return name
	}
	return ""
}

// snapshotter is the one that a private server has: the user's, where it needs no file
// system of its own.
func (st *state) snapshotter() string {
	if st.storage == "native" {
		return st.storage
	}
	return "overlayfs"
}

// condition says that a condition holds, or why not, in the server's words.
func (st *state) condition(name string) error {
	c := st.ready[name]
	switch {
	case c == nil:
		return &engine.Error{Class: record.Unavailable, Text: "the CRI server says nothing about the condition " + name}
	case c.GetStatus():
		return nil
	}
	why := strings.TrimSpace(c.GetReason() + ": " + c.GetMessage())
	return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("the CRI server says that %s is false: %s", name, why)}
}

// handlerFor finds the handler for a level; the name is empty for the
// server's default. Where the server lists no handlers, the level's own name
// is tried: the server will say whether it knows it.
func (st *state) handlerFor(level string) (string, error) {
	if level == engine.DefaultLevel {
		return "", nil
	}
	names := handlerNames[level]
	if names == nil {
		names = []string{level}
	}
	if !st.known {
		return names[0], nil
	}
	for _, n := range names {
		if _, ok := st.handlers[n]; ok {
			return n, nil
		}
	}
	// An owner's own name for a program that is called so.
	for _, n := range slices.Sorted(maps.Keys(st.handlers)) {
		if filepath.Base(st.handlers[n].Path) == level {
			return n, nil
		}
	}
	return "", &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the CRI server has no runtime handler for %s; it has %s", level, strings.Join(slices.Sorted(maps.Keys(st.handlers)), ", ")),
		Fix:  "add a runtime handler of this name to the server's configuration and restart it"}
}
