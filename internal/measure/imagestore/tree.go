package imagestore

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/image"
)

// epoch is the time that everything in an image bears, so that the same input
// gives the same bytes. It is not 1970: some tools read 0 as "unset".
var epoch = time.Unix(1577836800, 0).UTC() // 2020-01-01

// kind is the type of an entry; an image holds the first three.
type kind byte

const (
	kindDir  kind = 'd'
	kindFile kind = 'f'
	kindLink kind = 'l'
	// kindGone, in a layer only, takes away what a layer below has.
	kindGone kind = 'w'
	// kindOther is a device, pipe or socket, found where none should be.
	kindOther kind = 'o'
)

// entry is one file, directory or symbolic link. All belong to root.
type entry struct {
	path string // absolute inside the image, clean; the root itself is "/"
	kind kind
	mode uint32 // permission bits with set-uid, set-gid and sticky; links have 0777
	data []byte // of a file, unless it lies in a file of the host
	link string // of a link

	// A large tree is not held in memory: its files' content stays where it
	// was found.
	file string
	size int64
	sum  string // SHA-256, hexadecimal
}

// length is a file's size.
func (e *entry) length() int64 {
	if e.file != "" {
		return e.size
	}
	return int64(len(e.data))
}

// content opens a file's content.
func (e *entry) content() (io.ReadCloser, error) {
	if e.file != "" {
		return os.Open(e.file)
	}
	return io.NopCloser(bytes.NewReader(e.data)), nil
}

// hash is the SHA-256 of a file's content, hexadecimal.
func (e *entry) hash() string {
	if e.file != "" {
		return e.sum
	}
	sum := sha256.Sum256(e.data)
	return hex.EncodeToString(sum[:])
}

// same says whether two entries are the same content.
func (e *entry) same(o *entry) bool {
	return e.path == o.path && e.kind == o.kind && e.mode == o.mode && e.link == o.link && e.length() == o.length() && e.hash() == o.hash()
}

// tree is the content of an image, sorted by path: a directory comes before
// what lies in it.
type tree []entry

// add puts an entry in, with the directories above it where they are missing.
func (t *tree) add(e entry) {
	e.path = path.Clean("/" + e.path)
	if e.kind == kindLink {
		e.mode = 0o777
	}
	if e.path != "/" {
		if dir := path.Dir(e.path); !t.has(dir) {
			t.add(entry{path: dir, kind: kindDir, mode: 0o755})
		}
	}
	i, found := t.find(e.path)
	if found {
		(*t)[i] = e
		return
	}
	*t = slices.Insert(*t, i, e)
}

func (t tree) find(p string) (int, bool) {
	return slices.BinarySearchFunc(t, p, func(e entry, p string) int { return cmp.Compare(e.path, p) })
}

func (t tree) has(p string) bool { _, ok := t.find(p); return ok }

// bytes is the apparent size of all files.
func (t tree) bytes() int64 {
	var n int64
	for i := range t {
		n += t[i].length()
	}
	return n
}

// digest is the tree digest; see docs/images.md.
func (t tree) digest() string {
	whole, _ := t.digests()
	return whole
}

// digests are the tree digest, and the one of the same tree without the probe.
func (t tree) digests() (whole, withoutProbe string) {
	all, rest := sha256.New(), sha256.New()
	both := io.MultiWriter(all, rest)
	for i := range t {
		e, to := &t[i], both
		if e.path == image.ProbePath {
			to = all
		}
		writeEntry(to, e.path, e.kind, e.mode, e.length(), e.hash(), e.link)
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil)), "sha256:" + hex.EncodeToString(rest.Sum(nil))
}

// writeEntry writes the line of one entry. Owners and times are left out:
// they can't be equal in all formats when the user is not root.
func writeEntry(w io.Writer, p string, k kind, mode uint32, size int64, sum, link string) {
	switch k {
	case kindFile:
		fmt.Fprintf(w, "f %04o %q %d %s\n", mode, p, size, sum)
	case kindLink:
		fmt.Fprintf(w, "l %q %q\n", p, link)
	default:
		fmt.Fprintf(w, "d %04o %q\n", mode, p)
	}
}

// treeDigest computes the tree digest of an unpacked root file system. Paths
// for which skip is true are left out, with all that is under them; skip may
// be nil.
func treeDigest(root string, skip func(path string) bool) (string, error) {
	var t []line
	err := walk(root, skip, func(l line, info fs.FileInfo) error {
		if l.kind == kindOther {
			return fmt.Errorf("%s is a %s, which images of Plimsoll's never have", l.path, describe(info.Mode()))
		}
		t = append(t, l)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("computing the tree digest of %s: %w", root, err)
	}
	// WalkDir orders by name within a directory, which is another order than
	// by whole path ("/a-b" and "/a/b").
	slices.SortFunc(t, func(a, b line) int { return cmp.Compare(a.path, b.path) })
	h := sha256.New()
	for _, l := range t {
		writeEntry(h, l.path, l.kind, l.mode, l.size, l.sum, l.link)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// line is an entry as found on a file system.
type line struct {
	path      string
	kind      kind
	mode      uint32
	size      int64
	sum, link string
}

// walk visits everything under root; visit may return fs.SkipDir.
func walk(root string, skip func(string) bool, visit func(line, fs.FileInfo) error) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		l := line{path: path.Clean("/" + filepath.ToSlash(rel))}
		if skip != nil && skip(l.path) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		l.mode = unixMode(info.Mode())
		switch {
		case info.IsDir():
			l.kind = kindDir
		case info.Mode()&fs.ModeSymlink != 0:
			l.kind = kindLink
			if l.link, err = os.Readlink(file); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			l.kind, l.size = kindFile, info.Size()
			if l.sum, err = sumFile(file); err != nil {
				return err
			}
		default:
			l.kind = kindOther
		}
		return visit(l, info)
	})
}

func sumFile(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unixMode gives the mode as Unix numbers it: Go keeps set-uid, set-gid and
// sticky in bits of its own.
func unixMode(m fs.FileMode) uint32 {
	u := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		u |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		u |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		u |= 0o1000
	}
	return u
}

// goMode is the reverse of unixMode.
func goMode(u uint32) fs.FileMode {
	m := fs.FileMode(u & 0o777)
	if u&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if u&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if u&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}

func describe(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return strings.TrimSpace(m.String())
}
