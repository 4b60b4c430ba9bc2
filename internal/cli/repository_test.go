package cli

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	ref "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/rogpeppe/go-internal/testscript"
)

// repository lends a registry on loopback for as long as the script runs, and sets
// $REPOSITORY to a repository in it.
func repository(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: repository")
	}
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(s.Close)
	ts.Setenv("REPOSITORY", strings.TrimPrefix(s.URL, "http://")+"/scratch")
}

// untagged fails where $REPOSITORY has a tag; negated, where it has none.
func untagged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: [!] untagged")
	}
	repo, err := ref.NewRepository(ts.Getenv("REPOSITORY"))
	ts.Check(err)
	tags, err := remote.List(repo)
	var e *transport.Error
	if errors.As(err, &e) && e.StatusCode == http.StatusNotFound {
		err = nil // nobody has ever put anything there
	}
	ts.Check(err)
	if neg == (len(tags) == 0) {
		ts.Fatalf("the repository has the tags %v", tags)
	}
}
