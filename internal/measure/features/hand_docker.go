package features

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// docker spells the commands of Docker, on the user's daemon.
func docker(b *bench) {
	b.env = []string{"HOME=" + filepath.Join(b.dir, "home"), "DOCKER_CONFIG=" + filepath.Join(b.dir, "config"), "DOCKER_CLI_HINTS=false"}
	h := hand{program: []string{"docker", "--host", "unix://" + strings.TrimPrefix(b.where, "unix://")}}
	dockerLike(b, &h, "--network", "none")
	h.provide = func(t *try, s *sample) string {
		tag := b.tag(s.name)
		t.clean(h.cmd("rmi", tag))
		t.must(h.cmd("load", "--quiet", "--input", s.dockerArchive(t, tag))...)
		return tag
	}
	h.pull = func(ref string) []string { return h.cmd("pull", "--quiet", ref) }
	h.push = func(_, ref string) []string { return h.cmd("push", "--quiet", ref) }
	h.layers = func(t *try, ref string) []string {
		return overlayDirs(t, t.must(h.cmd("image", "inspect", "--format", "{{json .GraphDriver}}", ref)...))
	}
	h.unpacked = func(t *try) []string {
		info := strings.Fields(t.must(h.cmd("info", "--format", "{{.DockerRootDir}} {{.Driver}}")...))
		if len(info) != 2 {
			t.untried("docker info does not report where images are unpacked")
		}
		return []string{filepath.Join(info[0], info[1], "*", "diff"), filepath.Join(info[0], info[1], "dir", "*")}
	}
	b.hand = h
}

// dockerLike are the commands that Docker and Podman have in common.
func dockerLike(b *bench, h *hand, base ...string) {
	common := func(how, name, image string, opts, argv []string) []string {
		args := []string{"run", how, "--name", name, "--label", b.label()}
		args = append(append(args, base...), opts...)
		return h.argv(append(append(args, image), argv...))
	}
	h.once = func(name, image string, opts []string, argv ...string) []string {
		return common("--rm", name, image, opts, argv)
	}
	h.keep = func(name, image string, opts []string, argv ...string) []string {
		return common("--detach", name, image, opts, argv)
	}
	h.inside = func(name string, argv ...string) []string { return h.argv(append([]string{"exec", name}, argv...)) }
	h.remove = func(name string) [][]string { return [][]string{h.cmd("rm", "--force", "--volumes", name)} }
	h.drop = func(image string) [][]string { return [][]string{h.cmd("rmi", image)} }
	h.pid = h.cmd("inspect", "--format", "{{.State.Pid}}")
}

// overlayDirs reads the directories of an image's layers from what inspect
// says of the storage driver.
func overlayDirs(t *try, text string) []string {
	var driver struct {
		Name string
		Data map[string]string
	}
	if err := json.Unmarshal([]byte(text), &driver); err != nil || driver.Data["UpperDir"] == "" {
		t.untried("the storage driver does not report where its layers are: %s", strings.TrimSpace(text))
	}
	dirs := []string{driver.Data["UpperDir"]}
	if lower := driver.Data["LowerDir"]; lower != "" {
		dirs = append(dirs, strings.Split(lower, ":")...)
	}
	return dirs
}
