package podman

import (
	"os"
	"path/filepath"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// conmon and netavark are what podman starts beside a runtime: a container's monitor,
// and what makes its network.
const (
	conmon   = "conmon"
	netavark = "netavark"
)

// bridge is the network that netavark makes.
const bridge = "bridge"

// programs are those of which there may be builds. All of one name are one set.
func programs() []engine.Program {
	return []engine.Program{
		{Name: conmon, Becomes: []string{Name}}, // older ones execute podman's clean-up in their own place
		{Name: netavark, With: map[string]string{engine.Network: bridge}},
		{Name: Name, Helps: "Manage pods, containers and images", Files: []string{configFile, storageFile}, Variables: true},
		{Of: engine.Runtime},
	}
}

// helperDir is the variable that names the directory in which podman looks for its
// helpers first. Podman hands it on to conmon, and so to the clean-up.
const helperDir = "CONTAINERS_HELPER_BINARY_DIR"

// help has podman start the builds of its helpers, each by a link that bears its name:
// netavark's lies alone in its directory, so that all other helpers are the machine's.
func (p *program) help(kit *engine.Kit) *engine.Error {
	if kit.RunID == "" { // who only looks starts none
		return nil
	}
	if path := kit.Built(conmon); path != "" {
		link, err := linked(kit, conmon, path)
		if err != nil {
			return err
		}
		if path, err := filepath.EvalSymlinks(link); err == nil {
			p.conmon = filepath.Base(path)
		}
		p.global, p.told = append(p.global, "--conmon", link), true
	}
	if path := kit.Built(netavark); path != "" {
		link, err := linked(kit, netavark, path)
		if err != nil {
			return err
		}
		p.env, p.told = append(p.env, helperDir+"="+filepath.Dir(link)), true
	}
	return nil
}

// helped says why podman would not start a build of netavark.
func (p *program) helped(kit *engine.Kit, spec engine.Spec, info *info) error {
	b := kit.BuildOf(netavark)
	switch {
	case b == nil:
		return nil
	case info.Host.NetworkBackend != netavark:
		return &engine.Error{Class: record.Unsupported, Text: b.Name() + " is a netavark, and podman's network backend here is " + info.Host.NetworkBackend + ", so that podman starts none"}
	case p.user != nil && spec.Level(engine.Network) != bridge:
		return &engine.Error{Class: record.Unsupported, Text: b.Name() + " is a netavark, which an ordinary user's podman starts for a bridge alone", Fix: "name network=" + bridge}
	}
	return nil
}

// linked is a program under its own name, in a directory of the run's with nothing else:
// podman and what looks for its processes know programs by their files' names, and a
// build may be called otherwise.
func linked(kit *engine.Kit, name, path string) (string, *engine.Error) {
	link := filepath.Join(kit.Dir, "podman-"+name+"-"+short(path), name)
	err := os.Mkdir(filepath.Dir(link), 0o755)
	if err == nil || os.IsExist(err) {
		err = os.Symlink(path, link)
	}
	if err != nil && !os.IsExist(err) {
		return "", &engine.Error{Class: record.HarnessError, Text: "linking " + path + " under the name " + name, Err: err}
	}
	return link, nil
}
