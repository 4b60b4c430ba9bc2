package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/record"
)

// fileOf is which configuration file a binding is, by its word or by the name of the
// file: one called as the program's is called, or of the kind that only one of its
// has. Empty: it is the program.
func fileOf(a Asked, p engine.Program) string {
	if a.File != "" || a.Path == "" {
		return a.File
	}
	base := filepath.Base(a.Path)
	if slices.Contains(p.Files, base) || p.Elsewhere[base] != "" {
		return base
	}
	if alike := alike(a.Path, p); len(alike) == 1 {
		return alike[0]
	}
	return ""
}

// alike are those of a program's files that end as a path does.
func alike(path string, p engine.Program) (out []string) {
	for _, f := range p.Files {
		if ext := filepath.Ext(path); ext != "" && filepath.Ext(f) == ext {
			out = append(out, f)
		}
	}
	return out
}

// Sort finds out of each binding whether it is a program or a configuration file.
func Sort(asked []Asked, known []engine.Program) {
	for i, a := range asked {
		if k := slices.IndexFunc(known, func(p engine.Program) bool { return p.Name == a.Program }); k >= 0 {
			asked[i].File = fileOf(a, known[k])
		}
	}
}

// addFile adds a configuration file.
func addFile(b *record.Build, a Asked, p engine.Program) error {
	if len(p.Files) == 0 {
		return fmt.Errorf("%s takes no configuration file (if %s=… is a path, begin it with ./)", p.Name, a.File)
	}
	if why := p.Elsewhere[a.File]; why != "" {
		return fmt.Errorf("%s takes no %s: %s", p.Name, a.File, why)
	}
	if !slices.Contains(p.Files, a.File) {
		return fmt.Errorf("%s takes no file %q; it takes %s", p.Name, a.File, yamlfile.OneOf(p.Files))
	}
	if f := b.File(a.File); f != nil && f.Path != a.Path {
		return fmt.Errorf("the %s of %s is bound twice, to %s before", a.File, b.Name(), f.Path)
	} else if f != nil {
		return nil
	}
	f, err := LookFile(a)
	b.Files = append(b.Files, f)
	return err
}

// LookFile reads a configuration file: is it one, and the one that is demanded.
func LookFile(a Asked) (record.BuildFile, error) {
	out := record.BuildFile{Name: a.File, Path: a.Path}
	f, err := open(a.Path, "file")
	if err != nil {
		return out, err
	}
	defer f.Close()
	data, err := confile.Read(f)
	if err != nil {
		return out, fmt.Errorf("reading %s: %w", a.Path, err)
	}
	sum := sha256.Sum256(data)
	out.SHA256 = hex.EncodeToString(sum[:])
	if a.SHA256 != "" && a.SHA256 != out.SHA256 {
		return out, fmt.Errorf("%s is another file than before: its SHA-256 digest is %.12s… and was %.12s…", a.Path, out.SHA256, a.SHA256)
	}
	_, err = confile.Parse(a.File, a.Path, data)
	return out, err
}

// reserved are the variables by which engines find the programs, files and daemons of a
// run: another value would measure something else.
var reserved = []string{"PATH", "HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
	"CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_STORAGE_CONF", "CONTAINERS_HELPER_BINARY_DIR", "DOCKER_HOST", "CONTAINERD_ADDRESS"}

// addVariable adds a variable of the environment.
func addVariable(b *record.Build, a Asked, p engine.Program) error {
	name, value, _ := strings.Cut(a.Variable, "=")
	switch {
	case !p.Variables:
		return fmt.Errorf("%s has its environment from what calls it, so that %s can't be set for it", p.Name, name)
	case slices.Contains(reserved, name) || strings.HasPrefix(name, "PLIMSOLL"):
		return fmt.Errorf("%s is set by Plimsoll itself", name)
	case strings.ContainsAny(value, "\x00\n\r"):
		return fmt.Errorf("the value of %s is more than one line", name)
	}
	for _, v := range b.Variables {
		if v != a.Variable && strings.HasPrefix(v, name+"=") {
			return fmt.Errorf("%s of %s is set twice, to %s before", name, b.Name(), v)
		}
	}
	if !slices.Contains(b.Variables, a.Variable) {
		b.Variables = append(b.Variables, a.Variable)
	}
	return nil
}
