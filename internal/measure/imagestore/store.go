//go:build linux

package imagestore

import (
	"cmp"
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

	"plimsoll/internal/measure/image"
)

// Options are what a Store is given from outside. The zero value is usable.
type Options struct {
	// RunID names the run whose images these are: docker archives bear its
	// tag. Empty outside a run; the tag is then "latest".
	RunID string
	// LookPath finds a program; nil is exec.LookPath.
	LookPath func(name string) (string, error)
	// From is another store, "" for none: what was built or fetched there is used
	// where this store does not have it. Nothing is written to it.
	From string
	// Mirror is asked for Docker Hub's images.
	Mirror Mirror
	// Root is where the distribution's own settings are read; "" is /.
	Root string
}

// Store builds images and keeps them below a directory, in every format that
// was asked for. Several processes may use one directory at the same time.
type Store struct {
	dir   string
	probe []byte
	opts  Options

	opening sync.Mutex
	opened  bool

	mu       sync.Mutex
	trees    map[string]*content
	verified map[string]seal // by path, checked by this process
}

var _ image.Provider = (*Store)(nil)

// NewStore gives a store below dir, which is made when it is needed: it must
// then be empty, or a store already. For the engines of ordinary users every
// directory above it must be searchable by them: engine.Kit.ImagePath tries it.
func NewStore(dir string, probe []byte, opts Options) *Store {
	if opts.LookPath == nil {
		opts.LookPath = exec.LookPath
	}
	return &Store{dir: dir, probe: probe, opts: opts, trees: map[string]*content{}, verified: map[string]seal{}}
}

var plainID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

func (s *Store) Tag(name, runID string) string {
	return "localhost/plimsoll/" + image.FileName(name) + ":" + cmp.Or(runID, "latest")
}

func (s *Store) Get(ctx context.Context, name string) (image.Image, error) {
	t, err := s.tree(ctx, name)
	if err != nil {
		return image.Image{}, err
	}
	_, sl, err := s.ensure(ctx, name, t, image.OCILayout)
	if err != nil {
		return image.Image{}, err
	}
	return image.Image{Name: name, Digest: sl.Manifest, Tree: t.digest(), WithoutProbe: t.withoutProbe(), Bytes: t.bytes(), Facts: t.facts}, nil
}

// Build makes what an image is made from where that is not done by itself,
// and tells of it on progress, and then the image. Errors are *Error.
func (s *Store) Build(ctx context.Context, name string, progress io.Writer) (image.Image, error) {
	r, err := recipeFor(name)
	if err != nil {
		return image.Image{}, err
	}
	if r.bases != nil {
		bases, err := r.bases(s)
		if err != nil {
			return image.Image{}, &Error{Text: "building the image " + name, Err: err}
		}
		for _, b := range bases {
			if err := s.bootstrap(ctx, b, progress); err != nil {
				return image.Image{}, err
			}
		}
		s.mu.Lock()
		delete(s.trees, name)
		s.mu.Unlock()
	}
	return s.Get(ctx, name)
}

// Path returns errors of type *Error.
func (s *Store) Path(ctx context.Context, name string, f image.Format) (string, error) {
	t, err := s.tree(ctx, name)
	if err != nil {
		return "", err
	}
	p, _, err := s.ensure(ctx, name, t, f)
	return p, err
}

// Close removes what bears the run's id. The images themselves stay for the
// next run.
func (s *Store) Close() error {
	if s.opts.RunID == "" {
		return nil
	}
	return s.Forget(s.opts.RunID)
}

func within(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// tree gives the content of an image, made once for each process. Its digest
// is known then, so that nobody changes it any more.
func (s *Store) tree(ctx context.Context, name string) (*content, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.trees[name]; ok {
		return t, nil
	}
	r, err := recipeFor(name)
	if err != nil {
		return nil, err
	}
	t, err := r.build(ctx, s)
	if err != nil {
		return nil, err
	}
	t.digest()
	s.trees[name] = t
	return t, nil
}
