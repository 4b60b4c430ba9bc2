package workload

import (
	"slices"

	"plimsoll/internal/common/yamlfile"
)

// A document is a workload as it stands in its file. As with studies, these
// types are the format: the reader is driven by them, and the JSON Schema is
// generated from them.
type document struct {
	Format     yamlfile.Count    `key:"plimsoll-workload" jsonschema:"required,minimum=1,maximum=1" jsonschema_description:"Version of the format: 1."`
	Name       yamlfile.Name     `key:"name" jsonschema:"required" jsonschema_description:"The workload's name, which is the file's: lower-case letters, digits, '.', '_', '-'."`
	Title      yamlfile.Text     `key:"title" jsonschema_description:"A short name for columns."`
	What       yamlfile.Text     `key:"what" jsonschema:"required" jsonschema_description:"What it measures, in one sentence."`
	Group      yamlfile.Name     `key:"group" jsonschema:"required,enum=life-cycle,enum=os,enum=cpu,enum=memory,enum=disk,enum=network,enum=application" jsonschema_description:"Where it stands in the list."`
	Image      imageName         `key:"image" jsonschema:"required" jsonschema_description:"The image it runs in: one of the catalogue's, or a reference such as docker.io/library/cassandra:5."`
	Parameters parameters        `key:"parameters" jsonschema_description:"Parameters with their levels, the default first."`
	Small      yamlfile.Settings `key:"small" jsonschema_description:"The levels of a small trial, of some seconds at most."`
	Needs      needs             `key:"needs" jsonschema_description:"What it needs to make sense."`
	Takes      []taking          `key:"takes" jsonschema:"minItems=1" jsonschema_description:"What a trial takes besides the life of its container, more or less: the sum of these. It is for the estimate of a run's time. Default: the parameter seconds, if there is one."`
	Limit      yamlfile.Duration `key:"limit" jsonschema_description:"Time limit of one trial, from 1s to 24h, such as 2m."`
	Env        []argument        `key:"env" jsonschema_description:"Environment of all roles: NAME=value."`
	Launch     launch            `key:"launch" jsonschema_description:"The workload is a parallel program: run is started in so many ranks by the launcher of an MPI library or of a workload manager."`
	roleKeys
	Roles   roles    `key:"roles" jsonschema_description:"Several containers at once: all but the last are servers, held until the last has ended."`
	Metrics []metric `key:"metrics" jsonschema_description:"How the numbers come out of what it prints."`
	Lacks   []lack   `key:"lacks" jsonschema_description:"What a failed trial's words say that the container lacks: such a trial counts as unsupported, with the reason."`
}

// A lack is what an engine's container may not do, as the workload's own
// programs put it.
type lack struct {
	at      yamlfile.Pos
	Says    yamlfile.Text `key:"says" jsonschema:"required" jsonschema_description:"A regular expression (RE2) for what is printed, on either stream."`
	Because yamlfile.Text `key:"because" jsonschema:"required" jsonschema_description:"What is lacking, as a sentence."`
}

// roleKeys are the keys of a role. Where there is only one, they stand at the top.
type roleKeys struct {
	On      yamlfile.Name  `key:"on" jsonschema:"enum=container,enum=host,default=container" jsonschema_description:"Where the role runs; host is the host's network with the image's programs, as native does. Only the last role can."`
	Pod     yamlfile.Name  `key:"pod" jsonschema_description:"Roles of one pod share one network namespace."`
	Prepare []command      `key:"prepare" jsonschema_description:"Commands that come first, each to end with status 0. They are not measured."`
	Serve   []command      `key:"serve" jsonschema_description:"Servers: started in the background, ended when the role ends."`
	Ready   ready          `key:"ready" jsonschema_description:"When the servers count as ready."`
	Fill    []command      `key:"fill" jsonschema_description:"Commands between that and the measured one, such as to fill a database. They are not measured."`
	Run     command        `key:"run" jsonschema_description:"The command that is measured: a program and its arguments, never a shell line."`
	Status  yamlfile.Count `key:"status" jsonschema:"minimum=0,maximum=255,default=0" jsonschema_description:"The exit status of run that means success."`
	Input   argument       `key:"input" jsonschema_description:"A file inside that is the standard input of run."`
	Output  argument       `key:"output" jsonschema_description:"A file inside that takes the standard output of run. It does not come to us then."`
	Cleanup []command      `key:"cleanup" jsonschema_description:"Commands that come last, in any case. Their status does not count."`
}

type role struct {
	at  yamlfile.Pos
	Env []argument `key:"env" jsonschema_description:"Environment of this role, besides that of all: NAME=value."`
	roleKeys

	name yamlfile.Word
}

type ready struct {
	at   yamlfile.Pos
	Port argument      `key:"port" jsonschema_description:"A TCP port that is listened on."`
	File argument      `key:"file" jsonschema_description:"A file that exists."`
	Line yamlfile.Text `key:"line" jsonschema_description:"A regular expression that the output matches. Only for a server in a container of its own."`
}

// launch says in how many processes a parallel program is started.
type launch struct {
	at      yamlfile.Pos
	Ranks   argument      `key:"ranks" jsonschema:"required" jsonschema_description:"How many ranks: a number, or a parameter."`
	Nodes   argument      `key:"nodes" jsonschema_description:"On how many nodes they are: a number, or a parameter. Default 1."`
	Program yamlfile.Flag `key:"program" jsonschema_description:"Plimsoll's own MPI program lies at /work/plimsoll-mpi."`
}

type needs struct {
	Network  yamlfile.Flag         `key:"network" jsonschema_description:"Containers must reach each other."`
	Detached yamlfile.Flag         `key:"detached" jsonschema_description:"The engine must be able to hold a container by itself."`
	ICMP     yamlfile.Flag         `key:"icmp" jsonschema_description:"Its programs send echo requests: a container that may open no raw socket must be able to have an ICMP socket."`
	Root     yamlfile.Flag         `key:"root" jsonschema_description:"The container must be run by root."`
	Memory   yamlfile.Size         `key:"memory" jsonschema_description:"Memory that must be free, and within the limit, such as 256MiB."`
	Disk     yamlfile.Size         `key:"disk" jsonschema_description:"Room on disk, such as 1GiB."`
	DiskOf   yamlfile.SettingWords `key:"disk-of" jsonschema_description:"Parameters whose product is the room on disk in bytes, where that is more: [size], or [count, bytes]."`
	CPUs     yamlfile.Count        `key:"cpus" jsonschema:"minimum=1,maximum=4096" jsonschema_description:"Processors of the machine."`
}

type parameter struct {
	at     yamlfile.Pos
	Levels yamlfile.SettingWords `key:"levels" jsonschema:"required" jsonschema_description:"The levels, the default first."`
	Number numberRange           `key:"number" jsonschema_description:"Any other whole number of this range too."`
	What   yamlfile.Text         `key:"what" jsonschema_description:"What it is, in one sentence, with the unit."`

	name yamlfile.Word
}

type numberRange struct {
	at  yamlfile.Pos
	Min yamlfile.Count `key:"min" jsonschema:"required,minimum=0,maximum=1000000000000"`
	Max yamlfile.Count `key:"max" jsonschema:"required,minimum=0,maximum=1000000000000"`
}

type metric struct {
	at     yamlfile.Pos
	ID     yamlfile.Name     `key:"id" jsonschema:"required" jsonschema_description:"The same id means the same thing in every workload."`
	Title  yamlfile.Text     `key:"title" jsonschema_description:"A short name for a column."`
	Unit   yamlfile.Text     `key:"unit" jsonschema:"required" jsonschema_description:"SI base units: ns, bytes, bytes/s, bit/s, ops/s, events/s, requests/s, transactions/s, percent, ratio, count…"`
	Better yamlfile.Name     `key:"better" jsonschema:"required,enum=lower,enum=higher"`
	What   yamlfile.Text     `key:"what" jsonschema:"required" jsonschema_description:"What the number is, in one sentence."`
	JSON   yamlfile.Text     `key:"json" jsonschema_description:"A path into JSON output: keys and places from 0, with dots between; # stands for every entry of a list, \\. for a dot in a key."`
	Regexp yamlfile.Text     `key:"regexp" jsonschema_description:"A regular expression (RE2) with one group, the number."`
	Parser yamlfile.Name     `key:"parser" jsonschema_description:"A parser of this program, by its name."`
	Key    yamlfile.Text     `key:"key" jsonschema_description:"Which of the parser's numbers."`
	Scale  factor            `key:"scale" jsonschema_description:"The number is multiplied by it."`
	All    yamlfile.Name     `key:"all" jsonschema:"enum=last,enum=first,enum=sum,enum=mean,enum=min,enum=max,default=last" jsonschema_description:"Which, where there are several matches."`
	Role   yamlfile.Name     `key:"role" jsonschema_description:"Whose output it is in; the last role's without it."`
	When   yamlfile.Settings `key:"when" jsonschema_description:"Levels by parameter for which the metric is there."`
	Check  yamlfile.Flag     `key:"check" jsonschema_description:"It proves that the same work was done: it must be the same everywhere, and is neither better nor worse."`
}

type conditional struct {
	at   yamlfile.Pos
	When yamlfile.Settings `key:"when" jsonschema:"required" jsonschema_description:"Levels by parameter. All must hold."`
	Args []argument        `key:"args" jsonschema:"required,minItems=1" jsonschema_description:"The arguments that are there then."`
}

func (x *launch) Place(at yamlfile.Pos)      { x.at = at }
func (x *role) Place(at yamlfile.Pos)        { x.at = at }
func (x *ready) Place(at yamlfile.Pos)       { x.at = at }
func (x *parameter) Place(at yamlfile.Pos)   { x.at = at }
func (x *numberRange) Place(at yamlfile.Pos) { x.at = at }
func (m *metric) Place(at yamlfile.Pos)      { m.at = at }
func (x *lack) Place(at yamlfile.Pos)        { x.at = at }
func (x *conditional) Place(at yamlfile.Pos) { x.at = at }

// parameter is the one of this name; nil where there is none.
func (f *document) parameter(name string) *parameter {
	i := slices.IndexFunc(f.Parameters, func(p parameter) bool { return p.name.Text == name })
	if i < 0 {
		return nil
	}
	return &f.Parameters[i]
}

func (f *document) parameterNames() []string {
	var names []string
	for _, p := range f.Parameters {
		names = append(names, p.name.Text)
	}
	return names
}

func texts(words []yamlfile.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// HasFile says whether the workload came from a file, so that it has a working
// directory and steps.
func (w Workload) HasFile() bool { return w.file != nil }
