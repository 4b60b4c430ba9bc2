//go:build linux

package imagestore

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// readTree reads an unpacked root file system. The files' content stays where
// it is. Special files are left out.
func readTree(root string, skip func(string) bool) (tree, error) {
	var t tree
	err := walk(root, skip, func(l line, _ fs.FileInfo) error {
		if l.kind == kindOther {
			return nil
		}
		e := entry{path: l.path, kind: l.kind, mode: l.mode, link: l.link}
		switch l.kind {
		case kindLink:
			e.mode = 0o777
		case kindFile:
			e.file, e.size, e.sum = filepath.Join(root, filepath.FromSlash(l.path)), l.size, l.sum
			e.mode |= 0o444
		case kindDir:
			e.mode |= 0o555
		}
		t = append(t, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the root file system %s: %w", root, err)
	}
	slices.SortFunc(t, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return t, nil
}

// emptied are directories of which only the directories are kept: what is in
// them belongs to one machine or to one boot, or can be fetched again.
var emptied = []string{"/dev", "/proc", "/sys", "/run", "/tmp", "/var/tmp", "/var/log", "/var/cache", "/var/lib/apt/lists",
	"/usr/share/doc", "/usr/share/man", "/usr/share/info", "/usr/share/locale", "/usr/share/lintian"}

// dropped are files that differ from one installation to the next and say
// nothing; the skeleton has its own where one is needed.
var dropped = map[string]bool{"/etc/machine-id": true, "/etc/hostname": true, "/etc/hosts": true, "/etc/resolv.conf": true,
	"/var/lib/dbus/machine-id": true, "/var/lib/systemd/random-seed": true}

// ofNoInstallation says what of an installed distribution does not belong
// into an image.
func ofNoInstallation(p string) bool {
	if slices.ContainsFunc(emptied, func(dir string) bool { return strings.HasPrefix(p, dir+"/") }) {
		return true
	}
	name := path.Base(p)
	switch path.Dir(p) {
	case "/etc":
		return dropped[p] || strings.HasSuffix(name, "-") // passwd- and the like
	case "/var/lib/dpkg":
		return strings.HasSuffix(name, "-old") || strings.HasPrefix(name, "lock")
	}
	return dropped[p]
}

// complete adds what of the skeleton is missing. Where a distribution has a
// link instead of a directory, its own stands.
func complete(t tree) tree {
	for _, e := range skeleton() {
		if t.has(e.path) || throughLink(t, e.path) {
			continue
		}
		t.add(e)
	}
	return t
}

// throughLink says whether the way to a path leads over a symbolic link.
func throughLink(t tree, p string) bool {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		if i, ok := t.find(dir); ok && t[i].kind == kindLink {
			return true
		}
	}
	return false
}

// fixShadow takes the day of the installation out of /etc/shadow.
func fixShadow(t tree) (tree, error) {
	i, ok := t.find("/etc/shadow")
	if !ok {
		return t, nil
	}
	text, err := os.ReadFile(t[i].file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, ":")
		if len(f) > 2 && f[2] != "" {
			f[2] = fmt.Sprint(epoch.Unix() / 86400)
		}
		out.WriteString(strings.Join(f, ":"))
	}
	t[i] = entry{path: t[i].path, kind: kindFile, mode: t[i].mode, data: out.Bytes()}
	return t, nil
}

// packages reads which packages are installed, from dpkg's status.
func packages(status string) map[string]string {
	out := map[string]string{}
	name, installed := "", false
	for line := range strings.Lines(status) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch k {
		case "Package":
			name, installed = v, false
		case "Status":
			installed = strings.HasSuffix(v, " installed")
		case "Version":
			if installed {
				out[name] = v
			}
		}
	}
	return out
}
