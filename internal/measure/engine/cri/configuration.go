package cri

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/record"
)

// configuration is that of a containerd which serves the CRI and nothing else. 1.x
// reads version 2 of the format, 2.x version 3, with the plug-in in two parts.
type configuration struct {
	dir, socket, pause, plugins string
	second                      bool
	like                        *state // the user's
	builds                      []record.Build
	plain                       map[string]string // paths of other runtimes, by handler
	traced                      string            // where its own spans go, as its configuration has it
}

func (c configuration) write(over *buildconfig.Configuration) error {
	if err := os.Mkdir(filepath.Join(c.dir, "cni"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "cni", "plimsoll.conflist"), []byte(c.network()), 0o644); err != nil {
		return err
	}
	text, err := containerdclient.Lay(over, c.text())
	if err != nil {
		return err
	}
	return over.Write(filepath.Join(c.dir, containerdclient.ConfigFile), text, 0o600)
}

// network is a bridge in the daemon's own network namespace: from there nothing
// is reached, and no packet filter is touched.
func (c configuration) network() string {
	return fmt.Sprintf(`{"cniVersion": "0.4.0", "name": "plimsoll", "plugins": [{"type": "bridge", "bridge": "plimsoll0", "isGateway": true, "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": %q, "ranges": [[{"subnet": "10.88.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
`, filepath.Join(c.dir, "addresses"))
}

func (c configuration) text() string {
	format, images, runtime := 2, "io.containerd.grpc.v1.cri", "io.containerd.grpc.v1.cri"
	if c.second {
		format, images, runtime = 3, "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"
	}
	var b strings.Builder
	table := func(of, name string, lines ...string) {
		fmt.Fprintf(&b, "[plugins.%q%s]\n%s\n", of, name, strings.Join(lines, "\n"))
	}
	fmt.Fprintf(&b, "version = %d\nroot = %q\nstate = %q\n[grpc]\naddress = %q\n", format, filepath.Join(c.dir, "root"), filepath.Join(c.dir, "state"), c.socket)
	table("io.containerd.internal.v1.opt", "", fmt.Sprintf("path = %q", filepath.Join(c.dir, "opt")))
	table("io.containerd.nri.v1.nri", "", "disable = true")
	own := []string{fmt.Sprintf("restrict_oom_score_adj = %v", c.like.restricted), fmt.Sprintf("disable_apparmor = %v", c.like.noAppArmor)}
	store := fmt.Sprintf("snapshotter = %q", c.like.snapshotter())
	first := ""
	for _, name := range []string{"runc", c.like.byThe} { // as the user's has it
		if c.plain[name] != "" {
			first = fmt.Sprintf("default_runtime_name = %q", name)
		}
	}
	handler := func(name, path string) {
		table(runtime, ".containerd.runtimes."+name, `runtime_type = "io.containerd.runc.v2"`)
		table(runtime, ".containerd.runtimes."+name+".options", fmt.Sprintf("BinaryName = %q", path), "SystemdCgroup = false")
	}
	for _, r := range c.builds {
		if slices.Contains(buildable, r.Program) && first == "" {
			first = fmt.Sprintf("default_runtime_name = %q", handlerOf(r.Program, r.Path))
		}
	}
	if c.second {
		table(runtime, "", own...)
		table(images, "", store)
		table(images, ".pinned_images", fmt.Sprintf("sandbox = %q", c.pause))
		table(runtime, ".containerd", first)
		table("io.containerd.grpc.v1.cri", "", `stream_server_address = "127.0.0.1"`)
	} else {
		table(runtime, "", append(own, fmt.Sprintf("sandbox_image = %q", c.pause), `stream_server_address = "127.0.0.1"`)...)
		table(runtime, ".containerd", store, first)
	}
	table(runtime, ".cni", c.pluginDir(), fmt.Sprintf("conf_dir = %q", filepath.Join(c.dir, "cni")))
	for _, r := range c.builds {
		if !slices.Contains(buildable, r.Program) {
			continue
		}
		handler(handlerOf(r.Program, r.Path), r.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(c.plain)) {
		handler(name, c.plain[name])
	}
	return b.String() + c.traced
}

func (c configuration) pluginDir() string {
	if c.second {
		return fmt.Sprintf("bin_dirs = [%q]", c.plugins)
	}
	return fmt.Sprintf("bin_dir = %q", c.plugins)
}
