package features

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host/proc"
)

func executionRows() []feature {
	oneMachine := "what it has for several containers works on one machine only"
	return []feature{{
		ID: "detached", Group: executions, Title: "Detached executions",
		Means: "a container runs on when the command that started it has ended",
		Any: func(t *try) {
			t.shows(t.hear(t.b.env, t.b.hand.inside(t.running(), "echo", "still-running")...), "still-running")
		},
		By: map[string]attempt{"charliecloud": lacks("ch-run stays in the foreground", []string{"detach", "background"}, "--help")},
	}, {
		ID: "dynamic-resources", Group: executions, Title: "Dynamic Resource Management",
		Means: "the memory limit of a running container is changed, and read back from its control group",
		By: map[string]attempt{
			"docker":       updates("update", "--memory", "64m", "--memory-swap", "64m"),
			"podman":       updates("update", "--memory", "64m"),
			"containerd":   updatesTask,
			"lxd":          func(t *try) { t.limitBy(t.b.hand.cmd("config", "set", t.running(), "limits.memory", "64MiB")) },
			"apptainer":    lacks("limits are given when an instance starts, and no command changes them", []string{"update"}, "instance", "--help"),
			"charliecloud": lacks("ch-run limits nothing", []string{"memory", "cgroup"}, "--help"),
		},
	}, {
		ID: "orchestration", Group: executions, Title: "Built-in orchestration capabilities",
		Means: "a service of two containers is declared, and the engine starts them",
		By: map[string]attempt{
			"docker": func(t *try) {
				t.swarm()
				t.yes("a service of two containers came up on a private daemon in swarm mode")
			},
			"podman":       lacks(oneMachine+" (pods, kube play)", []string{"swarm", "cluster"}, "--help"),
			"containerd":   lacks("ctr orchestrates nothing", []string{"swarm", "cluster"}, "--help"),
			"charliecloud": lacks("ch-run runs one container", []string{"swarm", "cluster"}, "--help"),
			"apptainer":    lacks("it runs one container at a time", []string{"swarm", "cluster"}, "--help"),
			"lxd": func(t *try) {
				t.run(t.b.hand.cmd("cluster", "list")...)
				t.untried("it groups servers to a cluster and places containers: trying it would reconfigure your daemon")
			},
		},
	}, {
		ID: "workload-managers", Group: executions, Title: "Support for workload managers",
		Means: "a container is a child of the command that starts it, in its control group, so that a workload manager can account and end it; where Slurm is here, srun starts it and scancel ends it",
		By: map[string]attempt{
			"docker": childOfCommand, "podman": childOfCommand, "containerd": childOfCommand, "charliecloud": childOfCommand, "apptainer": childOfCommand,
			"lxd": func(t *try) {
				pid := t.pid(t.running())
				t.observe("parents of the container's first process %d: %s", pid, strings.Join(parents(pid), " < "))
				t.no("a container is a child of the daemon's monitor")
			},
		},
	}, {
		ID: "gpus", Group: executions, Title: "Support for GPUs",
		Means: "the engine has an option that hands GPUs over; what it injects can't be seen without one",
		By: map[string]attempt{
			"docker":     gpu("--gpus", "all"),
			"podman":     gpu("--device", "nvidia.com/gpu=all"),
			"containerd": gpu("--gpus", "0"),
			"apptainer":  gpu("--nv"),
			"charliecloud": func(t *try) {
				if !strings.Contains(t.run("ch-fromhost", "--help").all(), "--nvidia") {
					t.no("ch-fromhost has no option for GPUs")
				}
				lacking, unseen := unseenGPU()
				t.partialFor(lacking, "ch-fromhost --nvidia copies the host's libraries into an image; %s", unseen)
			},
			"lxd": func(t *try) {
				name := t.container()
				t.must(t.b.hand.cmd("init", "--quiet", "--config", "user."+t.b.label(), t.image(), name)...)
				t.asked(t.b.hand.cmd("config", "device", "add", name, "gpu", "gpu")...)
				lacking, unseen := unseenGPU()
				t.partialFor(lacking, "it takes a device of the type gpu; %s", unseen)
			},
		},
	}, {
		ID: "mpi", Group: executions, Title: "Explicit support for MPI libraries",
		Means: "mpirun -n 2 starts the engine's command without options, and the two ranks exchange messages",
		By: map[string]attempt{
			"docker": exchanged, "podman": exchanged, "containerd": exchanged, "charliecloud": exchanged, "apptainer": exchanged, "lxd": exchangedInside,
		},
	}}
}

// pid is the first process of a container, as the engine tells it.
func (t *try) pid(name string) int {
	var text string
	switch t.b.name {
	case "containerd":
		for _, line := range strings.Split(t.must(t.b.hand.cmd("tasks", "list")...), "\n") {
			if f := strings.Fields(line); len(f) > 1 && f[0] == name {
				text = f[1]
			}
		}
	case "lxd", "incus":
		text = t.must(t.b.hand.cmd("list", name, "--format", "csv", "--columns", "p")...)
	default:
		text = t.must(append(t.b.hand.pid, name)...)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || pid <= 1 {
		t.untried("the engine does not report the container's process")
	}
	return pid
}

// changedLimit is the memory limit that a running container is given, bytes.
const changedLimit = 64 << 20

func updates(args ...string) attempt {
	return func(t *try) { t.limitBy(t.b.hand.cmd(append(args, t.running())...)) }
}

// limitBy changes the limit of the container that runs.
func (t *try) limitBy(argv []string) {
	pid := t.pid(t.running())
	before := cgroup.InForce(pid).MemoryBytes
	t.asked(argv...)
	t.limited(pid, before)
}

// limited demands the new limit in the control group of the container.
func (t *try) limited(pid int, before int64) {
	got := cgroup.InForce(pid).MemoryBytes
	t.observe("memory limit of the container's control group: %d before, %d after", before, got)
	if got != changedLimit {
		t.no("the command succeeded, but the control group's limit is not the new one")
	}
}

// sleeps counts the containers that are found by how long they sleep. Engines are tried side by
// side: a number that two of them had would show the one's container as the other's.
var sleeps atomic.Int64

// asleep is a program that stays, in words that no other container here has.
func asleep() []string {
	const most = 1000
	return []string{"/bin/sleep", strconv.FormatInt(100000+int64(os.Getpid()%10000)*most+sleeps.Add(1)%most, 10)}
}

// childOfCommand looks at the kinship of a container and its command.
func childOfCommand(t *try) {
	argv := asleep()
	name := t.container()
	full := t.b.hand.once(name, t.image(), nil, argv...)
	path, err := t.b.kit.LookPath(full[0])
	if err != nil {
		t.untried("%s is not installed", full[0])
	}
	out := &limited{}
	cmd, err := child.Start(t.ctx, child.Command{Argv: append([]string{path}, full[1:]...), Env: append([]string{adapter.Path}, t.b.env...), Dir: "/",
		Stdout: out, Stderr: out})
	t.need("starting a container", err)
	defer cmd.End()
	pid := 0
	over := false
	for deadline := time.Now().Add(child.Stretch(commandLimit)); pid == 0 && !over && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		pid = adapter.FindProcess(argv)
		select {
		case <-cmd.Ended():
			over = true
		default:
		}
	}
	if pid == 0 {
		cmd.End() // nothing is written any more
		t.untried("the container's process was not found: %s", strings.TrimSpace(out.String()))
	}
	line := parents(pid)
	same := group(pid) == group(cmd.PID)
	child := strings.Contains(" "+strings.Join(line, " ")+" ", fmt.Sprintf("(%d)", cmd.PID)) || pid == cmd.PID
	t.observe("%s\nfirst process of the container: %d, its parents %s; the command is %d; same control groups: %v",
		strings.Join(full, " "), pid, strings.Join(line, " < "), cmd.PID, same)
	switch {
	case child && same:
		lacking := t.managed()
		t.partialFor(lacking, "a container is a child of its command, in the same control groups; %s", lacking)
	case child:
		t.no("a container is a child of its command, in a control group of its own")
	}
	t.no("a container is not a child of the command that starts it")
}

// parents are a process's, the nearest first, each with its number.
func parents(pid int) []string {
	var line []string
	for pid > 1 && len(line) < 20 {
		child, err := proc.Here.Stat(pid)
		if err != nil || child.PPID < 1 {
			break
		}
		pid = child.PPID
		parent, _ := proc.Here.Stat(pid)
		line = append(line, fmt.Sprintf("%s (%d)", parent.Comm, pid))
	}
	return line
}

func group(pid int) string {
	groups, _ := proc.Here.Groups(proc.PID(pid))
	return fmt.Sprint(groups)
}

// gpu asks for one with an option.
func gpu(opts ...string) attempt {
	return func(t *try) {
		s := t.with(opts, "echo", "it-runs")
		switch {
		case unknownOption(s):
			t.no("it has no such option: %s", t.plain(s))
		case s.status != 0 && !s.holds("gpu", "nvidia", "cdi", "device driver"):
			t.untried("it failed, but not for lack of a GPU: %s", t.plain(s))
		}
		lacking, unseen := unseenGPU()
		t.partialFor(lacking, "the option %s is known; %s", strings.Join(opts, " "), unseen)
	}
}

// gpuDevices are the files by which Linux has GPUs that compute.
var gpuDevices = []string{"/dev/nvidia[0-9]*", "/dev/kfd", "/dev/dri/renderD*"}

// unseenGPU is why nobody sees what an engine hands over, as what is lacking and as the words
// beside what was seen. Where a GPU is, it is the attempt that is lacking: none could be tested.
func unseenGPU() (lacking, why string) {
	for _, pattern := range gpuDevices {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return "none of these attempts uses a GPU", "what it hands over is not looked at"
		}
	}
	return "there is no GPU", "there is no GPU here to see what it hands over"
}
