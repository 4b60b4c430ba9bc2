package portable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
)

// source is where a run's engines pull from: a registry of ours on this machine's
// loopback, or a repository that the user named, since the engine is elsewhere.
type source struct {
	dir      string               // of layers that are being made
	registry *imagestore.Registry // ours; nil where the user named a repository
	repo     name.Repository
	now      *logins // the user's, as they were looked up last; nil until then
	leaving  *logins // for the removals at the end; nil until then
	images   map[string]*image.Published
	warned   []string // what was said of loopback, once each
}

// CheckRepository says what is wrong with a repository that the user names.
func CheckRepository(text string) error {
	_, err := repository(text)
	return err
}

// repository reads HOST[:PORT]/REPOSITORY. Its registry must be named: what is put there
// is not to land in a public one by a slip.
func repository(text string) (name.Repository, error) {
	repo, err := name.NewRepository(text)
	host, _, _ := strings.Cut(text, "/")
	if err == nil && host != repo.RegistryStr() && host != "docker.io" {
		err = errors.New("it names no registry")
	}
	if err != nil {
		return repo, fmt.Errorf("%q: expected HOST[:PORT]/REPOSITORY without a tag, such as registry.example/scratch: %w", text, err)
	}
	return repo, nil
}

// layersAt is where the layers of a run lie: beside its ledger, whose lock they are under,
// so that they are removed after a kill.
func layersAt(ledgers, runID string) string { return filepath.Join(ledgers, runID+".layers") }

// newSource begins one, with its layers in a new folder.
func newSource(dir, pullFrom string) (s *source, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a place for the layers: %w", err)
	}
	s = &source{dir: dir, images: map[string]*image.Published{}}
	if pullFrom == "" {
		s.registry, err = imagestore.StartRegistry(dir)
	} else {
		s.repo, err = repository(pullFrom)
	}
	if err != nil {
		return nil, errors.Join(err, safepath.RemoveAll(dir))
	}
	return s, nil
}

func (s *source) close() error {
	var err error
	if s.registry != nil {
		err = s.registry.Close()
	}
	return errors.Join(err, safepath.RemoveAll(s.dir))
}

// where is what a record says of it.
func (s *source) where() string {
	if s.registry != nil {
		return "a registry on loopback"
	}
	return s.repo.Name()
}

// plain says whether it may speak HTTP without TLS: on loopback alone, whatever the library
// thinks of private addresses.
func (s *source) plain() bool {
	return s.registry != nil || s.repo.Scheme() == "http" && loopback(s.repo.RegistryStr())
}

// ownLoopback warns where the user's repository is on loopback and the engine is not known
// to be on this machine: what it reaches by that name is something of its own. The socket
// of a CRI is one that is forwarded from a node, as the manual has it. "" is fine.
func (s *source) ownLoopback(f *Found) string {
	if s.registry != nil || f.Kind == bySocket && f.Engine != CRI || !loopback(s.repo.RegistryStr()) {
		return ""
	}
	return fmt.Sprintf("%s is the loopback of the machine that names it, and %s is reached by %s: where it runs on another machine it asks that machine, so it is sent no credentials; name a registry that both reach, such as %s",
		s.repo.RegistryStr(), f.Engine, f.Kind, "--pull-from registry.example/scratch")
}

// anew gives the user's credentials as they are now, since tokens of helpers expire within a
// run. A helper that gave no answer is not asked again: the library lets nobody ask another
// one while it is waited for.
func (s *source) anew() *logins {
	if s.now == nil || !s.now.silent {
		s.now = newLogins()
	}
	return s.now
}

// traffic is what a registry of ours has served.
func (s *source) traffic() image.Traffic {
	if s.registry == nil {
		return image.Traffic{}
	}
	return s.registry.Traffic()
}

// published puts an image, once, where the engines pull it from.
func (r *run) published(ctx context.Context, called string) (*image.Published, error) {
	return r.publishedAs(ctx, called, called)
}

// publishedAs puts it there under another name, by which its layers are others too.
func (r *run) publishedAs(ctx context.Context, called, as string) (*image.Published, error) {
	if r.source == nil {
		s, err := newSource(layersAt(r.Ledgers, r.Run.ID), r.Look.PullFrom)
		if err != nil {
			return nil, unavailable(err, "", "preparing the pulls")
		}
		r.source = s
		r.removals = append(r.removals, func(context.Context) error { return s.close() })
	}
	s := r.source
	if p := s.images[as]; p != nil {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	img, err := r.Look.Images.get(ctx, called)
	if err != nil {
		return nil, unavailable(err, "", "providing the image %s for pulls", called)
	}
	r.Say("putting the image " + as + " into " + s.where())
	var p *image.Published
	if s.registry != nil {
		p, err = s.registry.PublishImage(ctx, img, as, r.Run.ID)
	} else {
		p, err = r.push(ctx, img, as, as == called) // the sibling of what is only started is pulled by nobody
	}
	if err != nil {
		return nil, unavailable(told(err), s.pushFix(err), "putting the image %s where it is pulled from", called)
	}
	s.images[as] = p
	return p, nil
}
