package imagestore

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// distribution is the machine's own, as far as a root file system can be made
// from its packages.
type distribution struct {
	ID       string // debian, ubuntu, by /etc/os-release
	Codename string // bookworm: the suite
	Pretty   string // "Debian GNU/Linux 12 (bookworm)"
	Mirror   string // an archive's address
	Keyring  string // a file; "" is debootstrap's own
}

// thisDistribution reads /etc below root.
func thisDistribution(root string) (distribution, error) {
	var d distribution
	text, err := os.ReadFile(filepath.Join(root, "etc/os-release"))
	if err != nil {
		return d, fmt.Errorf("finding out which distribution this is: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		v = strings.Trim(v, `"'`)
		switch k {
		case "ID":
			d.ID = v
		case "VERSION_CODENAME":
			d.Codename = v
		case "PRETTY_NAME":
			d.Pretty = v
		}
	}
	if d.ID != "debian" && d.ID != "ubuntu" {
		return d, fmt.Errorf("this is %s, which has no Debian packages", cmp.Or(d.Pretty, d.ID, "an unknown distribution"))
	}
	files := []string{filepath.Join(root, "etc/apt/sources.list")}
	for _, ending := range []string{"*.list", "*.sources"} {
		more, err := filepath.Glob(filepath.Join(root, "etc/apt/sources.list.d", ending))
		if err != nil {
			return d, err
		}
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return d, err
		}
		parse := parseList
		if strings.HasSuffix(file, ".sources") {
			parse = parseSources
		}
		if s := parse(string(text), d.Codename); s.uri != "" {
			d.Mirror, d.Keyring = s.uri, s.keyring
			return d, nil
		}
	}
	return d, fmt.Errorf("no apt source of this machine has the suite %s with the component main", d.Codename)
}

// source is an entry of apt's that has the suite's component main.
type source struct{ uri, keyring string }

// parseList reads the one-line format: deb [OPTIONS] URI SUITE COMPONENT...
func parseList(text, suite string) source {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		var s source
		if i, j := strings.Index(line, "["), strings.Index(line, "]"); i >= 0 && j > i {
			for o := range strings.FieldsSeq(line[i+1 : j]) {
				if v, ok := strings.CutPrefix(o, "signed-by="); ok && strings.HasPrefix(v, "/") {
					s.keyring = v
				}
			}
			line = line[:i] + line[j+1:]
		}
		f := strings.Fields(line)
		if len(f) > 3 && f[0] == "deb" && f[2] == suite && slices.Contains(f[3:], "main") && webAddress(f[1]) {
			s.uri = f[1]
			return s
		}
	}
	return source{}
}

// parseSources reads the format of deb822: paragraphs of "Key: values".
func parseSources(text, suite string) source {
	var keys map[string][]string
	found := func() source {
		if !slices.Contains(keys["types"], "deb") || !slices.Contains(keys["suites"], suite) ||
			!slices.Contains(keys["components"], "main") || slices.Contains(keys["enabled"], "no") {
			return source{}
		}
		s := source{}
		if i := slices.IndexFunc(keys["uris"], webAddress); i >= 0 {
			s.uri = keys["uris"][i]
		}
		if k := keys["signed-by"]; len(k) > 0 && strings.HasPrefix(k[0], "/") {
			s.keyring = k[0]
		}
		return s
	}
	keys = map[string][]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			if s := found(); s.uri != "" {
				return s
			}
			keys = map[string][]string{}
		default:
			if k, v, ok := strings.Cut(line, ":"); ok && line[0] != ' ' {
				keys[strings.ToLower(k)] = strings.Fields(v)
			}
		}
	}
	return found()
}

// webAddress: debootstrap knows these, but not apt's mirror lists.
func webAddress(uri string) bool {
	return strings.HasPrefix(uri, "http://") || strings.HasPrefix(uri, "https://") || strings.HasPrefix(uri, "file:/")
}
