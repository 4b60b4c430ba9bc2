package build

import (
	"cmp"
	"context"
	"debug/buildinfo"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/mod/semver"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/child"
)

//go:embed modules.yaml
var modulesFile []byte

// source says how a program's releases are built from Go modules.
type source struct {
	Modules   []string          `yaml:"modules"`
	Packages  map[string]string `yaml:"packages"`
	Tags      string            `yaml:"tags"`
	Version   string            `yaml:"version"`
	Says      map[string]string `yaml:"says"`
	Libraries []string          `yaml:"libraries"`
}

var sources = func() (all map[string]source) {
	if err := yaml.Unmarshal(modulesFile, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
}()

// InModules are the programs of which Modules has releases.
func InModules() []string { return slices.Sorted(maps.Keys(sources)) }

// Modules builds releases of a program from Go modules, each once.
type Modules struct {
	// Program is one of InModules.
	Program string
	// Dir holds what was built. It belongs to the user, and to nobody else.
	Dir string
	// Say tells what is being done.
	Say func(text string)

	source
	with string // the compiler and the libraries
}

// How long the steps of a build may take.
const (
	listLimit  = 2 * time.Minute
	fetchLimit = 10 * time.Minute
	buildLimit = time.Hour
)

// OpenModules looks at the compiler and the libraries that a program's releases need.
func OpenModules(ctx context.Context, program, dir string, say func(string)) (*Modules, error) {
	m := &Modules{Program: program, Dir: filepath.Join(dir, program), Say: say}
	var ok bool
	if m.source, ok = sources[program]; !ok {
		return nil, fmt.Errorf("releases of %s are not built here: expected %s", program, yamlfile.OneOf(InModules()))
	}
	version, err := m.run(ctx, os.TempDir(), listLimit, "go", "env", "GOVERSION")
	if err != nil {
		return nil, fmt.Errorf("releases of %s are built with Go, which does not run here: %w", program, err)
	}
	m.with = strings.TrimSpace(version)
	kept, err := safepath.Make(m.Dir, 0o700, safepath.Rule{})
	if err != nil {
		return nil, fmt.Errorf("making a place for what is built: %w", err)
	}
	defer kept.Close()
	if !kept.OursAlone() {
		return nil, fmt.Errorf("others can write to %s: programs in it are not run (chmod go-w, or let XDG_CACHE_HOME name another place)", m.Dir)
	}
	for _, library := range m.Libraries {
		version, err := m.run(ctx, os.TempDir(), listLimit, "pkg-config", "--modversion", library)
		if err != nil {
			return nil, fmt.Errorf("%s needs %s to be built, which pkg-config does not find (apt-get install pkg-config %s-dev): %w", program, library, library, err)
		}
		m.with += "-" + library + strings.TrimSpace(version)
	}
	return m, nil
}

// Versions lists the releases from one version on, in their order, without those that
// precede a release (1.5.0-rc.1).
func (m *Modules) Versions(ctx context.Context, from string) ([]string, error) {
	if !semver.IsValid("v" + from) {
		return nil, fmt.Errorf("%q is not a version: expected one like 1.1.0", from)
	}
	var all []string
	for _, module := range m.Modules {
		out, err := m.run(ctx, os.TempDir(), listLimit, "go", "list", "-m", "-versions", module)
		if err != nil {
			return nil, fmt.Errorf("listing the releases of %s: %w", module, err)
		}
		for _, v := range strings.Fields(out)[1:] {
			if semver.Compare(v, "v"+from) >= 0 && semver.Prerelease(v) == "" && strings.HasSuffix(module, major(v)) {
				all = append(all, strings.TrimPrefix(v, "v"))
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no release from %s on", m.Program, from)
	}
	return Ordered(all), nil
}

// IsVersion says whether a text is a version.
func IsVersion(text string) bool { return semver.IsValid("v"+text) && strings.Count(text, ".") >= 2 }

// Ordered sorts versions, each once.
func Ordered(versions []string) []string {
	slices.SortFunc(versions, func(a, b string) int { return semver.Compare("v"+a, "v"+b) })
	return slices.Compact(versions)
}

// major is the end of a module's path that has this version: "" before 2.
func major(v string) string {
	if m := semver.Major(v); m != "v0" && m != "v1" {
		return "/" + m
	}
	return ""
}

// Build gives the programs of a release as bindings of the level that is its version. The
// error says why it can't be built here.
func (m *Modules) Build(ctx context.Context, version string) ([]Asked, error) {
	dir := filepath.Join(m.Dir, m.with, version)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		m.Say("building " + m.Program + " " + version)
		if err := m.build(ctx, version, dir); err != nil {
			return nil, err
		}
	}
	var out []Asked
	for _, program := range slices.Sorted(maps.Keys(m.Packages)) {
		a := Asked{Program: program, Level: version, Path: filepath.Join(dir, program), Where: m.Program + " " + version}
		if err := m.proved(a.Path, version); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// module is the one that has a version.
func (m *Modules) module(version string) string {
	i := slices.IndexFunc(m.Modules, func(module string) bool {
		return major("v"+version) != "" && strings.HasSuffix(module, major("v"+version))
	})
	return m.Modules[max(i, 0)]
}

// proved reads in a program which release of the module the compiler put into it.
func (m *Modules) proved(path, version string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s does not say what it was built from: %w", path, err)
	}
	if info.Main.Path == m.module(version) && info.Main.Version == "v"+version && info.Main.Replace == nil {
		return nil
	}
	return fmt.Errorf("%s was not built from %s v%s; remove it, and it is built again", path, m.module(version), version)
}

// build makes a release in a directory beside its place, so that what is there is whole.
func (m *Modules) build(ctx context.Context, version, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+version+"-")
	if err != nil {
		return err
	}
	defer safepath.RemoveAll(tmp) //nolint:errcheck // what is left is hidden, and no release
	module := m.module(version)
	src, out := filepath.Join(tmp, "src"), filepath.Join(tmp, "out")
	if err := errors.Join(os.Mkdir(src, 0o700), os.Mkdir(out, 0o700)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(src, "go.mod"), []byte("module build\n"), 0o600); err != nil {
		return err
	}
	if _, err := m.run(ctx, src, fetchLimit, "go", "get", module+"@v"+version); err != nil {
		return fmt.Errorf("fetching %s v%s: %w", module, version, err)
	}
	flags := "-s -w"
	if m.Version != "" {
		flags += " -X " + strings.Replace(m.Version, "MODULE", module, 1) + "=" + cmp.Or(m.Says[version], version)
	}
	for program, at := range m.Packages {
		if _, err := m.run(ctx, src, buildLimit, "go", "build", "-mod=mod", "-trimpath", "-tags", m.Tags, "-ldflags", flags,
			"-o", filepath.Join(out, program), strings.TrimSuffix(module+"/"+at, "/.")); err != nil {
			return fmt.Errorf("building %s %s: %w", program, version, err)
		}
	}
	return os.Rename(out, dir)
}

// run runs a command of the toolchain, with the compiler that is installed.
func (m *Modules) run(ctx context.Context, dir string, limit time.Duration, argv ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: argv, Dir: dir, Limit: limit, Env: append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=-mod=mod")})
	if err != nil {
		return "", fmt.Errorf("%w%s", err, saying(out.Stderr))
	}
	return string(out.Stdout), nil
}
