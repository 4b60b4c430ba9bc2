package portable

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
)

// pushFix is what helps where the repository could not be written to.
func (s *source) pushFix(err error) string {
	if _, fix := engine.Reason(err); fix != "" || s.registry != nil {
		return fix
	}
	if status := statusOf(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
		return loginFix(s.repo)
	}
	return "name a repository that answers and to which this machine may write: --pull-from registry.example/scratch"
}

// tagOf is the tag of an image of a run's. A name that can't stand in one, or not in whole,
// is told from others by a part of its digest.
func tagOf(runID, called string) string {
	plain := image.FileName(called)
	if plain != called || len(plain) > mostOfTag {
		sum := sha256.Sum256([]byte(called))
		plain = fmt.Sprintf("%.*s-%x", mostOfTag, plain, sum[:4])
	}
	return runID + "-" + plain
}

// mostOfTag is what a tag has of an image's name: registries take 128 characters.
const mostOfTag = 80

// push puts an image and its sibling into the user's repository, under tags of the run's.
func (r *run) push(ctx context.Context, img v1.Image, called string, sibling bool) (*image.Published, error) {
	set, err := imagestore.NewSet(r.source.dir, img, called, r.Run.ID)
	if err != nil {
		return nil, err
	}
	plain := tagOf(r.Run.ID, called)
	p, err := set.As(r.source.repo.Tag(plain).Name(), r.source.repo.Tag(plain+"-sibling").Name())
	if err != nil {
		return nil, err
	}
	if err := r.pushOne(ctx, plain, p.Digest, set.Image); err != nil {
		return nil, err
	}
	if !sibling {
		p.Sibling, p.SiblingDigest = "", ""
		return p, nil
	}
	return p, r.pushOne(ctx, plain+"-sibling", p.SiblingDigest, set.Sibling)
}

// pushOne enters a tag into the ledger and puts it there. What does not answer, or refuses
// it, has nothing of the run's, and gets no entry that nobody could ever strike out.
func (r *run) pushOne(ctx context.Context, tag, digest string, img v1.Image) error {
	at := r.source.repo.Tag(tag)
	host := at.Context().RegistryStr()
	opts, err := r.source.anew().options(ctx, at.Context())
	if err != nil {
		return err
	}
	if _, err := remote.Head(at, opts...); err != nil && statusOf(err) == 0 {
		return err
	}
	thing := engine.Thing{Kind: kindTag, Name: at.Name() + "@" + digest, Engine: host, At: host}
	if err := r.ledger.Made(thing); err != nil {
		return err
	}
	err = remote.Write(at, img, opts...)
	if s := statusOf(err); s >= http.StatusBadRequest && s < http.StatusInternalServerError {
		return errors.Join(err, r.ledger.Gone(thing))
	}
	r.removals = append(r.removals, func(ctx context.Context) error {
		if r.source.leaving == nil {
			r.source.leaving = r.source.anew()
		}
		err := removeTag(ctx, thing.Name, r.source.leaving)
		if errors.Is(err, errKeeps) { // nothing that is tried again would help
			r.Say(err.Error())
			err = nil
		}
		return r.gone(err, thing)
	})
	return err
}
