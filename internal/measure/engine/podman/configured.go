package podman

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// configFile and storageFile are what a build of podman may be configured by.
const (
	configFile  = "containers.conf"
	storageFile = "storage.conf"
)

// configuredBy is how it is known that a configuration is in effect.
const (
	configuredBy = "CONTAINERS_CONF names it to each podman, which knows every key by its own word; the file, after each trial"
	storedBy     = "CONTAINERS_STORAGE_CONF names storage.conf, and podman info has each option of its driver"
)

// variablesBy is how it is known of variables.
const variablesBy = "each podman was started with them"

const runsOwn = "which is the run's own"

// reserved are the keys that podman's command lines here overrule, or that would touch what
// the user's own podman shares with ours.
var reserved = map[string]string{
	"containers.log_driver": "and containers here have one by the levels of with", "containers.init": "and containers here have one by the levels of with",
	"engine.runtime":   "which is the factor runtime: name a level of it in the study",
	"engine.tmp_dir":   "by which podman takes the machine for freshly booted",
	"engine.num_locks": "which are those of all podmans of the user", "engine.lock_type": "which are those of all podmans of the user",
	"engine.static_dir": runsOwn, "engine.volume_path": runsOwn, "engine.remote": "and a podman here is its own engine",
	"engine.active_service": "and a podman here is its own engine", "engine.service_destinations": "and a podman here is its own engine",
	"secrets": "which are the user's",
}

// configure has podman run with the configuration of a build: its variables, and its
// containers.conf in place of the machine's and the user's. It reads a copy, in a
// directory of the run's.
func (p *program) configure(kit *engine.Kit) *engine.Error {
	var err error
	if p.given, err = buildconfig.Of(kit, Name); err == nil {
		err = errors.Join(p.given.Ours(configFile, reserved), p.given.Ours(storageFile, reservedStorage))
	}
	if wrong, ok := errors.AsType[*engine.Error](err); ok {
		return wrong
	}
	p.env = append(p.env, p.given.Variables...)
	if p.given.File(storageFile) != nil {
		p.conf = kit.BuildOf(Name).File(storageFile).SHA256[:confDigits]
	}
	all := p.given.File(configFile)
	if all == nil || kit.RunID == "" { // who only looks has no directory
		return nil
	}
	path, werr := p.write(kit, configFile, "", all)
	if werr != nil {
		return werr
	}
	p.env = append(p.env, "CONTAINERS_CONF="+path)
	return nil
}

// write writes what podman reads of a configuration file into a directory of the run's,
// one for each file that a user has given, and each of the things that it is made for.
func (p *program) write(kit *engine.Kit, name, of string, all map[string]any) (string, *engine.Error) {
	data, err := confile.Write(name, all)
	dir := filepath.Join(kit.Dir, fmt.Sprintf("podman-conf-%.12s%s", kit.BuildOf(Name).File(name).SHA256, of))
	path := filepath.Join(dir, name)
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err == nil {
		err = p.given.Write(path, data, 0o644)
	}
	if err != nil {
		return "", &engine.Error{Class: record.HarnessError, Text: "writing the " + name + " that podman reads", Err: err}
	}
	return path, nil
}

// ignored begins what podman says, when it is asked to, of keys that it passes over.
const ignored = "Failed to decode the keys "

// understood says which setting of a build's configuration podman does not know: it
// passes over those in silence.
func (p *program) understood(ctx context.Context) error {
	if p.given.File(configFile) == nil && p.given.File(storageFile) == nil {
		return nil
	}
	out, err := child.Run(ctx, child.Command{Argv: p.argv([]string{"--log-level=debug", "version"}), Env: p.env, Dir: "/",
		User: adapter.Credential(p.as), Limit: commandLimit, Leaves: true})
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "podman does not take its configuration: " + adapter.Words(out.Stderr), Err: err}
	}
	if _, said, ok := strings.Cut(string(out.Stderr), ignored); ok {
		keys, from, _ := strings.Cut(said, "]")
		from, _, _ = strings.Cut(from, "\n")
		name := configFile
		if strings.Contains(from, "/"+storageFile) {
			name = storageFile
		}
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s has %s, and this podman knows no such setting", name, strings.NewReplacer("[", "", `\\"`, "", `\"`, "", `"`, "").Replace(keys))}
	}
	return nil
}

func (env *environment) Configured() error { return env.p.given.Holds(0) }
