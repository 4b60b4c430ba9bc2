//go:build linux

package imagestore

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/image"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// IsReference says whether an image's name is a reference to a registry, such
// as alpine:3, and not a name of the catalogue.
func IsReference(name string) bool { return strings.ContainsAny(name, ":/@") }

// How long we wait for a registry: for its first answer, and for the whole.
const (
	resolveLimit  = 20 * time.Second
	transferLimit = 15 * time.Minute
	// mostBytes bounds an image that is pulled, unpacked.
	mostBytes = 8 << 30
)

// reach connects within seconds or not at all.
func reach() *http.Transport {
	t := remote.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 5 * time.Second
	t.ResponseHeaderTimeout = resolveLimit
	return t
}

// fetch gets the base of an image by reference, unless it is here.
func (s *Store) fetch(ctx context.Context, as, ref string, anew bool, progress io.Writer) error {
	if !anew {
		if _, _, err := s.readBase(as); err == nil {
			return nil
		}
	}
	parsed, err := name.ParseReference(ref, name.WithDefaultTag("latest"))
	if err != nil {
		return &Error{Text: "the image " + ref + " is not a reference", Err: err}
	}
	at, err := s.opts.Mirror.Of(parsed)
	if err != nil {
		return &Error{Text: "the image " + ref + " has no place in the mirror", Err: err}
	}
	transport := reach()
	defer transport.CloseIdleConnections()
	limit, cancel := context.WithTimeout(ctx, transferLimit)
	defer cancel()
	img, digest, err := resolve(limit, cancel, at, transport)
	if err != nil {
		return &Error{Text: "getting the image " + ref, Err: err, Fix: "see that the registry can be reached, or choose an image of the catalogue (plimsoll image list)"}
	}
	same := func(b base) bool { return !anew || b.Facts["digest"] == digest }
	err = s.makeBase(limit, as, progress, same, func(ctx context.Context, work string) (tree, base, error) {
		fmt.Fprintf(progress, "%s: fetching %s@%s\n", as, at.Context(), digest)
		t, err := extract(ctx, img, work)
		facts := map[string]string{"reference": parsed.Name(), "digest": digest}
		if at != parsed {
			facts["mirror"] = at.Name()
		}
		return t, base{Facts: facts}, err
	})
	if err != nil {
		return &Error{Text: "getting the image " + ref, Err: err}
	}
	return nil
}

// resolve asks the registry which image a reference means for this machine.
// The layers are read later under the same ctx, which ends early only where
// the registry does not answer.
func resolve(ctx context.Context, cancel func(), ref name.Reference, transport http.RoundTripper) (v1.Image, string, error) {
	timer := time.AfterFunc(resolveLimit, cancel)
	img, err := remote.Image(ref, remote.WithContext(ctx), remote.WithTransport(transport),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}),
		remote.WithRetryBackoff(remote.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Steps: 2}))
	var d v1.Hash
	if err == nil {
		d, err = img.Digest()
	}
	if !timer.Stop() {
		err = errors.Join(fmt.Errorf("the registry did not answer within %s", resolveLimit), err)
	}
	if err != nil {
		return nil, "", err
	}
	return img, d.String(), nil
}

// extract reads the files of an image, laid together. Their content goes into
// numbered files below work, and never to a path that the image names.
func extract(ctx context.Context, img v1.Image, work string) (tree, error) {
	if err := os.Mkdir(work, 0o755); err != nil {
		return nil, err
	}
	all := mutate.Extract(img)
	defer all.Close()
	x := &extraction{work: work, found: map[string]entry{"/": {path: "/", kind: kindDir, mode: 0o755}}, hard: map[string]string{}}
	r := tar.NewReader(all)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = x.add(h, r)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the image's layers: %w", err)
		}
	}
	return x.tree()
}

// extraction collects a tree from a tar of any order.
type extraction struct {
	work  string
	found map[string]entry
	hard  map[string]string // hard links: path, target
	n     int
	bytes int64
}

func (x *extraction) add(h *tar.Header, content io.Reader) error {
	e := entry{path: path.Clean("/" + h.Name), mode: uint32(h.Mode) & 0o7777}
	if e.path == "/" {
		return nil
	}
	switch h.Typeflag {
	case tar.TypeDir:
		e.kind, e.mode = kindDir, e.mode|0o555
	case tar.TypeSymlink:
		e.kind, e.mode, e.link = kindLink, 0o777, h.Linkname
	case tar.TypeLink:
		x.hard[e.path] = path.Clean("/" + h.Linkname)
		return nil
	case tar.TypeReg:
		if x.bytes += h.Size; x.bytes > mostBytes {
			return fmt.Errorf("it has more than %d bytes", int64(mostBytes))
		}
		e.kind, e.mode = kindFile, e.mode|0o444
		if err := x.keep(&e, content); err != nil {
			return err
		}
	default:
		return nil // devices and the like are the engines' own
	}
	x.found[e.path] = e
	return nil
}

func (x *extraction) keep(e *entry, content io.Reader) error {
	x.n++
	e.file = filepath.Join(x.work, fmt.Sprint(x.n))
	f, err := os.OpenFile(e.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	e.size, err = io.Copy(io.MultiWriter(f, h), content)
	e.sum = hex.EncodeToString(h.Sum(nil))
	return errors.Join(err, f.Close())
}

// tree sorts what was found and makes sure that every entry lies in a
// directory: a path that leads over a link would be written elsewhere.
func (x *extraction) tree() (tree, error) {
	for p, target := range x.hard {
		e, ok := x.found[x.real(target)]
		if !ok || e.kind != kindFile {
			return nil, fmt.Errorf("%s is a hard link to %s, which is not a file of the image", p, target)
		}
		e.path = p
		x.found[p] = e
	}
	out := tree{x.found["/"]}
	delete(x.found, "/")
	placed := map[string]entry{}
	for _, p := range slices.Sorted(maps.Keys(x.found)) {
		e := x.found[p]
		e.path = x.real(p)
		if old, ok := placed[e.path]; ok && old.kind == kindDir && e.kind == kindDir {
			continue
		}
		placed[e.path] = e
	}
	for p := range placed {
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			above, ok := placed[dir]
			if !ok {
				placed[dir] = entry{path: dir, kind: kindDir, mode: 0o755}
				continue
			}
			if above.kind != kindDir {
				return nil, fmt.Errorf("%s lies in %s, which is not a directory", p, dir)
			}
		}
	}
	out = slices.AppendSeq(out, maps.Values(placed))
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return out, nil
}

// real follows the links above a path, within the image.
func (x *extraction) real(p string) string {
	for range 40 {
		moved := false
		parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
		at := "/"
		for i, part := range parts[:len(parts)-1] {
			at = path.Join(at, part)
			if e, ok := x.found[at]; ok && e.kind == kindLink {
				target := e.link
				if !path.IsAbs(target) {
					target = path.Join(path.Dir(at), target)
				}
				p, moved = path.Join(append([]string{"/", target}, parts[i+1:]...)...), true
				break
			}
		}
		if !moved {
			break
		}
	}
	return p
}

// buildReference makes the content of an image by reference: what the
// registry gave, in one layer, and the probe. It is fetched when it is not
// here, and then stays what it is until it is fetched anew.
func buildReference(as, ref string) func(context.Context, *Store) (*content, error) {
	return func(ctx context.Context, s *Store) (*content, error) {
		if err := s.fetch(ctx, as, ref, false, io.Discard); err != nil {
			return nil, err
		}
		t, b, err := s.readBase(as)
		if err != nil {
			return nil, &Error{Text: "the image " + ref, Err: err}
		}
		top, err := probeLayer(s)
		if err != nil {
			return nil, err
		}
		return contentOf(b.Facts, complete(t), top), nil
	}
}

// Fetch gets an image by reference, anew where the registry has another one
// by now. The name is one of the catalogue that stands for a reference, or a
// reference itself.
func (s *Store) Fetch(ctx context.Context, imageName string, progress io.Writer) (image.Image, error) {
	r, err := recipeFor(imageName)
	if err != nil {
		return image.Image{}, err
	}
	if r.ref == "" {
		return image.Image{}, &Error{Text: "the image " + imageName + " comes from no registry: " + r.How, Fix: "plimsoll image build " + imageName}
	}
	if err := s.fetch(ctx, imageName, r.ref, true, progress); err != nil {
		return image.Image{}, err
	}
	s.mu.Lock()
	delete(s.trees, imageName)
	s.mu.Unlock()
	return s.Get(ctx, imageName)
}
