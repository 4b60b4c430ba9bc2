package portable

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// known is what the full half's adapters know without looking at a machine, so that
// any study can be read where those are not built. A test of the command line writes
// it, and fails when it is not what the adapters say.
//
//go:embed catalogue.json
var known []byte

// Known is the part of a study's catalogue that the engines make.
type Known struct {
	Engines []study.EngineInfo
	Factors []string
	Rules   []study.Rule
	Lacks   []study.Lack
	Sampled []record.Metric
}

// Catalogue is what a study can choose from: everything that there is, whether or not
// it can be measured here, so that what can't be is told and not refused.
func Catalogue(workloads []study.WorkloadInfo) (*study.Catalogue, error) {
	var k Known
	if err := json.Unmarshal(known, &k); err != nil {
		return nil, fmt.Errorf("reading the list of engines that this program carries: %w", err)
	}
	return &study.Catalogue{Engines: k.Engines, Factors: k.Factors, Rules: k.Rules, Lacks: k.Lacks, Sampled: k.Sampled, Workloads: workloads}, nil
}

// Engines are those that can be measured here.
var Engines = []string{Docker, Podman}

// Usable says whether an environment can be measured here, as study.Options asks it.
func (l *Look) Usable(name string, levels map[string]string) (ok bool, reason, fix string) {
	if reason, fix := unknown(name); reason != "" {
		return false, reason, fix
	}
	f := l.Found(name)
	if level := clientLevel(name, levels); f.Reason != "" && (level == byAPILevel || f.NoProgram != "" || name == Docker) { // Docker's command asks the same daemon
		return false, f.Reason, f.Fix
	} else if level == byCLILevel && f.NoProgram != "" {
		return false, f.NoProgram, ""
	}
	for _, factor := range engine.Factors {
		level := levels[factor]
		if level == "" || level == engine.DefaultLevel {
			continue
		}
		if reason, fix := f.offers(factor, level, l.Images); reason != "" {
			return false, reason, fix
		}
	}
	return true, "", ""
}

// unknown says why an engine can't be measured here, whatever machine it is on; "" where it can.
func unknown(name string) (reason, fix string) {
	if slices.Contains(Engines, name) {
		return "", ""
	}
	return "--portable measures " + strings.Join(Engines, " and ") + ", and not " + name, "measure on the machine itself, on Linux: plimsoll run"
}

// The levels of the factor client.
const (
	byAPILevel = "api"
	byCLILevel = "cli"
)

// clientLevel is the client asked for. Podman's own is its command.
func clientLevel(name string, levels map[string]string) string {
	if l := levels[engine.Client]; l != "" && l != engine.DefaultLevel {
		return l
	}
	if name == Podman {
		return byCLILevel
	}
	return byAPILevel
}

// WhyNot says why a workload can't be measured here; "" where it can.
func WhyNot(w *record.Workload) string {
	def, err := workload.Of(*w)
	if err != nil {
		return err.Error()
	}
	inst, err := def.Instance(w.Params)
	if err != nil {
		return err.Error()
	}
	const elsewhere = ", which need the engine's own machine"
	switch p := inst.Plan; {
	case inst.Pull != nil:
		return "it pulls images from a registry on this machine's loopback, which an engine elsewhere does not reach"
	case inst.Density != nil, inst.Load != nil, inst.LeastMemory != nil, inst.Echo != nil, inst.Serve != nil:
		return "it is a protocol of many containers or of ports on the host" + elsewhere
	case p == nil:
		return ""
	case p.Launch != nil:
		return "it is a program of several ranks, which are started on the engine's own machine"
	case len(p.Roles) > 1, p.Roles[0].Host:
		return "it has several containers that reach each other, or one on the host's network" + elsewhere
	case p.ByCommands:
		return "it times each command by a launcher" + elsewhere
	case w.Params["files"] != "" && p.Files != workload.FilesOwn:
		return "its files are to lie on a mount, and the directory of a daemon elsewhere is not ours; files: own has them in the container"
	}
	return ""
}

// Drop takes the cells out of a plan that can't be measured here, with the reason.
func (l *Look) Drop(p *study.Plan) {
	p.DropCells(l.lacks)
}

// Lacks says what of a plan can't be measured here, such as an image that is not given, and
// what would help; "" where all can. A run that is resumed is refused then: its trials would
// fail, and are done once.
func (l *Look) Lacks(p *study.Plan) (reason, fix string) {
	for _, c := range p.Cells {
		if reason, fix := l.lacks(&p.Environments[c.Env], &p.Workloads[c.Workload]); reason != "" {
			return reason, fix
		}
	}
	return "", ""
}

// lacks is Lacks for a workload in an environment.
func (l *Look) lacks(env *record.Environment, w *record.Workload) (reason, fix string) {
	if reason, fix := unknown(env.Engine); reason != "" {
		return reason, fix
	}
	if why := WhyNot(w); why != "" {
		return why, ""
	}
	return l.Images.Has(imageOf(env, w))
}
