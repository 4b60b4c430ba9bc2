package cri

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// crioFile is what a build of CRI-O may be configured by.
const crioFile = "crio.conf"

// storageFile is CRI-O's, too: of the store that it works on.
const storageFile = "storage.conf"

// inCRIOFile is where the options of a storage.conf are given to CRI-O.
const inCRIOFile = "name the options of its driver in crio.conf, as storage_option of [crio]: CRI-O takes them instead of the file's"

// crioConfiguredBy is how it is known that a configuration is in effect.
const crioConfiguredBy = "CRI-O's own word, at its socket, has each setting; the file, after each trial"

const runsOwn = "which is the run's own"

// keptByCRIO are the keys that keep a private CRI-O apart from the user's, or are factors.
var keptByCRIO = map[string]string{
	"crio.root": runsOwn, "crio.runroot": runsOwn, "crio.imagestore": runsOwn, "crio.log_dir": runsOwn,
	"crio.storage_driver": "and a private CRI-O has the driver overlay",
	"crio.version_file":   runsOwn, "crio.version_file_persist": runsOwn, "crio.clean_shutdown_file": runsOwn,
	"crio.api":            runsOwn,
	"crio.runtime.conmon": "which is a program: bind it by --build conmon:LEVEL=PATH", "crio.runtime.conmon_cgroup": runsOwn,
	"crio.runtime.cgroup_manager": "and the pods of a private CRI-O have a cgroup of the run's, by cgroupfs", "crio.runtime.namespaces_dir": runsOwn,
	"crio.runtime.container_exits_dir": runsOwn, "crio.runtime.container_attach_socket_dir": runsOwn,
	"crio.runtime.default_runtime": "which is the factor runtime", "crio.runtime.runtimes": "which are those on your PATH and builds",
	"crio.runtime.log_to_journald": "and the output of a trial is read from the CRI's log files", "crio.runtime.irqbalance_config_restore_file": "which is the machine's",
	"crio.image.pause_image": runsOwn, "crio.image.pause_command": runsOwn, "crio.image.signature_policy": runsOwn, "crio.image.signature_policy_dir": runsOwn,
	"crio.network": "and the network of a private CRI-O is the run's own", "crio.nri.nri_listen": runsOwn, "crio.metrics.metrics_socket": runsOwn,
}

// likeTheUsers are the keys of the section runtime whose values a private CRI-O has from
// the user's.
var likeTheUsers = []string{"absent_mount_sources_to_reject", "add_inheritable_capabilities", "allowed_devices", "apparmor_profile", "conmon_env", "ctr_stop_timeout",
	"default_capabilities", "default_env", "default_sysctls", "default_ulimits", "disable_hostport_mapping", "drop_infra_ctr", "enable_pod_events", "hooks_dir",
	"infra_ctr_cpuset", "log_size_max", "no_pivot", "pids_limit", "pinns_path", "read_only", "seccomp_profile", "selinux"}

// crioHidden are the directories of the host that a private CRI-O has its own ones of. Its
// sockets and states are in the first, whose name is as short as they need it.
var crioHidden = []string{crioRun, "/run/containers", "/var/lib/containers"}

const crioRun = "/run/crio"

// crioConfiguration is that of a CRI-O of the run's.
type crioConfiguration struct {
	dir, pause, plugins, monitor string
	like                         map[string]any // the user's
	builds                       []record.Build
	plain                        map[string]string // paths of other runtimes, by handler
	spans                        *engine.Collector // of its own spans; nil: none
}

// monitorOf is the path of conmon: a build, else the one that the user's server has.
func monitorOf(kit *engine.Kit, like map[string]any) string {
	if path := kit.Built(conmon); path != "" {
		return path
	}
	if path, _ := confile.At(like, "crio", "runtime", conmon).(string); path != "" {
		return path
	}
	path, _ := kit.LookPath(conmon) // what is not there, CRI-O tells
	return path
}

// command starts it. The registry's files have flags that no help text names; a variable
// is known by some versions alone.
func (c crioConfiguration) command(program, socket string) []string {
	return []string{program, "--config", filepath.Join(c.dir, crioFile), "--config-dir", "", "--listen", socket,
		"--registries-conf", filepath.Join(c.dir, "registries.conf"), "--registries-conf-dir", filepath.Join(c.dir, "registries")}
}

func (c crioConfiguration) write(over *buildconfig.Configuration) error {
	all := c.settings()
	confile.Lay(all, over.File(crioFile))
	text, err := confile.Write(crioFile, all)
	if err != nil {
		return err
	}
	store := map[string]any{"storage": map[string]any{"driver": "overlay", "graphroot": c.at("root"), "runroot": c.at("run")}}
	storage, err := confile.Write(storageFile, store)
	errs := []error{err, over.Write(c.at(crioFile), text, 0o600)}
	for _, d := range []string{"cni", "policies", "registries"} {
		errs = append(errs, os.Mkdir(c.at(d), 0o755))
	}
	for name, text := range map[string]string{
		storageFile:             string(storage),
		"policy.json":           `{"default": [{"type": "insecureAcceptAnything"}]}`,
		"registries.conf":       "short-name-mode = \"disabled\"\n[[registry]]\nprefix = \"127.0.0.1\"\nlocation = \"127.0.0.1\"\ninsecure = true\n",
		"cni/plimsoll.conflist": configuration{dir: c.dir}.network(),
	} {
		errs = append(errs, os.WriteFile(c.at(name), []byte(text), 0o600))
	}
	return errors.Join(errs...)
}

func (c crioConfiguration) at(name string) string { return filepath.Join(c.dir, name) }

// settings are all but those of a build's configuration.
func (c crioConfiguration) settings() map[string]any {
	runtime := map[string]any{}
	for _, key := range likeTheUsers {
		if v := confile.At(c.like, "crio", "runtime", key); v != nil {
			runtime[key] = v
		}
	}
	handlers := map[string]any{}
	first := ""
	handler := func(name, path string) {
		handlers[name] = map[string]any{"runtime_path": path, "runtime_type": "oci", "runtime_root": crioRun + "/of-" + name,
			"monitor_path": c.monitor, "monitor_cgroup": "pod"}
		if first == "" {
			first = name
		}
	}
	byThe, _ := confile.At(c.like, "crio", "runtime", "default_runtime").(string)
	names := slices.Sorted(maps.Keys(c.plain))
	slices.SortStableFunc(names, func(a, b string) int { // the user's default is the first
		switch byThe {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	for _, name := range names {
		handler(name, c.plain[name])
	}
	for _, b := range c.builds {
		if slices.Contains(buildable, b.Program) {
			handler(handlerOf(b.Program, b.Path), b.Path)
		}
	}
	maps.Copy(runtime, map[string]any{
		"default_runtime": first, "runtimes": handlers, "cgroup_manager": "cgroupfs", "conmon": c.monitor, "conmon_cgroup": "pod",
		"namespaces_dir": crioRun + "/ns", "container_exits_dir": crioRun + "/exits", "container_attach_socket_dir": crioRun,
		"cdi_spec_dirs": []string{}, "irqbalance_config_restore_file": "disable",
	})
	all := map[string]any{"crio": map[string]any{
		"root": c.at("root"), "runroot": c.at("run"), "storage_driver": "overlay", "log_dir": c.at("pods"),
		"version_file": c.at("version"), "version_file_persist": c.at("version-kept"), "clean_shutdown_file": c.at("clean"),
		"api":     map[string]any{"stream_address": "127.0.0.1", "stream_port": "0"},
		"runtime": runtime,
		"image": map[string]any{"pause_image": c.pause, "pause_command": "", "signature_policy": c.at("policy.json"),
			"signature_policy_dir": c.at("policies")},
		"network": map[string]any{"network_dir": c.at("cni"), "plugin_dirs": []string{c.plugins}},
		"nri":     map[string]any{"enable_nri": false, "nri_listen": crioRun + "/nri.sock"},
	}}
	confile.Lay(all, crioTracing(c.spans))
	return all
}
