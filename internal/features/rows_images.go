package features

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"plimsoll/internal/engine/clirun"
)

// What an engine's help would name if it had a builder.
var buildWords = []string{"build "}

func imageRows() []Feature {
	noBuilder := "it has no command that builds an image"
	return []Feature{{
		ID: "builder", Group: images, Title: "Built-in image builder",
		Means: "the engine itself makes an image, offline",
		By: map[string]attempt{
			"docker": func(t *try) { t.built() }, "podman": func(t *try) { t.built() }, "charliecloud": func(t *try) { t.built() },
			"apptainer":  definition,
			"containerd": lacks(noBuilder, buildWords, "images", "--help"),
			"lxd": func(t *try) {
				name := t.start(t.image())
				t.must(t.b.hand.inside(name, "touch", "/published")...)
				t.must(t.b.hand.cmd("stop", "--force", name)...)
				t.asked(t.b.hand.cmd("publish", name, "--alias", "published")...)
				t.cleanAll(t.b.hand.drop("published"))
				t.partial("it publishes a container that was changed as an image; it has no file to build from")
			},
		},
	}, {
		ID: "dockerfile", Group: images, Title: "Images from Dockerfiles/Containerfiles",
		Means: "an image is built from a Containerfile with RUN and COPY, offline, and run",
		By: map[string]attempt{
			"docker": func(t *try) { t.built() }, "podman": func(t *try) { t.built() }, "charliecloud": func(t *try) { t.built() },
			"apptainer": func(t *try) {
				dir := t.buildContext("busybox")
				t.refuses([]string{"header", "definition", "parse"}, t.b.hand.cmd("build", filepath.Join(t.dir, "x.sif"), filepath.Join(dir, "Containerfile"))...)
				t.yes("built from a Containerfile")
			},
			"containerd": lacks(noBuilder, buildWords, "images", "--help"),
			"lxd":        lacks(noBuilder, buildWords, "image", "--help"),
		},
	}, {
		ID: "sdf", Group: images, Title: "Images from SDFs",
		Means: "an image is built from a Singularity definition file, offline, and run",
		By: map[string]attempt{
			"apptainer":    definition,
			"docker":       refusesDefinition,
			"podman":       refusesDefinition,
			"charliecloud": refusesDefinition,
			"containerd":   lacks(noBuilder, buildWords, "images", "--help"),
			"lxd":          lacks(noBuilder, buildWords, "image", "--help"),
		},
	}, {
		ID: "git", Group: images, Title: "Images from git repositories",
		Means: "an image is built from a git repository that is named by its address, here one on loopback",
		By: map[string]attempt{
			"docker": fromGit, "podman": fromGit, "charliecloud": fromGit,
			"apptainer": func(t *try) {
				t.refuses([]string{"uri", "transport", "unsupported", "not supported", "invalid build source", "no such file"}, t.b.hand.cmd("build", filepath.Join(t.dir, "x.sif"), t.repository("busybox"))...)
				t.yes("built from a repository")
			},
			"containerd": lacks(noBuilder, buildWords, "images", "--help"),
			"lxd":        lacks(noBuilder, buildWords, "image", "--help"),
		},
	}, {
		ID: "archives", Group: images, Title: "Images from archives",
		Means: "an image is taken from a file, and run",
		Any: func(t *try) {
			t.judge(t.within("echo", "from-an-archive"))
		},
	}, {
		ID: "registries", Group: images, Title: "Public/private registries",
		Means: "an image is pulled from a registry, here one on loopback, and one is pushed",
		By: map[string]attempt{
			"docker": pullAndPush, "podman": pullAndPush, "containerd": pullAndPush, "charliecloud": pullAndPush, "apptainer": pullAndPush,
			"lxd": func(t *try) {
				t.image()
				t.refuses([]string{"protocol"}, t.b.hand.cmd("remote", "add", "plimsoll", "http://"+t.b.registry.addr, "--protocol", "oci", "--public")...)
				t.untried("it knows OCI registries, which no attempt is written for")
			},
		},
	}, {
		ID: "docker-oci-images", Group: images, Title: "Support for Docker/OCI images",
		Means: "a Docker image and an OCI image are pulled, and run",
		By: map[string]attempt{
			"docker": bothFormats, "podman": bothFormats, "containerd": bothFormats, "charliecloud": bothFormats, "apptainer": bothFormats,
			"lxd": func(t *try) {
				t.image()
				t.cleanAll(t.b.hand.drop("docker"))
				t.refuses(notAnImage, t.b.hand.cmd("image", "import", t.plainSample().dockerArchive(t, t.b.tag("x")), "--alias", "docker")...)
				t.untried("it imported a Docker image, which no attempt is written for")
			},
		},
	}, {
		ID: "sif", Group: images, Title: "Support for SIF",
		Means: "a file in Singularity's image format is run",
		By: map[string]attempt{
			"apptainer":  func(t *try) { t.judge(t.run(t.b.hand.once("", t.sif(), nil, "echo", "from-a-sif")...)) },
			"docker":     loadsSIF("load", "--input"),
			"podman":     loadsSIF("load", "--input"),
			"containerd": loadsSIF("images", "import"),
			"charliecloud": func(t *try) {
				t.refuses([]string{"unknown image type"}, t.b.hand.once("", t.sif(), nil, "echo", "from-a-sif")...)
			},
			"lxd": func(t *try) {
				t.image()
				t.cleanAll(t.b.hand.drop("sif"))
				t.refuses(notAnImage, t.b.hand.cmd("image", "import", t.sif(), "--alias", "sif")...)
			},
		},
	}}
}

// notAnImage are the words in which engines refuse a file that is none of
// their formats.
var notAnImage = []string{"invalid", "unrecognized", "unsupported", "not supported", "payload does not match", "metadata", "unexpected eof", "no such file", "unknown", "archive/tar"}

func loadsSIF(args ...string) attempt {
	return func(t *try) { t.refuses(notAnImage, t.b.hand.cmd(append(args[:len(args):len(args)], t.sif())...)...) }
}

// buildContext is a directory to build from: a Containerfile on top of an
// image that the engine has, and a file.
func (t *try) buildContext(from string) string {
	t.file("context/copied", "copied-file\n")
	t.file("context/Containerfile", "FROM "+from+"\nCOPY copied /copied\nRUN echo run-step > /made\n")
	return filepath.Join(t.dir, "context")
}

// build is the engine's command for it.
func (t *try) build(tag, file, context string) []string {
	h := t.b.hand
	if t.b.name == "charliecloud" {
		argv := []string{"ch-image", "build", "--force", "--tag", tag}
		if file != "" {
			argv = append(argv, "--file", file)
		}
		return append(argv, context)
	}
	argv := h.cmd("build", "--quiet", "--force-rm", "--network", "none", "--label", "plimsoll="+t.b.kit.RunID, "--tag", tag)
	argv = append(argv, h.limits...)
	if file != "" {
		argv = append(argv, "--file", file)
	}
	return append(argv, context)
}

// builtName is how an image that was built is named to build and to run.
func (t *try) builtName(name string) (tag, image string) {
	if t.b.name == "charliecloud" {
		return name, name
	}
	return t.b.tag(name), t.b.tag(name)
}

// baseName is what a Containerfile calls the image that the engine was given.
func (t *try) baseName() string {
	if img := t.image(); t.b.name != "charliecloud" {
		return img
	}
	return "busybox"
}

func (t *try) drops(tag string) {
	if t.b.name == "charliecloud" {
		t.clean([]string{"ch-image", "delete", tag})
		return
	}
	t.cleanAll(t.b.hand.drop(tag))
}

// built builds from a Containerfile and runs what came of it, once for all
// rows that ask for it.
func (t *try) built() {
	once(t, "built", func(t *try) bool {
		dir := t.buildContext(t.baseName())
		tag, img := t.builtName("built")
		t.drops(tag)
		t.asked(t.build(tag, filepath.Join(dir, "Containerfile"), dir)...)
		t.shows(t.run(t.b.hand.once(t.b.fresh(), img, nil, "cat", "/copied", "/made")...), "copied-file", "run-step")
		return true
	})
}

// shows demands words in what came of a feature.
func (t *try) shows(s said, words ...string) {
	t.judge(s)
	for _, w := range words {
		if !strings.Contains(s.all(), w) {
			t.no("it went through, but %q is missing in what came of it", w)
		}
	}
}

// definition builds from a Singularity definition file.
func definition(t *try) {
	once(t, "definition", func(t *try) bool {
		def := t.file("x.def", fmt.Sprintf("Bootstrap: localimage\nFrom: %s\n%%files\n\t%s /copied\n%%runscript\n\techo run-script; cat /copied\n", t.image(), t.file("copied", "copied-file\n")))
		out := filepath.Join(t.dir, "defined.sif")
		t.asked(t.b.hand.cmd("build", "--force", out, def)...)
		t.shows(t.run(t.b.hand.cmd("run", out)...), "run-script", "copied-file")
		return true
	})
}

// refusesDefinition gives a definition file to a builder of Containerfiles.
func refusesDefinition(t *try) {
	def := t.file("context/x.def", "Bootstrap: localimage\nFrom: x.sif\n%post\n\techo post-step > /made\n")
	tag, _ := t.builtName("defined")
	t.drops(tag)
	t.refuses([]string{"unknown instruction", "can't parse", "dockerfile parse error", "unrecognized", "no from", "from instruction"}, t.build(tag, def, filepath.Dir(def))...)
}

// fromGit builds from a repository on loopback.
func fromGit(t *try) {
	tag, img := t.builtName("from-git")
	address := t.repository(t.baseName())
	t.drops(tag)
	t.refuses([]string{"not yet supported", "not found", "no such file", "not a directory"}, t.build(tag, "", address)...)
	t.shows(t.run(t.b.hand.once(t.b.fresh(), img, nil, "cat", "/copied")...), "copied-file")
}

// repository serves a git repository on loopback until the attempt has ended,
// and gives its address. Git answers on connections that we take.
func (t *try) repository(from string) string {
	dir := t.buildContext(from)
	if err := os.Rename(filepath.Join(dir, "Containerfile"), filepath.Join(dir, "Dockerfile")); err != nil {
		t.untried("making a repository: %v", err)
	}
	bare := filepath.Join(t.dir, "repositories", "image.git")
	git := []string{"git", "-C", dir, "-c", "user.name=plimsoll", "-c", "user.email=plimsoll@localhost", "-c", "init.defaultBranch=master", "-c", "safe.directory=*"}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "--message", "image"}, {"clone", "--quiet", "--bare", dir, bare}} {
		if s := t.b.command(t.ctx, t.b.env, nil, append(git[:len(git):len(git)], args...)); s.status != 0 {
			t.untried("making a git repository to build from: %s %v", t.plain(s), s.err)
		}
	}
	path, err := t.b.kit.LookPath("git")
	if err != nil {
		t.untried("git is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.untried("serving a git repository: %v", err)
	}
	t.later(func(context.Context) { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it was closed
			}
			go answerGit(t.ctx, c, path, filepath.Dir(bare))
		}
	}()
	return "git://" + l.Addr().String() + "/image.git"
}

func answerGit(ctx context.Context, c net.Conn, path, base string) {
	defer c.Close()
	cmd := exec.CommandContext(ctx, path, "daemon", "--inetd", "--export-all", "--base-path="+base, base)
	// Another owner than the one who asks is no danger in a repository of ours.
	cmd.Env = []string{clirun.Path, "HOME=" + base, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
	cmd.Stdin, cmd.Stdout = c, c
	_ = cmd.Run() // who has asked sees it
}

// pullAndPush pulls an image from the registry on loopback, runs it and puts
// one back, which the registry must then have.
func pullAndPush(t *try) {
	ref := t.publish(t.plainSample(), "pulled")
	t.cleanAll(t.b.hand.drop(ref))
	t.asked(t.b.hand.pull(ref)...)
	img := t.pulledName(ref)
	t.shows(t.run(t.b.hand.once(t.b.fresh(), img, nil, "echo", "from-a-registry")...), "from-a-registry")
	path := "plimsoll/pushed-" + t.b.name + ":" + t.b.kit.RunID
	target := t.b.registry.addr + "/" + path
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
		t.partial("it pulls; what it says to have pushed is not in the registry")
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
			if err != nil {
				t.untried("making an image in Docker's format: %v", err)
			}
		}
		ref := t.publish(s, kind+"-format")
		t.cleanAll(t.b.hand.drop(ref))
		got := t.run(t.b.hand.pull(ref)...)
		if got.status == 0 {
			got = t.run(t.b.hand.once(t.b.fresh(), t.pulledName(ref), nil, "echo", "it-runs")...)
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
