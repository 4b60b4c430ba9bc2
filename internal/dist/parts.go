package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// part is what somebody else wrote and the program contains.
type part struct {
	purl, name, version string
	// licenses are SPDX ids, sorted.
	licenses []string
	// texts are the licence and notice files, sorted, by their path in the part.
	texts []text
}

type text struct{ path, content string }

// partsOf lists what the program contains on any of the targets, such as
// linux/amd64: the standard library, each module of which a package is linked,
// and what the report's script is bundled from. The licence files are those beside the packages and above them.
func partsOf(targets []string) ([]part, error) {
	dirs := map[string]map[string]bool{} // module's directory: those of its packages
	modules := map[string]module{}
	for _, t := range targets {
		packages, err := linked(t)
		if err != nil {
			return nil, err
		}
		for _, p := range packages {
			if p.Standard || p.Module == nil || p.Module.Main {
				continue
			}
			m := *p.Module
			if modules[m.Dir] = m; dirs[m.Dir] == nil {
				dirs[m.Dir] = map[string]bool{}
			}
			dirs[m.Dir][p.Dir] = true
		}
	}
	out, err := exec.Command("go", "env", "GOROOT", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root, mod, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	std, err := goPart(module{Path: "std", Version: strings.TrimPrefix(runtime.Version(), "go"), Dir: root}, nil)
	if err != nil {
		return nil, err
	}
	parts, err := npmParts(filepath.Join(filepath.Dir(mod), "internal/understand/page"))
	if err != nil {
		return nil, err
	}
	parts = append(parts, std)
	for dir, m := range modules {
		p, err := goPart(m, dirs[dir])
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.purl, b.purl) })
	return parts, nil
}

type module struct {
	Path, Version, Dir string
	Main               bool
}

type linkedPackage struct {
	Dir      string
	Standard bool
	Module   *module
}

// linked lists the packages of the program on a target.
func linked(target string) ([]linkedPackage, error) {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not a target such as linux/amd64", target)
	}
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", "plimsoll/cmd/plimsoll")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", target, err)
	}
	var all []linkedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p linkedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", target, err)
		}
		all = append(all, p)
	}
}

// goPart describes a module by the licences beside its packages and above them.
func goPart(m module, packages map[string]bool) (part, error) {
	p := part{purl: "pkg:golang/" + m.Path + "@" + m.Version, name: m.Path, version: m.Version}
	look := map[string]bool{m.Dir: true}
	for dir := range packages {
		for ; len(dir) > len(m.Dir); dir = filepath.Dir(dir) {
			look[dir] = true
		}
	}
	err := p.read(m.Dir, look)
	return p, err
}

// read takes the licence files of some directories into the part.
func (p *part) read(root string, dirs map[string]bool) error {
	for dir := range dirs {
		files, err := terms(dir)
		if err != nil {
			return err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			p.texts = append(p.texts, text{filepath.ToSlash(rel), string(content)})
			p.licenses = append(p.licenses, licences(string(content))...)
		}
	}
	slices.SortFunc(p.texts, func(a, b text) int { return strings.Compare(a.path, b.path) })
	slices.Sort(p.licenses)
	if p.licenses = slices.Compact(p.licenses); len(p.licenses) == 0 {
		return fmt.Errorf("%s %s has no licence that is known here: look at %s, and mend internal/dist/licence.go", p.name, p.version, root)
	}
	return nil
}

// terms lists the licence files in a directory, and in its "licenses".
func terms(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && strings.EqualFold(e.Name(), "licenses"):
			more, err := filepath.Glob(filepath.Join(path, "*"))
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		case !e.IsDir() && isLicence(e.Name()):
			out = append(out, path)
		}
	}
	return out, nil
}
