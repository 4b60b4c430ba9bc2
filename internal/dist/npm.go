package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// npmParts lists what is in the script of the HTML report, by the lock file of
// its sources; where it was not bundled the program has no such part.
func npmParts(page string) ([]part, error) {
	if _, err := os.Stat(filepath.Join(page, "dist", "plimsoll.js")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	web := filepath.Join(page, "web")
	data, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, fmt.Errorf("reading %s/package-lock.json: %w", web, err)
	}
	const modules = "node_modules/"
	var parts []part
	for path, x := range lock.Packages {
		if path == "" || x.Dev {
			continue
		}
		name := path[strings.LastIndex(path, modules)+len(modules):]
		p := part{purl: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + x.Version, name: name, version: x.Version}
		dir := filepath.Join(web, path)
		if err := p.read(dir, map[string]bool{dir: true}); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
