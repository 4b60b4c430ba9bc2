package portable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// kindTag is a tag that a run has put into a repository of the user's. Its name has the
// manifest's digest behind an @: nothing else is removed.
const kindTag = "tag"

// errKeeps is a registry that lets nothing be deleted.
var errKeeps = errors.New("the registry deletes nothing (status 405)")

// removeTag takes the manifest of a run out of a registry, and its tag with it: by the
// digest, which most registries ask for, and where the tag is still there then, by that.
// A tag that leads elsewhere is somebody else's, and one that is not there is gone.
func removeTag(ctx context.Context, named string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	text, digest, ok := strings.Cut(named, "@")
	tag, err := name.NewTag(text)
	if err != nil || !ok {
		return fmt.Errorf("the ledger names %q: expected HOST/REPOSITORY:TAG@DIGEST", named)
	}
	opts := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	var refused error
	for _, ref := range []name.Reference{tag.Context().Digest(digest), tag} {
		have, err := remote.Head(tag, opts...)
		switch {
		case statusOf(err) == http.StatusNotFound:
			return nil
		case err != nil:
			return fmt.Errorf("looking for the tag %s: %w", tag, err)
		case have.Digest.String() != digest:
			return nil
		}
		err = remote.Delete(ref, opts...)
		if err == nil || statusOf(err) == http.StatusNotFound {
			refused = nil
		} else {
			refused = err
		}
	}
	_, err = remote.Head(tag, opts...)
	switch {
	case statusOf(err) == http.StatusNotFound:
		return nil
	case statusOf(refused) == http.StatusMethodNotAllowed:
		return fmt.Errorf("the tag %s stays: %w", tag, errKeeps)
	case refused != nil:
		return fmt.Errorf("removing the tag %s: %w", tag, refused)
	case err != nil:
		return fmt.Errorf("looking for the tag %s after its removal: %w", tag, err)
	}
	return fmt.Errorf("the tag %s is still there after its removal", tag)
}

// statusOf is the status with which a registry has answered; 0 where it is no such error.
func statusOf(err error) int {
	var e *transport.Error
	if errors.As(err, &e) {
		return e.StatusCode
	}
	return 0
}
