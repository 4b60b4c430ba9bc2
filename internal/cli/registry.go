//go:build linux

package cli

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	reference "github.com/google/go-containerregistry/pkg/name"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
)

// registryLimit bounds what a plan waits for a registry.
const registryLimit = 5 * time.Second

// registries asks each registry once whether it answers. It fetches nothing.
type registries struct {
	ctx    context.Context
	store  *imagestore.Store
	mirror imagestore.Mirror
	said   map[string]error
}

// usable says whether an image by reference is here, or its registry answers.
func (r *registries) usable(levels map[string]string) (ok bool, reason, fix string) {
	ref := levels[engine.Image]
	if !imagestore.IsReference(ref) {
		return true, "", ""
	}
	ok, reason, fix = r.reachable(ref)
	return ok, reason, orInstead(fix, ref)
}

// orInstead adds to a fix that another image can stand in the place of one that
// the study names, which needs no registry.
func orInstead(fix, named string) string {
	if fix == "" {
		return ""
	}
	to := "debian"
	if named == "alpine" || strings.HasPrefix(named, "alpine:") {
		to = "busybox" // its userland, and about its size
	}
	return fix + "; or take an image that is built here: --image " + named + "=" + to
}

// reachable says whether what a reference means is here, or can be had.
func (r *registries) reachable(ref string) (ok bool, reason, fix string) {
	if st, err := r.store.State(ref); err != nil || st.State != imagestore.NotFetched {
		return true, "", "" // here already, or judged by whoever knows more
	}
	parsed, err := reference.ParseReference(ref)
	if err != nil {
		return false, "the image " + ref + " is not a reference: " + err.Error(), ""
	}
	if parsed, err = r.mirror.Of(parsed); err != nil {
		return false, "the image " + ref + " has no place in the mirror: " + err.Error(), ""
	}
	registry := parsed.Context().Registry
	host := registry.RegistryStr()
	err, asked := r.said[host]
	if !asked {
		err = answers(r.ctx, registry.Scheme()+"://"+host+"/v2/")
		r.said[host] = err
	}
	if err != nil {
		return false, fmt.Sprintf("the image %s is not here, and its registry does not answer: %v", ref, err), "when it does: plimsoll image pull " + ref
	}
	return true, "", ""
}

// answers gets an address. Any answer will do: most registries want to know
// first who asks.
func answers(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, registryLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
