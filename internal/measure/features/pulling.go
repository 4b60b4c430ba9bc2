package features

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"plimsoll/internal/measure/engine"
)

// pullAndPush pulls an image from the registry on loopback, runs it and puts
// one back, which the registry must then have.
func pullAndPush(t *try) {
	ref := t.publish(t.plainSample(), "pulled")
	t.cleanAll(t.b.hand.drop(ref))
	t.asked(t.b.hand.pull(ref)...)
	img := t.pulledName(ref)
	t.shows(t.hear(t.b.env, t.b.hand.once(t.b.fresh(), img, nil, "echo", "from-a-registry")...), "from-a-registry")
	path := "plimsoll/pushed-" + t.b.name + ":" + t.b.kit.RunID
	target := t.b.enter(engine.KindImage, t.b.registry.addr+"/"+path)
	from := ref
	switch t.b.name {
	case "docker", "containerd":
		verb := []string{"tag"}
		if t.b.name == "containerd" {
			verb = []string{"images", "tag"}
		}
		t.must(t.b.hand.cmd(append(verb, ref, target)...)...)
		t.cleanAll(t.b.hand.drop(target))
	case "charliecloud":
		from = t.b.overTLS(ref)
	case "apptainer":
		from = img
	}
	if s := t.run(t.b.hand.push(from, target)...); s.status != 0 {
		t.partial("it pulls; pushing failed: %s", t.plain(s))
	}
	if !t.b.registry.has(t.ctx, path) {
		t.partial("it pulls; what it claims to have pushed is not in the registry")
	}
	t.yes("pulled, run and pushed")
}

// pulledName is how an image that was pulled is named to be run.
func (t *try) pulledName(ref string) string {
	switch t.b.name {
	case "charliecloud":
		return t.b.overTLS(ref)
	case "apptainer":
		return t.b.pulledSIF(ref)
	}
	return ref
}

// has says whether there is an image of this name.
func (r *registry) has(ctx context.Context, path string) bool {
	repo, tag, _ := strings.Cut(path, ":")
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://"+r.addr+"/v2/"+repo+"/manifests/"+tag, nil)
	if err != nil {
		return false
	}
	resp, err := (&http.Transport{Proxy: nil, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// bothFormats pulls and runs an image with an OCI manifest, and one with
// Docker's.
func bothFormats(t *try) {
	var refused []string
	for _, kind := range []string{"oci", "docker"} {
		s := t.plainSample()
		if kind == "docker" {
			file := s.dockerArchive(t, t.b.tag("docker-format"))
			tag, err := name.NewTag(t.b.tag("docker-format"))
			if err == nil {
				s = &sample{name: "docker-format"}
				s.Image, err = tarball.ImageFromPath(file, &tag)
			}
			t.need("making an image in Docker's format", err)
		}
		ref := t.publish(s, kind+"-format")
		t.cleanAll(t.b.hand.drop(ref))
		got := t.run(t.b.hand.pull(ref)...)
		if got.status == 0 {
			got = t.hear(t.b.env, t.b.hand.once(t.b.fresh(), t.pulledName(ref), nil, "echo", "it-runs")...)
		}
		if got.status != 0 || !strings.Contains(got.out, "it-runs") {
			refused = append(refused, kind)
			if len(refused) == 2 {
				t.judge(got)
			}
		}
	}
	if len(refused) == 1 {
		t.partial("not with the manifest of %s", refused[0])
	}
	t.yes("with OCI's manifest and with Docker's")
}
