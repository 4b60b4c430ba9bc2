package portable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// kindTag is a tag that a run has put into a repository of the user's. Its name has the
// manifest's digest behind an @: nothing else is removed.
const kindTag = "tag"

// errKeeps is a registry that lets nothing be deleted, or not by this user: nothing that is
// tried again would help.
var errKeeps = errors.New("the registry doesn't let it be deleted")

// keepsBy are the statuses with which registries say that: they allow no deletes (400, 405),
// the user may push and not delete (401, 403), or tags are immutable (409, 412).
var keepsBy = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusPreconditionFailed}

// keeps says whether a refusal is one for good.
func keeps(err error) bool { return slices.Contains(keepsBy, statusOf(err)) }

// removeTag takes the manifest of a run out of a registry, and its tag with it: by the
// digest, which most registries ask for, and where the tag is still there then, by that.
// A tag that leads elsewhere is somebody else's, and one that is not there is gone.
func removeTag(ctx context.Context, named string, by *logins) error {
	text, digest, ok := strings.Cut(named, "@")
	tag, err := name.NewTag(text)
	if err != nil || !ok {
		return fmt.Errorf("the ledger names %q: expected HOST/REPOSITORY:TAG@DIGEST", named)
	}
	ctx = context.WithoutCancel(ctx)
	if _, err := by.of(ctx, tag.Context()); err != nil { // it has a limit of its own
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	opts, err := by.options(ctx, tag.Context())
	if err != nil {
		return err
	}
	var refused error // the first; one that may pass is told before one that won't
	for _, ref := range []name.Reference{tag.Context().Digest(digest), tag} {
		if is, err := leadsTo(tag, digest, opts); err != nil || !is {
			return err
		}
		err := remote.Delete(ref, opts...)
		if err != nil && statusOf(err) != http.StatusNotFound && (refused == nil || keeps(refused) && !keeps(err)) {
			refused = err
		}
	}
	is, err := leadsTo(tag, digest, opts)
	switch {
	case err == nil && !is:
		return nil
	case keeps(refused):
		return fmt.Errorf("the tag %s stays, with the manifest %s: %w (%d %s): delete it there by hand, or log in as somebody who may delete (%s) before the next run",
			tag, digest, errKeeps, statusOf(refused), http.StatusText(statusOf(refused)), loginFix(tag.Context()))
	case refused != nil:
		return fmt.Errorf("removing the tag %s: %w", tag, told(refused))
	case err != nil:
		return err
	}
	return fmt.Errorf("the tag %s is still there after its removal", tag)
}

// leadsTo says whether a tag is there and leads to a manifest.
func leadsTo(tag name.Tag, digest string, opts []remote.Option) (bool, error) {
	have, err := remote.Head(tag, opts...)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("looking for the tag %s: %w", tag, told(err))
	}
	return have.Digest.String() == digest, nil
}

// statusOf is the status with which a registry has answered; 0 where it is no such error.
func statusOf(err error) int {
	var e *transport.Error
	if errors.As(err, &e) {
		return e.StatusCode
	}
	return 0
}
