package features

import (
	"fmt"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
)

// What an engine's help would name if it had a builder.
var buildWords = []string{"build "}

func imageRows() []feature {
	noBuilder := "it has no command that builds an image"
	return []feature{{
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
				t.asked(t.b.hand.cmd("publish", name, "--alias", t.b.enter(engine.KindImage, "published"), "user."+t.b.label())...)
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
				t.untried("it supports OCI registries, for which no attempt is written")
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
				t.untried("it imported a Docker image, for which no attempt is written")
			},
		},
	}, {
		ID: "sif", Group: images, Title: "Support for SIF",
		Means: "a file in Singularity's image format is run",
		By: map[string]attempt{
			"apptainer":  func(t *try) { t.judge(t.hear(t.b.env, t.b.hand.once("", t.sif(), nil, "echo", "from-a-sif")...)) },
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
	argv := h.cmd("build", "--quiet", "--force-rm", "--network", "none", "--label", t.b.label(), "--tag", tag)
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
		t.shows(t.hear(t.b.env, t.b.hand.once(t.b.fresh(), img, nil, "cat", "/copied", "/made")...), "copied-file", "run-step")
		return true
	})
}

// shows demands words in what came of a feature.
func (t *try) shows(s said, words ...string) {
	t.judge(s)
	if s.all() == "" {
		t.untried("the result said nothing")
	}
	for _, w := range words {
		if !strings.Contains(s.all(), w) {
			t.no("it succeeded, but %q is missing from the result", w)
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
