package features

import (
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host/proc"
)

func sinceRows() []feature {
	alone := "it runs a program and keeps no state of it"
	return []feature{{
		ID: "exec", Group: since, Title: "Another program in a running container",
		Means: "a second program is run inside, next to the first",
		Any: func(t *try) {
			t.shows(t.hear(t.b.env, t.b.hand.inside(t.running(), "echo", "inside")...), "inside")
		},
		By: map[string]attempt{"charliecloud": func(t *try) {
			if strings.Contains(t.run(t.b.hand.cmd("--help")...).all(), "--join-pid") {
				t.partial("ch-run --join-pid joins a container that runs in the foreground elsewhere")
			}
			t.no("ch-run joins no container")
		}},
	}, {
		ID: "user-namespaces", Group: since, Title: "User namespaces per container",
		Means: "one container has a user namespace of its own: its users are others outside, or only the one who started it",
		By: map[string]attempt{
			"podman": func(t *try) {
				if !t.b.kit.Root { // its containers have one anyway
					mapped()(t)
				}
				mapped("--uidmap", "0:100000:65536")(t)
			},
			"containerd": mapped("--uidmap", "0:100000:65536", "--gidmap", "0:100000:65536"),
			"apptainer":  mapped("--userns"), "charliecloud": mapped(), "lxd": mapped(),
			"docker": func(t *try) {
				t.run(t.b.hand.cmd("info", "--format", "{{.SecurityOptions}}")...)
				if s := t.within("cat", "/proc/self/uid_map"); ownIDs(s.out) {
					t.partial("the daemon maps the users of all of its containers (userns-remap); one container has no option of its own")
				}
				t.partial("it is a setting of the whole daemon (userns-remap), which is off here; one container has no option for it")
			},
		},
	}, {
		ID: "cgroup-v2", Group: since, Title: "Control groups of version 2",
		Means: "a container's memory limit is in force by cgroup v2",
		By: map[string]attempt{
			"docker": limitedBy("--memory", "64m"), "podman": limitedBy("--memory", "64m"), "containerd": limitedBy("--memory-limit", "67108864"),
			"apptainer":    limitedBy("--memory", "64M"),
			"lxd":          limitedBy("--config", "limits.memory=64MiB"),
			"charliecloud": lacks("ch-run limits nothing", []string{"memory", "cgroup"}, "--help"),
		},
	}, {
		ID: "lazy-pulling", Group: since, Title: "Lazy pulling",
		Means: "an image can be run before all of it has been transferred, as the engine is by default: half of a layer is held back",
		By: map[string]attempt{
			"docker": lazily, "podman": lazily, "containerd": lazily, "charliecloud": lazily, "apptainer": lazily,
			"lxd": untriable(imageServers),
		},
	}, {
		ID: "checkpoint-restore", Group: since, Title: "Checkpoint and restore",
		Means: "a running container is frozen to the disk and brought back",
		By: map[string]attempt{
			"docker": checkpoint("checkpoint", "create", "%s", "checkpoint"), "podman": checkpoint("container", "checkpoint", "%s"),
			"containerd": checkpoint("containers", "checkpoint", "--task", "%s", "localhost/plimsoll/checkpoint:latest"), "lxd": checkpoint("stop", "--stateful", "%s"),
			"charliecloud": lacks(alone, []string{"checkpoint"}, "--help"),
			"apptainer": func(t *try) {
				t.asked(t.b.hand.cmd("checkpoint", "create", "--help")...)
				if _, err := t.b.kit.LookPath("dmtcp_launch"); err != nil {
					t.untried("DMTCP, which it uses, is not installed")
				}
				t.untried("its checkpoints are DMTCP's, for which no attempt is written")
			},
		},
	}, {
		ID: "sbom", Group: since, Title: "Bill of materials or attestation with an image",
		Means: "a build writes down what is in the image",
		By: map[string]attempt{
			"docker":    lacks("the builder here has no option for it", []string{"sbom", "attest"}, "build", "--help"),
			"podman":    lacks("the builder here has no option for it", []string{"sbom", "attest"}, "build", "--help"),
			"apptainer": lacks("the builder has no option for it", []string{"sbom", "attest"}, "build", "--help"),
			"charliecloud": func(t *try) {
				t.lacksIn("the builder has no option for it", []string{"sbom", "attest"}, "ch-image", "build", "--help")
			},
			"containerd": lacks("it does not build", []string{"sbom", "attest"}, "images", "--help"),
			"lxd":        lacks("it does not build", []string{"sbom", "attest"}, "image", "--help"),
		},
	}, {
		ID: "seccomp-default", Group: since, Title: "System calls filtered by default",
		Means: "a container that nobody gave options to has a seccomp filter",
		Any: func(t *try) {
			if t.filtered(t.within(seccompScript...)) {
				t.yes("a filter is in force")
			}
			t.no("no filter is in force")
		},
		By: map[string]attempt{"containerd": func(t *try) {
			switch {
			case t.filtered(t.within(seccompScript...)):
				t.yes("a filter is in force")
			case t.filtered(t.with([]string{"--seccomp"}, seccompScript...)):
				t.partial("none by default; ctr --seccomp puts its default filter in force")
			}
			t.no("no filter is in force")
		}},
	}, {
		ID: "read-only-root", Group: since, Title: "Read-only root",
		Means: "a container that can't write to its own file system",
		By: map[string]attempt{
			"docker": readOnly("--read-only"), "podman": readOnly("--read-only", "--read-only-tmpfs=false"), "containerd": readOnly("--read-only"),
			"apptainer": readOnly(), "charliecloud": readOnly(),
			"lxd": func(t *try) {
				name := t.container()
				t.must(t.b.hand.cmd("init", "--quiet", "--config", "user."+t.b.label(), t.image(), name)...)
				t.asked(t.b.hand.cmd("config", "device", "override", name, "root", "readonly=true")...)
				t.asked(t.b.hand.cmd("start", name)...)
				t.unwritable(t.hear(t.b.env, t.b.hand.inside(name, "touch", "/plimsoll-written")...))
			},
		},
	}, {
		ID: "stats", Group: since, Title: "Live use of resources",
		Means: "the engine reports the memory that a running container uses",
		By: map[string]attempt{
			"docker": tells([]string{"MiB", "KiB"}, "stats", "--no-stream", "%s"), "podman": tells([]string{"kB", "MB"}, "stats", "--no-stream", "%s"),
			"containerd":   tells([]string{"memory."}, "tasks", "metrics", "%s"),
			"apptainer":    tells([]string{"MiB", "KiB"}, "instance", "stats", "--no-stream", "%s"),
			"lxd":          tells([]string{"Memory"}, "info", "%s"),
			"charliecloud": lacks(alone, []string{"stats", "metrics"}, "--help"),
		},
	}, {
		ID: "health-checks", Group: since, Title: "Health checks",
		Means: "the engine runs a check inside by itself and reports the outcome",
		By: map[string]attempt{
			"docker": healthy, "podman": healthy,
			"containerd":   lacks("a container has no option for it", []string{"health"}, "run", "--help"),
			"apptainer":    lacks("an instance has no option for it", []string{"health"}, "instance", "start", "--help"),
			"charliecloud": lacks(alone, []string{"health"}, "--help"),
			"lxd":          lacks("it has no command for it", []string{"health"}, "--help", "--all"),
		},
	}, {
		ID: "secrets", Group: since, Title: "Secrets",
		Means: "a text that the engine keeps reaches a container, and not its image",
		By: map[string]attempt{
			"docker": func(t *try) {
				if got := t.swarm(); !strings.Contains(got, secretText) {
					t.no("a service in swarm mode did not get its secret")
				}
				t.partial("for services in swarm mode only")
			},
			"podman": func(t *try) {
				name := t.b.unique()
				t.clean(t.b.hand.cmd("secret", "rm", name))
				t.asked(t.b.hand.cmd("secret", "create", name, t.file("secret", secretText))...)
				t.shows(t.with([]string{"--secret", name}, "cat", "/run/secrets/"+name), secretText)
			},
			"containerd":   lacks("a container has no option for it", []string{"secret"}, "run", "--help"),
			"apptainer":    lacks("a container has no option for it", []string{"secret"}, "exec", "--help"),
			"charliecloud": lacks(alone, []string{"secret"}, "--help"),
			"lxd":          lacks("it has no command for it", []string{"secret"}, "--help", "--all"),
		},
	}}
}

// mapped demands that root inside is somebody else outside.
func mapped(opts ...string) attempt {
	return func(t *try) {
		var s said
		if len(opts) == 0 {
			s = t.within("cat", "/proc/self/uid_map")
		} else {
			s = t.with(opts, "cat", "/proc/self/uid_map")
		}
		t.judge(s)
		if len(strings.Fields(s.out)) < 3 {
			t.untried("the container said nothing of it")
		}
		if !ownIDs(s.out) {
			t.no("users inside are the same outside: %s", strings.Join(strings.Fields(s.out), " "))
		}
		t.yes("it has a user namespace of its own")
	}
}

// ownIDs says whether a uid_map is another than that of the host, where every
// user is itself.
func ownIDs(text string) bool {
	f := strings.Fields(text)
	return len(f) >= 3 && (f[0] != "0" || f[1] != "0" || f[2] != "4294967295")
}

// limitedBy starts a container with a memory limit and looks for it.
func limitedBy(opts ...string) attempt {
	return func(t *try) {
		if v := cgroup.Version(); v != "v2" {
			t.untried("the control groups of this machine are those of %s", v)
		}
		if t.b.name == "apptainer" {
			t.untried("an instance's process is not reported, so its control group can't be read")
		}
		t.limited(t.pid(t.start(t.image(), opts...)), 0)
	}
}

var seccompScript = []string{"grep", "Seccomp:", "/proc/self/status"}

// filtered says whether a container has a seccomp filter, by its own status.
func (t *try) filtered(s said) bool {
	if s.status != 0 {
		t.untried("the container did not say: %s", t.plain(s))
	}
	f := strings.Fields(s.out)
	if len(f) != 2 {
		t.untried("the container said nothing of it")
	}
	return f[1] == "2"
}

func lazily(t *try) {
	if t.held().returned {
		t.yes("the pull had come to its end while half of a layer was held back")
	}
	t.no("the pull waited for the whole of every layer")
}

// checkpoint asks for one, where CRIU is here that they all use.
func checkpoint(args ...string) attempt {
	return func(t *try) {
		if _, err := t.b.kit.LookPath("criu"); err != nil {
			t.untried("CRIU, which it uses, is not installed")
		}
		name := t.start(t.image())
		t.asked(t.b.hand.cmd(named(args, name)...)...)
		t.partial("a checkpoint was taken; bringing it back is not tried")
	}
}

// readOnly demands that nothing can be written.
func readOnly(opts ...string) attempt {
	return func(t *try) { t.unwritable(t.with(opts, "touch", "/plimsoll-written")) }
}

func (t *try) unwritable(s said) {
	switch {
	case s.status == 0:
		t.no("a file could be written to its root")
	case unknownOption(s):
		t.no("it has no such option: %s", t.plain(s))
	case !s.holds("read-only"):
		t.untried("writing failed for another reason: %s", t.plain(s))
	}
	t.yes("writing to its root is refused: it is read-only")
}

// tells demands one of the words in what a command says of the container that
// runs.
func tells(words []string, args ...string) attempt {
	return func(t *try) {
		name := t.running()
		s := t.run(t.b.hand.cmd(named(args, name)...)...)
		t.judge(s)
		for _, w := range words {
			if strings.Contains(s.out, w) {
				t.yes("it reports the memory in use")
			}
		}
		t.no("it reports no memory in use")
	}
}

// healthy starts a container with a check that succeeds.
func healthy(t *try) {
	name := t.start(t.image(), "--health-cmd", "true", "--health-interval", "1s")
	health := t.b.hand.cmd("inspect", "--format", "{{.State.Health.Status}}", name)
	timers := t.b.name != "podman" || proc.SystemdRuns() // who would run it
	for deadline := time.Now().Add(child.Stretch(6 * time.Second)); timers && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if strings.TrimSpace(t.b.command(t.ctx, t.b.env, nil, health).out) == "healthy" {
			t.must(health...)
			t.yes("the check ran by itself and its outcome is reported")
		}
	}
	if !timers {
		t.asked(t.b.hand.cmd("healthcheck", "run", name)...)
		if strings.TrimSpace(t.must(health...)) == "healthy" {
			t.partialFor("there is no systemd", "the check runs when it is asked for; by itself it needs systemd's timers, and no systemd runs here")
		}
	}
	t.untried("no outcome was reported: %s", strings.TrimSpace(t.must(health...)))
}

// named puts a name into arguments, where %s stands.
func named(args []string, name string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.ReplaceAll(a, "%s", name)
	}
	return out
}
