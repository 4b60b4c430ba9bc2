package record

import "time"

// FormatVersion is the version of the directory format that this program
// writes. A reader refuses a newer one and ignores unknown fields.
const FormatVersion = 1

// Run is run.json: everything about a run but its trials.
type Run struct {
	Format  int       `json:"format"`
	ID      string    `json:"id"`
	Tool    Tool      `json:"tool"`
	Started time.Time `json:"started"`
	// Finished is zero while the run goes on or when it was killed.
	Finished time.Time `json:"finished,omitzero"`
	// Status is "running", "done", "interrupted".
	Status string `json:"status"`
	// Resumed is when the run was gone on with, each time.
	Resumed []time.Time `json:"resumed,omitempty"`
	// Earlier is what earlier parts were measured with, where that differs.
	Earlier []Earlier `json:"earlier,omitempty"`
	// Sum is how far trials.jsonl had come, by Writer.Update; nil in records of
	// earlier versions.
	Sum *Sum `json:"sum,omitempty"`

	// Arguments plan the same run again, as a user types them behind plimsoll: with
	// all flags that decide what is planned, and the seed that was drawn. nil in
	// records of earlier versions, and where Study.Command says it.
	Arguments []string `json:"arguments,omitempty"`

	Study        Study         `json:"study"`
	Protocol     Protocol      `json:"protocol"`
	Environments []Environment `json:"environments"`
	Workloads    []Workload    `json:"workloads"`
	Excluded     []Excluded    `json:"excluded,omitempty"`
	// Place is where the ranks of parallel workloads ran; nil is this machine.
	Place  *Place  `json:"place,omitempty"`
	Host   Host    `json:"host"`
	Images []Image `json:"images,omitempty"`
	// Builds are the files that levels of the factor build stand for.
	Builds []Build `json:"builds,omitempty"`
	// Noise are the noise floors that are known of this run: under them no gate
	// says anything.
	Noise []Noise `json:"noise,omitempty"`
	// Agents are those that were asked what storage did in each trial.
	Agents []Agent `json:"agents,omitempty"`
	// Own is what the program itself took of the processors meanwhile.
	Own *Own `json:"own,omitempty"`
	// Residue is what the audit at the end found of ours; empty is right.
	Residue []string `json:"residue,omitempty"`
	// Imported is set where another program measured: there are no events then,
	// and of the machine only what that program wrote down is known.
	Imported *Imported `json:"imported,omitempty"`
	// Looks are what was decided between blocks, where the number of blocks was
	// left open; Gate is what the run was gated by meanwhile.
	Looks []Look `json:"looks,omitempty"`
	Gate  *Gate  `json:"gate,omitempty"`
}

// Place is where the ranks of parallel workloads run, and by which launcher.
type Place struct {
	On    string   `json:"on"`              // mpirun or srun
	Hosts []string `json:"hosts,omitempty"` // of mpirun: HOST or HOST:SLOTS
}

// Own is the processor time of the program that measures, in ns, without that of
// the commands that it runs. Trials of simulated engines are left out.
type Own struct {
	// CPU was used in Wall, from the first trial to the last, clean-up and writing
	// included; TimedCPU in Timed, while something was being measured.
	CPU      int64 `json:"cpu_ns"`
	Wall     int64 `json:"wall_ns"`
	TimedCPU int64 `json:"timed_cpu_ns"`
	Timed    int64 `json:"timed_ns"`
}

// Share is what of one processor was used in all, and TimedShare while something
// was being measured; 0 where nothing is known.
func (o *Own) Share() float64 { return share(o.CPU, o.Wall) }

// TimedShare is explained at Share.
func (o *Own) TimedShare() float64 { return share(o.TimedCPU, o.Timed) }

func share(cpu, wall int64) float64 {
	if wall <= 0 {
		return 0
	}
	return float64(cpu) / float64(wall)
}

// Imported says where the numbers of a run come from that another program
// measured.
type Imported struct {
	Format string   `json:"format"` // "hyperfine" or "benchfmt"
	Files  []string `json:"files"`  // their names, without folders
	SHA256 []string `json:"sha256"` // of each file's bytes
}

// Tool says which program wrote the run.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go,omitempty"`
	Probe   string `json:"probe,omitempty"` // digest of the probe
}

// Study is the study as it was read.
type Study struct {
	Name   string `json:"name"`
	Title  string `json:"title,omitempty"`
	Path   string `json:"path,omitempty"`
	Source string `json:"source,omitempty"` // the text of the file
	// Metrics are the ids that the study asks a report to show first, Sort
	// the one it sorts by; empty leaves it to the report.
	Metrics []string `json:"metrics,omitempty"`
	Sort    string   `json:"sort,omitempty"`
	// Scale is the size of the study that was run; empty is the full one.
	Scale string `json:"scale,omitempty"`
	// OnlyParts are the parts that were asked for, where not all were.
	OnlyParts []string `json:"only_parts,omitempty"`
	// Parts are given where the study has several: only their pairs of
	// environment and workload run.
	Parts []Part `json:"parts,omitempty"`
	// Tables set published numbers beside the run's.
	Tables []PaperTable `json:"tables,omitempty"`
	// Claims are the sentences that the study tests.
	Claims []Claim `json:"claims,omitempty"`
	// Only are the claims for which the run was narrowed to what they need; nil
	// where it was not.
	Only []string `json:"only,omitempty"`
	// Further are the cells that claims need, which may be in more than the fixed
	// blocks.
	Further []CellID `json:"further,omitempty"`
	// Command is what asked for it, where that wrote the study by itself.
	Command string `json:"command,omitempty"`
	// Ablations say what was taken away from which engine, where something was.
	Ablations []Ablation `json:"ablations,omitempty"`
	// Images are those of the study that were bound to others, which ran in
	// their place.
	Images map[string]string `json:"images,omitempty"`
}

// CellID is a workload in an environment.
type CellID struct {
	Env      string `json:"env"`
	Workload string `json:"workload"`
}

// Protocol is how the trials were run.
type Protocol struct {
	// Blocks is how many count; with Until, ClaimLooks, TimeBudgetNS or a gate, at
	// most.
	Blocks   int    `json:"blocks"`
	Warmup   int    `json:"warmup"`    // warm-up blocks, before and not among Blocks
	PerBlock int    `json:"per_block"` // trials of each cell in a block, at least 1
	Seed     uint64 `json:"seed"`
	Order    string `json:"order"` // "random" or, for demonstrations only, "sequential"
	PauseNS  int64  `json:"pause_ns,omitempty"`
	Cache    string `json:"cache"` // "warm" or "cold"
	// Limits on every container, alike.
	CPUs        float64 `json:"cpus,omitempty"`
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	// TrialLimitNS is the time limit of one trial.
	TrialLimitNS int64 `json:"trial_limit_ns"`
	// Delta is the smallest relative difference that matters, e.g. 0.01.
	Delta float64 `json:"delta"`
	// SmallSizes: every workload ran at its small levels, but for what the
	// study names.
	SmallSizes bool `json:"small_sizes,omitempty"`
	// Tuned: the machine was in the states that make starts scatter least, but for
	// environments with a level of their own; Host.More says which.
	Tuned bool `json:"tuned,omitempty"`
	// CollectHz is how often a second the machine was sampled during trials;
	// 0 leaves it to the program, below 0 is off.
	CollectHz float64 `json:"collect_hz,omitempty"`
	// Until is the half-width of a ratio's interval below which a cell leaves the
	// later blocks, as a fraction; 0 is none.
	Until float64 `json:"until,omitempty"`
	// ClaimLooks are the numbers of blocks after which the study's claims are
	// looked at, for which further blocks are measured as long as they are not
	// decided: the first is the fixed number, the last the most.
	ClaimLooks []int `json:"claim_looks,omitempty"`
	// ClaimTimeNS is how long the further blocks may take; 0 is as long as it takes.
	ClaimTimeNS int64 `json:"claim_time_ns,omitempty"`
	// TimeBudgetNS is how long the run may take, its opening too and its
	// clean-up not; 0 is as long as it takes.
	TimeBudgetNS int64 `json:"time_budget_ns,omitempty"`
	// Algorithm names how the order of the trials follows from Seed.
	Algorithm string `json:"algorithm,omitempty"`
	// Plan is a digest of all that decides which trial has which Seq, so
	// that a resume can prove that it continues the same plan.
	Plan string `json:"plan,omitempty"`
}

// Environment is one environment of the plan, with what was asked and what
// the engine itself says it is.
type Environment struct {
	ID     string `json:"id"`
	Engine string `json:"engine"`
	// Levels are the factors' levels as asked, by factor.
	Levels map[string]string `json:"levels,omitempty"`
	// Facts are what the live engine says: version, runtime, storage driver…
	Facts map[string]string `json:"facts,omitempty"`
	// Baseline is "native", "floor", "host" or empty.
	Baseline string `json:"baseline,omitempty"`
	// Unverified is true where the adapter, or one of the levels, was never run on the
	// real system.
	Unverified bool `json:"unverified,omitempty"`
	// Clock was decided by measurement.
	Clock Clock `json:"clock,omitempty"`
}

// Workload is one workload of the plan.
type Workload struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Name is the workload's name in the catalogue, Params its parameters:
	// each choice of parameters is a workload with an id of its own.
	Name    string            `json:"name,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
	Metrics []Metric          `json:"metrics,omitempty"` // those from Values; event metrics need no mention
	// File and Source are of a workload that is not in the catalogue: the path
	// of its file and the text.
	File   string `json:"file,omitempty"`
	Source string `json:"source,omitempty"`
}

// Excluded is an environment that was asked for and does not run here.
type Excluded struct {
	ID     string            `json:"id"`
	Engine string            `json:"engine"`
	Levels map[string]string `json:"levels,omitempty"`
	// Workload is set where only this workload can't run in the environment.
	Workload string `json:"workload,omitempty"`
	// Kind is "impossible" (a rule forbids it) or "unavailable" (here).
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Source string `json:"source,omitempty"` // where the rule is documented, a URL
	Fix    string `json:"fix,omitempty"`    // the command that would make it available
}

// Image is an image that was provided to the engines.
type Image struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // of the OCI manifest
	Tree   string `json:"tree"`   // digest of the content: the same in every format
	// WithoutProbe is Tree without the probe; empty in records of earlier versions.
	WithoutProbe string `json:"without_probe,omitempty"`
	Bytes        int64  `json:"bytes"` // unpacked, apparent
	// Facts say what it was made from: distribution, versions of packages,
	// digest at the registry that it came from.
	Facts map[string]string `json:"facts,omitempty"`
}

// PutImage puts an image in, in the place of the one of its name.
func (r *Run) PutImage(im Image) {
	for i := range r.Images {
		if r.Images[i].Name == im.Name {
			r.Images[i] = im
			return
		}
	}
	r.Images = append(r.Images, im)
}

// Host is what is known of the machine.
type Host struct {
	Name       string `json:"name,omitempty"`
	Kernel     string `json:"kernel"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	CPUs       int    `json:"cpus"`
	Memory     int64  `json:"memory_bytes"`
	Cgroup     string `json:"cgroup"` // "v1", "v2" or "hybrid"
	Virtual    string `json:"virtual,omitempty"`
	FileSystem string `json:"filesystem,omitempty"` // under the state directory
	Root       bool   `json:"root"`
	// Machine and Boot tell machines apart: digests of the system's identifier and of
	// the kernel's boot, which containers of one machine have in common. They are
	// empty where the machine has none, and in records of earlier versions.
	Machine string            `json:"machine,omitempty"`
	Boot    string            `json:"boot,omitempty"`
	More    map[string]string `json:"more,omitempty"`
	// Remarks are what doctor found.
	Remarks []Remark `json:"remarks,omitempty"`
}

// Remark is a warning as data: text, JSON and HTML render the same one.
type Remark struct {
	Code   string `json:"code"`             // stable, e.g. "drift"
	Level  string `json:"level"`            // "info", "warn" or "refuse"
	Text   string `json:"text"`             // one sentence
	Advice string `json:"advice,omitempty"` // what to do
	// Env, Workload and Metric name the cell that it belongs to; all empty: the run.
	Env      string `json:"env,omitempty"`
	Workload string `json:"workload,omitempty"`
	Metric   string `json:"metric,omitempty"`
}

// Volatile is the option of an overlay on which syncing does nothing, among
// those of Inside.Root.
const Volatile = "volatile"

// OwnFiles is the fact that says where an environment keeps what a container
// writes into its own file system, if not on a disk: FilesInMemory.
const (
	OwnFiles      = "own-files"
	FilesInMemory = "memory"
)

// Inside is what the payload saw: one line of inside.jsonl. Trials name it by
// ID, since it is the same for nearly all trials of an environment.
type Inside struct {
	ID  string `json:"id"` // digest of the rest
	Env string `json:"env"`
	// Namespaces: "own" or "host" by kind (mnt, pid, net, ipc, uts, user, cgroup, time).
	Namespaces map[string]string `json:"namespaces"`
	UID        string            `json:"uid"` // uid and gid inside
	UIDMap     string            `json:"uid_map"`
	GIDMap     string            `json:"gid_map"`
	CapEff     string            `json:"cap_eff"` // hexadecimal
	CapBnd     string            `json:"cap_bnd"`
	Seccomp    string            `json:"seccomp"` // "0" off, "2" filter
	NoNewPrivs string            `json:"no_new_privs"`
	Cgroup     string            `json:"cgroup,omitempty"` // with ids of trials made anonymous
	Root       string            `json:"root"`             // file system type and options of /
	Kernel     string            `json:"kernel"`           // uname release as seen inside
	// More holds what else the payload reported, by key.
	More map[string]string `json:"more,omitempty"`
}
