//go:build linux

package imagestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/image"
)

// cacheVersion is raised when the same tree would be packed otherwise. It is
// part of every path, so that two versions of the program can share a store.
const cacheVersion = 2

// seal stands beside a finished item and says what it must be. It is written
// last: an item without a seal was never finished.
type seal struct {
	Sum      string `json:"sum"`                // of the file, or the tree digest of the directory
	Manifest string `json:"manifest,omitempty"` // of an OCI layout: the digest of its one manifest
}

// baseNames are the items' names in the cache.
var baseNames = map[image.Format]string{
	image.OCILayout:     "oci",
	image.DockerArchive: "docker-archive.tar",
	image.Directory:     "rootfs",
	image.SquashFS:      "image.sqfs",
	image.SIF:           "image.sif",
}

// itemPath says where the item lies. A docker archive bears the run's tag, so
// it is the run's own.
func (s *Store) itemPath(name string, t *content, f image.Format) (string, error) {
	base, ok := baseNames[f]
	if !ok {
		return "", &Error{Text: fmt.Sprintf("there is no image format %q", f)}
	}
	if f == image.DockerArchive && s.opts.RunID != "" {
		if !plainID.MatchString(s.opts.RunID) {
			return "", &Error{Text: fmt.Sprintf("%q is not a run's id", s.opts.RunID)}
		}
		return filepath.Join(s.dir, runsDir, s.opts.RunID, image.FileName(name)+"-"+base), nil
	}
	key := strings.TrimPrefix(t.digest(), "sha256:")[:16]
	return filepath.Join(s.dir, fmt.Sprintf("v%d", cacheVersion), image.FileName(name)+"-"+key, base), nil
}

// ensure gives an item that is whole: the one in the cache when it still is
// what its seal says, else a new one. A process looks at each item once.
func (s *Store) ensure(ctx context.Context, name string, t *content, f image.Format) (string, seal, error) {
	p, err := s.itemPath(name, t, f)
	if err != nil {
		return "", seal{}, err
	}
	if sl, ok := s.known(p); ok {
		return p, sl, nil
	}
	// What the item is made from comes first: the lock isn't taken twice.
	var from string
	switch f {
	case image.DockerArchive:
		from, _, err = s.ensure(ctx, name, t, image.OCILayout)
	case image.SquashFS, image.SIF:
		from, _, err = s.ensure(ctx, name, t, image.Directory)
	}
	if err != nil {
		return "", seal{}, err
	}
	unlock, err := s.lockItem(ctx, p)
	if err != nil {
		return "", seal{}, err
	}
	defer unlock()
	if sl, ok := s.known(p); ok { // another goroutine was quicker
		return p, sl, nil
	}
	sl, err := readSeal(p)
	if err == nil {
		err = check(p, f, t, sl)
	}
	if err != nil {
		if sl, err = s.make(ctx, name, t, f, from, p); err != nil {
			var e *Error
			if errors.As(err, &e) {
				return "", seal{}, err
			}
			return "", seal{}, &Error{Text: fmt.Sprintf("making the image %s as %s in %s", name, f, s.dir), Err: err}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified[p] = sl
	return p, sl, nil
}

// known is the seal of an item that this process has looked at.
func (s *Store) known(p string) (seal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sl, ok := s.verified[p]
	return sl, ok
}

// make builds an item beside its place and moves it there, the seal last.
func (s *Store) make(ctx context.Context, name string, t *content, f image.Format, from, p string) (sl seal, err error) {
	home := filepath.Dir(p)
	if err := mkdirAll(s.dir, home, innerMode); err != nil {
		return seal{}, err
	}
	tmp, err := unfinished(home, filepath.Base(p))
	if err != nil {
		return seal{}, err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(tmp)) }()
	made := filepath.Join(tmp, filepath.Base(p))
	switch f {
	case image.OCILayout:
		var img v1.Image
		work := filepath.Join(tmp, "layers")
		if err = os.Mkdir(work, 0o755); err != nil {
			break
		}
		if img, err = ociImage(name, t, work); err == nil {
			err = writeLayout(made, img)
		}
		if err == nil {
			var h v1.Hash
			h, err = img.Digest()
			sl.Manifest = h.String()
		}
	case image.DockerArchive:
		var img v1.Image
		if img, err = OnlyImage(from); err == nil {
			err = writeDockerArchive(made, img, s.Tag(name, s.opts.RunID))
		}
	case image.Directory:
		err = t.writeDirectory(made)
	case image.SquashFS:
		err = s.makeSquashFS(ctx, from, made)
	case image.SIF:
		err = s.makeSIF(ctx, from, made)
	}
	if err != nil {
		return seal{}, err
	}
	if sl.Sum, err = itemSum(made, f); err != nil {
		return seal{}, err
	}
	text, err := json.Marshal(sl)
	if err != nil {
		return seal{}, err
	}
	madeSeal := made + ".seal"
	if err := os.WriteFile(madeSeal, append(text, '\n'), 0o644); err != nil {
		return seal{}, err
	}
	if err := os.Remove(p + ".seal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return seal{}, err
	}
	if err := safepath.RemoveAll(p); err != nil {
		return seal{}, err
	}
	if err := os.Rename(made, p); err != nil {
		return seal{}, err
	}
	return sl, os.Rename(madeSeal, p+".seal")
}

// mostOfMark bounds a JSON file of the store that describes another, in bytes.
const (
	mostOfMark   = 16 << 20
	markExpected = "a description that the image store writes"
)

func readSeal(p string) (seal, error) {
	var sl seal
	text, err := safepath.ReadRegular(p+".seal", mostOfMark, markExpected)
	if err != nil {
		return sl, err
	}
	return sl, json.Unmarshal(text, &sl)
}

// check says whether the item is what its seal says, and ours: what another
// user could change is not run as root.
func check(p string, f image.Format, t *content, sl seal) error {
	info, err := os.Lstat(p)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user")
	}
	sum, err := itemSum(p, f)
	if err != nil {
		return err
	}
	if sum != sl.Sum {
		return errors.New("it is damaged")
	}
	if f == image.Directory && sum != t.digest() {
		return errors.New("its content is another image's")
	}
	if f == image.OCILayout && sl.Manifest == "" {
		return errors.New("its seal has no manifest")
	}
	return nil
}

func itemSum(p string, f image.Format) (string, error) {
	if f == image.Directory || f == image.OCILayout {
		return treeDigest(p, nil)
	}
	sum, err := sumFile(p)
	return "sha256:" + sum, err
}

// OnlyImage reads the one image of an OCI layout.
func OnlyImage(dir string) (v1.Image, error) {
	idx, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the OCI layout %s: %w", dir, err)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("reading the index of the OCI layout %s: %w", dir, err)
	}
	if len(m.Manifests) != 1 {
		return nil, fmt.Errorf("the OCI layout %s has %d images, not one", dir, len(m.Manifests))
	}
	return idx.Image(m.Manifests[0].Digest)
}
