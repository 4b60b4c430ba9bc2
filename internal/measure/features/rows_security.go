package features

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	adapter "plimsoll/internal/measure/engine/podman"
)

func securityRows() []feature {
	noSigning := "it has no command that signs or verifies"
	return []feature{{
		ID: "signed-images", Group: security, Title: "Signed container images",
		Means: "an image that was signed with this run's key is accepted, and the same image tampered with is refused",
		By: map[string]attempt{
			"podman":    simpleSigning,
			"apptainer": pgpSigning,
			"docker": func(t *try) {
				t.run(t.b.hand.cmd("trust", "--help")...)
				t.untried("content trust needs a Notary service, and there is none here")
			},
			"containerd":   lacks(noSigning, []string{"signature", "--sign", "cosign"}, "images", "pull", "--help"),
			"charliecloud": func(t *try) { t.lacksIn(noSigning, []string{"signature", "--sign"}, "ch-image", "pull", "--help") },
			"lxd":          lacks(noSigning, []string{"sign ", "verify"}, "image", "--help"),
		},
	}, {
		ID: "rootless", Group: security, Title: "Rootless executions",
		Means: "an ordinary user starts a container without any process of root's",
		By: map[string]attempt{
			"podman": rootlessPodman, "docker": rootlessDocker,
			"charliecloud": func(t *try) { t.asUser(nil, t.b.hand.once("", t.image(), nil, identity...)) },
			"apptainer": func(t *try) {
				img := t.image()
				home := t.userDir()
				t.asUser([]string{"APPTAINER_CONFIGDIR=" + home, "APPTAINER_CACHEDIR=" + home, "APPTAINER_TMPDIR=" + home}, t.b.hand.once("", img, nil, identity...))
			},
			"containerd": func(t *try) {
				if u := t.b.kit.User; u != nil {
					t.observe("%s is there: %v", u.RuntimeDir+"/containerd-rootless", exists(u.RuntimeDir+"/containerd-rootless"))
				}
				t.untried("it needs a daemon of the user's own in a user namespace (RootlessKit), and there is none here")
			},
			"lxd": daemonOfRoot,
		},
	}, {
		ID: "daemonless", Group: security, Title: "Daemonless execution model",
		Means: "a container runs without a daemon, and nothing stays when it has ended",
		By: map[string]attempt{
			"docker":       withoutDaemon("docker", "--host", "unix://%s", "version"),
			"containerd":   withoutDaemon("ctr", "--address", "%s", "--connect-timeout", "1s", "version"),
			"podman":       nothingStays,
			"charliecloud": nothingStays,
			"apptainer":    nothingStays,
			"lxd":          lxdWithoutDaemon,
		},
	}, {
		ID: "vpn", Group: security, Title: "VPN support",
		Means: "the engine has a virtual private network of its own; partial where a container may set up one in its own network",
		By: map[string]attempt{
			"docker":     tunnel("--device", "/dev/net/tun", "--cap-add", "NET_ADMIN"),
			"podman":     tunnel("--device", "/dev/net/tun", "--cap-add", "NET_ADMIN"),
			"containerd": tunnel("--device", "/dev/net/tun", "--cap-add", "CAP_NET_ADMIN"),
			"lxd":        lxdTunnel,
			"apptainer":  hostNetwork, "charliecloud": hostNetwork,
		},
	}}
}

// lacksIn is lacks for another program of the engine's.
func (t *try) lacksIn(why string, words []string, help ...string) {
	program := t.b.hand.program
	t.b.hand.program = nil
	defer func() { t.b.hand.program = program }()
	lacks(why, words, help...)(t)
}

// identity says who a program is inside, and as whom that counts outside.
var identity = []string{"/bin/sh", "-c", "id -u; cat /proc/self/uid_map"}

// userDir is a directory of the ordinary user's.
func (t *try) userDir() string {
	u := t.b.kit.User
	if u == nil {
		t.untried("there is no ordinary user: %s", t.b.kit.NoUser)
	}
	dir := filepath.Join(t.dir, "u")
	t.need("making a directory for "+u.Name, os.MkdirAll(dir, 0o700))
	if t.b.kit.Root {
		t.need("making a directory for "+u.Name, os.Chown(dir, u.UID, u.GID))
	}
	return dir
}

// asUser runs a container as the ordinary user; that it came to the end is
// the feature.
func (t *try) asUser(env, argv []string) {
	u := t.b.kit.User
	if u == nil {
		t.untried("there is no ordinary user: %s", t.b.kit.NoUser)
	}
	base := []string{"HOME=" + u.Home, "USER=" + u.Name, "LOGNAME=" + u.Name}
	if u.RuntimeDir != "" {
		base = append(base, "XDG_RUNTIME_DIR="+u.RuntimeDir)
	}
	s := t.runAs(append(base, env...), as(t.b.kit), argv...)
	t.judge(s)
	if len(strings.Fields(s.out)) < 4 {
		t.untried("the container did not say who it is: %s", t.plain(s))
	}
	t.yes("an ordinary user started a container")
}

// rootlessPodman runs a container of the user's on a store of the run's.
func rootlessPodman(t *try) {
	dir := t.userDir()
	program := podmanOn(filepath.Join(dir, "root"), filepath.Join(dir, "run"))
	cmd := func(args ...string) []string { return append(program[:len(program):len(program)], args...) }
	u := t.b.kit.User
	env := []string{"HOME=" + u.Home, "USER=" + u.Name, "XDG_RUNTIME_DIR=" + u.RuntimeDir}
	letGo := adapter.HoldPause(t.b.kit, u)
	tag := t.b.tag("rootless")
	archive := t.plainSample().dockerArchive(t, tag)
	b := t.b
	defer func() {
		ctx := context.WithoutCancel(t.ctx)
		b.command(ctx, env, as(b.kit), cmd("unshare", "rm", "-rf", filepath.Join(dir, "root"), filepath.Join(dir, "run")))
		// The pause process would stay, with nobody to use it. Who has begun a
		// container meanwhile, on the user's own store, needs it.
		s := b.command(ctx, env, as(b.kit), []string{"podman", "ps", "--quiet"})
		if err := letGo(s.status != 0 || strings.TrimSpace(s.out) != ""); err != nil {
			t.observe("%v", err)
		}
	}()
	if s := t.runAs(env, as(t.b.kit), cmd("load", "--quiet", "--input", archive)...); s.status != 0 {
		t.judge(s)
	}
	t.asUser(nil, cmd(append([]string{"run", "--rm", "--network", "none", "--label", b.label(), tag}, identity...)...))
}

// rootlessDocker uses a daemon that the user has.
func rootlessDocker(t *try) {
	u := t.b.kit.User
	if u == nil {
		t.untried("there is no ordinary user: %s", t.b.kit.NoUser)
	}
	socket := filepath.Join(u.RuntimeDir, "docker.sock")
	if u.RuntimeDir == "" || !exists(socket) {
		t.untried("the user %s runs no Docker daemon (dockerd-rootless-setuptool.sh install makes one)", u.Name)
	}
	cmd := func(args ...string) []string {
		return append([]string{"docker", "--host", "unix://" + socket}, args...)
	}
	// One that ended leaves its socket. Nothing of ours can be there, so nothing is
	// entered that only an answer could strike out.
	if s := t.run(cmd("version", "--format", "{{.Server.Version}}")...); s.status != 0 {
		t.untried("no Docker daemon answers at %s: %s", socket, t.plain(s))
	}
	tag, name := t.b.enterAt("unix://"+socket, engine.KindImage, t.b.tag("rootless")), t.b.enterAt("unix://"+socket, engine.KindContainer, t.b.unique())
	t.clean(cmd("rmi", tag))
	t.must(cmd("load", "--quiet", "--input", t.plainSample().dockerArchive(t, tag))...)
	t.asUser([]string{"DOCKER_CONFIG=" + t.userDir()},
		cmd(append([]string{"run", "--rm", "--name", name, "--network", "none", "--label", t.b.label(), tag}, identity...)...))
}

// withoutDaemon asks the client to work where no daemon answers.
func withoutDaemon(argv ...string) attempt {
	return func(t *try) {
		nothing := filepath.Join(t.dir, "nothing.sock")
		if s := t.run(named(argv, nothing)...); s.status != 0 {
			t.no("without its daemon it does nothing")
		}
		t.untried("it answered where no daemon listens")
	}
}

// nothingStays runs a container with a mark in the command's environment,
// which whatever it starts on the host inherits, and looks who has it after.
func nothingStays(t *try) {
	mark := "PLIMSOLL_FEATURE_MARK=" + t.b.unique()
	s := t.runAs(append(t.b.env, mark), nil, t.b.hand.once(t.b.fresh(), t.image(), nil, "echo", "it-ran")...)
	if s.status != 0 {
		t.untried("the container did not run: %s", t.plain(s))
	}
	var left []string
	// Its clean-up may go on behind the command.
	for deadline := time.Now().Add(child.Stretch(5 * time.Second)); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = marked(mark); len(left) == 0 {
			break
		}
	}
	t.observe("processes that are left of the command: %d %s", len(left), strings.Join(left, ", "))
	if len(left) > 0 {
		t.no("a process stays when the container has ended")
	}
	t.yes("nothing was asked to run before, and nothing stayed")
}

// marked are the processes with a variable in their environment.
func marked(variable string) []string {
	var names []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		comm, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "comm"))
		names = append(names, strings.TrimSpace(string(comm)))
	}
	return names
}

// tunnel has a container make a tunnel's device in its own network.
func tunnel(opts ...string) attempt {
	return func(t *try) {
		if !exists("/dev/net/tun") {
			t.untried("this machine has no /dev/net/tun to make a tunnel by")
		}
		t.tunnelled(t.with(opts, tunnelScript...))
	}
}

var tunnelScript = []string{"/bin/sh", "-c", "if : <>/dev/net/tun; then echo tun-can-be-opened; else echo tun-is-refused; fi"}

func (t *try) tunnelled(s said) {
	t.judge(s)
	switch {
	case strings.Contains(s.out, "tun-is-refused"):
		t.no("it has none of its own, and a container could not open a tunnel's device: %s", t.plain(s))
	case !strings.Contains(s.out, "tun-can-be-opened"):
		t.untried("the container said nothing")
	}
	t.partial("it has none of its own; a container with a device and a capability more can open a tunnel in its own network")
}

// hostNetwork shows that a container shares the host's network.
func hostNetwork(t *try) {
	ours, err := os.Readlink("/proc/self/ns/net")
	t.need("reading our own namespace", err)
	s := t.within("readlink", "/proc/self/ns/net")
	if s.status != 0 || !strings.Contains(s.out, ours) {
		t.untried("the container is not in the host's network, as was expected: %s", t.plain(s))
	}
	t.no("a container is in the host's network, and has none of its own")
}
