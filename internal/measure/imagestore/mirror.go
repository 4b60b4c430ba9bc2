//go:build linux

package imagestore

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Mirror is a registry that is asked for Docker Hub's images in its place, as
// the engines' own setting registry-mirrors does. The zero value is none.
type Mirror struct {
	host     string // with a path below which the images are, where there is one
	insecure bool
}

// ParseMirror reads a mirror's address, such as https://mirror.example or
// http://localhost:5000/hub. The empty one is none.
func ParseMirror(address string) (Mirror, error) {
	const expected = "expected an address such as https://mirror.example"
	if address == "" {
		return Mirror{}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Mirror{}, &Error{Text: fmt.Sprintf("the mirror is %q, %s", address, expected)}
	}
	m := Mirror{host: u.Host + strings.TrimSuffix(u.Path, "/"), insecure: u.Scheme == "http"}
	if _, err := name.NewRepository(m.host+"/library/x", m.options()...); err != nil {
		return Mirror{}, &Error{Text: fmt.Sprintf("the mirror is %q, %s", address, expected), Err: err}
	}
	return m, nil
}

func (m Mirror) options() []name.Option {
	if m.insecure {
		return []name.Option{name.Insecure}
	}
	return nil
}

// Of is where an image is asked for: at the mirror, if there is one and it is
// Docker Hub's.
func (m Mirror) Of(ref name.Reference) (name.Reference, error) {
	if m.host == "" || ref.Context().RegistryStr() != name.DefaultRegistry {
		return ref, nil
	}
	at := ":"
	if _, ok := ref.(name.Digest); ok {
		at = "@"
	}
	return name.ParseReference(m.host+"/"+ref.Context().RepositoryStr()+at+ref.Identifier(), m.options()...)
}
