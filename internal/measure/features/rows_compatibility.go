package features

import (
	"fmt"
	"path/filepath"
	"strings"
)

func compatibilityRows() []feature {
	return []feature{{
		ID: "oci-compliance", Group: compatibility, Title: "OCI compliance",
		Means: "an image's entrypoint, command, environment, user and working directory are honoured",
		By: map[string]attempt{
			"docker": honours, "podman": honours, "containerd": honours,
			"apptainer": func(t *try) {
				img := t.b.hand.provide(t, t.configuredSample())
				t.honoured(t.run(t.b.hand.cmd("run", img)...))
			},
			"charliecloud": func(t *try) {
				ref := t.publish(t.configuredSample(), "configured")
				t.asked(t.b.hand.pull(ref)...)
				t.cleanAll(t.b.hand.drop(ref))
				// It takes no entrypoint from the image: the program is always named.
				script := `echo "env=$PLIMSOLL_FEATURE user=$(id -u) workdir=$(pwd)"`
				t.honoured(t.hear(t.b.env, t.b.hand.once("", t.b.overTLS(ref), []string{"--set-env"}, "/bin/sh", "-c", script)...))
			},
			"lxd": func(t *try) {
				t.image()
				t.cleanAll(t.b.hand.drop("oci"))
				t.refuses(notAnImage, t.b.hand.cmd("image", "import", t.configuredSample().ociArchive(t), "--alias", "oci")...)
				t.untried("it imported an OCI image, for which no attempt is written")
			},
		},
	}, {
		ID: "multiple-host-os", Group: compatibility, Title: "Support for multiple host operating systems",
		Means: "it runs on other operating systems than Linux, or other distributions",
		Any: func(t *try) {
			t.observe("what the project says it runs on: %s", systems[t.b.name])
			t.untried("one machine has one operating system; where the projects say what they run on stands in the evidence")
		},
	}}
}

// systems are where the projects say what they run on.
var systems = map[string]string{
	"docker":       "https://docs.docker.com/engine/install/",
	"podman":       "https://podman.io/docs/installation",
	"containerd":   "https://github.com/containerd/containerd/blob/main/docs/getting-started.md",
	"charliecloud": "https://charliecloud.io/latest/install.html",
	"apptainer":    "https://apptainer.org/docs/admin/latest/installation.html",
	"lxd":          "https://documentation.ubuntu.com/lxd/latest/installing/",
	"incus":        "https://linuxcontainers.org/incus/docs/main/installing/",
}

// honours runs an image with nothing but its own configuration.
func honours(t *try) {
	img := t.b.hand.provide(t, t.configuredSample())
	t.honoured(t.hear(t.b.env, t.b.hand.once(t.b.fresh(), img, nil)...))
}

// honoured counts what of the configuration was in force.
func (t *try) honoured(s said) {
	want := []struct{ what, word string }{
		{"entrypoint", "entrypoint "}, {"command", "cmd=from-cmd"}, {"environment", "env=from-the-image"},
		{"user", fmt.Sprintf("user=%d", imageUser)}, {"working directory", "workdir=" + workDir},
	}
	var missing []string
	for _, w := range want {
		if !strings.Contains(s.out, w.word) {
			missing = append(missing, w.what)
		}
	}
	switch {
	case s.status == 0 && s.all() == "":
		t.untried("the container said nothing")
	case len(missing) == 0:
		t.yes("entrypoint, command, environment, user and working directory were the image's")
	case s.status != 0:
		t.judge(s)
	case len(missing) == len(want):
		t.no("nothing of the image's configuration was in force")
	}
	t.partial("not the image's: %s", strings.Join(missing, ", "))
}

// sif is an image in Singularity's format, in a file.
func (t *try) sif() string {
	path, err := t.b.kit.Images.Path(t.ctx, "busybox", "sif")
	t.need("making a SIF to try it with", err)
	return filepath.Clean(path)
}
