//go:build linux

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/understand/analyze"
)

// namedStudy is the study that the command line names so far, for completion. Without
// a setting nothing can be said at all.
func namedStudy(args []string) (*setting, *study.Study, error) {
	s, err := newSetting(System())
	if err != nil {
		return nil, nil, err
	}
	st, err := study.Load(studyName(args), s.studyCatalogue())
	return s, st, err
}

// completeScales completes a scale of the study that the command line names so
// far.
func completeScales(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	_, st, err := namedStudy(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return append(scaleNames(st), study.Full), cobra.ShellCompDirectiveNoFileComp
}

// completeEngines completes the engines of the study that the command line names so
// far.
func completeEngines(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, st, err := namedStudy(args)
	if s == nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if err != nil {
		return s.engineNames(), cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, p := range st.Parts {
		for _, e := range p.Environments {
			names = analyze.Also(names, e.Engines...)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func scaleNames(st *study.Study) []string {
	var out []string
	for _, t := range st.Scales {
		out = append(out, t.Scale)
	}
	return out
}

// changes are what the command line changes of a study.
type changes struct {
	blocks  int
	seed    uint64
	engines []string
	claims  []string
	small   bool
	tuned   bool
	open
	scale   string
	parts   []string
	images  map[string]string
	mirror  string
	places  map[string]string
	builds  buildFlags
	command ownCommand // in place of a study
	// limits are the levels of each limit, by the flag's name.
	limits map[string]*[]string
}

// limitFlags are the flags of limits, each with its factor.
var limitFlags = []struct{ flag, factor, usage string }{
	{"limit-cpus", engine.CPULimit, "CPUs of each container, such as 0.5, or none, instead of the study's; of several (1,2) every environment is measured with each"},
	{"limit-memory", engine.MemoryLimit, "memory of each container, such as 512MiB, or none, instead of the study's; of several (256MiB,1GiB) every environment is measured with each"},
}

func (c *changes) add(cmd *cobra.Command) {
	cmd.Flags().Var(natural{&c.blocks}, "blocks", "number of blocks, instead of the study's")
	c.open.add(cmd)
	cmd.Flags().Uint64Var(&c.seed, "seed", 0, "seed of the order, instead of the study's (0: drawn and recorded)")
	cmd.Flags().BoolVar(&c.small, "small", false, "every workload at its small levels, except for parameters that the study names")
	cmd.Flags().BoolVar(&c.tuned, "tuned", false, "while it runs, set what makes starts scatter less on this machine, and put it back (plimsoll tune lists it); the results say so")
	cmd.Flags().StringVar(&c.scale, "scale", "", "a scale that the study defines, such as quick (plimsoll studies lists them; default: full)")
	cmd.Flags().StringSliceVar(&c.parts, "part", nil, "measure only these parts of the study, in as many blocks as they ask for")
	cmd.Flags().StringToStringVar(&c.images, "image", nil, "an image in place of one that the study names, such as ubuntu:18.04=debian; the results say so. For a command after --, the image that it runs in, such as debian")
	image := cmd.Flags().Lookup("image")
	image.Value = imageFlag{image.Value, &c.command.image}
	mirrorFlag(cmd, &c.mirror)
	imageOnFlag(cmd, &c.places)
	c.builds.add(cmd)
	completes(cmd, "scale", completeScales)
	completes(cmd, "part", ofStudy(partsOf))
	completes(cmd, "image", completeImages)
	cmd.Flags().StringSliceVar(&c.claims, "claim", nil, "measure only what these claims of the study need, such as 6a or baresi2024/6a,9b")
	cmd.Flags().StringSliceVar(&c.engines, "engine", nil, "measure only these engines of the study (and the baselines)")
	completes(cmd, "claim", ofStudy(claimsOfStudy))
	completes(cmd, "engine", completeEngines)
	c.limits = map[string]*[]string{}
	for _, l := range limitFlags {
		c.limits[l.flag] = cmd.Flags().StringSlice(l.flag, nil, l.usage)
		completes(cmd, l.flag, completeWords("none\tno limit")) // what else it takes is a number
	}
}

// noStudy says what to do about a name that is no study: those of engines, runtimes and
// workloads are what people try first.
func (s *setting) noStudy(name string, err error) error {
	err = &exitError{status: Usage, err: err}
	switch {
	case slices.Contains(s.enginesThat(func(i engine.Info) bool { return !i.Simulated }), name):
		return withHint(err, "%s is an engine: plimsoll run engines --engine %s measures it", name, name)
	case s.isRuntime(name):
		return withHint(err, "%s is a runtime: plimsoll run --engine oci measures those that are here", name)
	}
	if _, unknown := workload.Find(name); unknown == nil {
		return withHint(err, "%s is a workload: a study of yours names it, and plimsoll workloads %s --try ENGINE tries it", name, name)
	}
	return withHint(err, "plimsoll studies lists the bundled studies")
}

// read reads a study and changes it as the command line says.
func (s *setting) read(name string, ch changes) (*study.Study, *study.Catalogue, error) {
	cat := s.studyCatalogue()
	find := func() (study.Source, error) { return study.Find(name) }
	if len(ch.command.argv) > 0 {
		find = ch.command.source
	}
	src, err := find()
	switch {
	case err != nil && len(ch.command.argv) > 0:
		return nil, nil, &exitError{status: Usage, err: err}
	case err != nil:
		return nil, nil, s.noStudy(name, err)
	}
	st, err := study.Read(src, cat)
	if err != nil {
		return nil, nil, &exitError{status: Usage, err: err}
	}
	if st, err = st.At(ch.scale); err != nil {
		return nil, nil, withHint(&exitError{status: Usage, err: err}, "plimsoll studies lists the scales of the bundled studies")
	}
	if err := ch.number(st); err != nil {
		return nil, nil, err
	}
	if err := st.Only(ch.parts, study.OnlyOptions{AllBlocks: ch.blocks > 0, Claims: ch.until == study.UntilClaims}); err != nil {
		return nil, nil, withHint(&exitError{status: Usage, err: err}, "plimsoll studies show %s prints the study with its parts", name)
	}
	if ch.seed > study.MaxSeed {
		return nil, nil, fail(Usage, "--seed is %d: it can be at most %d", ch.seed, uint64(study.MaxSeed))
	}
	if ch.seed != 0 {
		st.Protocol.Seed = ch.seed
	}
	if err := st.Bind(ch.images, cat); err != nil {
		return nil, nil, withHint(&exitError{status: Usage, err: err}, "--image OF-THE-STUDY=IN-ITS-PLACE, such as ubuntu:18.04=debian")
	}
	for _, l := range limitFlags {
		if given := ch.limits[l.flag]; given != nil && len(*given) > 0 {
			if err := st.Limit(l.factor, *given); err != nil {
				return nil, nil, &exitError{status: Usage, err: fmt.Errorf("--%s: %w", l.flag, err)}
			}
		}
	}
	st.Protocol.SmallSizes = st.Protocol.SmallSizes || ch.small
	st.Protocol.Tuned = st.Protocol.Tuned || ch.tuned
	if err := canTune(st.Protocol.Tuned); err != nil {
		return nil, nil, err
	}
	return st, cat, s.narrow(st, ch.engines)
}

// canTune is an error where the machine is to be set to scatter less, and can't be.
func canTune(asked bool) error {
	if !asked {
		return nil
	}
	if _, err := (tune.Machine{}).Wanted(tune.Everything); err != nil {
		return withHint(fail(NothingHere, "the machine can't be tuned: %w", err), "plimsoll tune says of each state why not")
	}
	return nil
}

// expand makes the plan of a study on this machine. named: the user asked for these
// engines, and not for what is there.
func (s *setting) expand(ctx context.Context, st *study.Study, cat *study.Catalogue, named bool) (*study.Plan, error) {
	usable, err := s.usable(ctx, st, named)
	if err != nil {
		return nil, err
	}
	p, err := study.Expand(st, cat, study.Options{Usable: usable})
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	p.Protocol.TrialLimitNS = int64(child.Stretch(time.Duration(p.Protocol.TrialLimitNS)))
	return p, nil
}

// plan reads a study and expands it on this machine.
func (s *setting) plan(ctx context.Context, name string, ch changes) (*study.Plan, error) {
	st, cat, err := s.read(name, ch)
	if err != nil {
		return nil, err
	}
	p, err := s.expand(ctx, st, cat, st.Path != "" || len(ch.engines) > 0)
	if err != nil {
		return nil, err
	}
	if len(ch.command.argv) > 0 {
		// In floor there is no image that the program could be in.
		if err := keepBaselines(p, func(engine string) bool { return engine == "native" }); err != nil {
			return nil, err
		}
	}
	if err := forClaims(p, ch.claims); err != nil {
		return nil, err
	}
	if err := s.coldHere(p); err != nil {
		return nil, err
	}
	facts, _ := host.Machine{}.Facts(s.state.Dir) // what can't be read is not held against anything
	regs := &registries{ctx: ctx, store: s.store(), mirror: s.mirror, said: map[string]error{}}
	if err := s.feasible(p, roomOf(facts, s.state.Dir), regs.reachable); err != nil {
		return nil, err
	}
	s.samePlaces(p)
	if err := s.withoutImages(p); err != nil {
		return nil, err
	}
	return p, comparable(p)
}

// coldHere takes what can't begin with cold caches here out of a plan that
// wants them cold.
func (s *setting) coldHere(p *study.Plan) error {
	if p.Protocol.Cache != "cold" {
		return nil
	}
	no := run.CachesCanBeDropped()
	if no == nil {
		return nil
	}
	reason, fix := engine.Reason(no)
	simulated := map[string]bool{}
	for _, e := range s.engines {
		simulated[e.Info().Name] = e.Info().Simulated
	}
	for _, e := range slices.Clone(p.Environments) {
		if simulated[e.Engine] {
			continue
		}
		if err := p.Drop(e.ID, reason, fix); err != nil {
			return err
		}
	}
	return nil
}

// narrow leaves only the named engines, and the baselines, in a study.
func (s *setting) narrow(st *study.Study, only []string) error {
	if len(only) == 0 {
		return nil
	}
	for _, n := range only {
		if err := s.knows("--engine: ", n); err != nil {
			return err
		}
	}
	for p := range st.Parts {
		var keep []study.Entry
		for _, e := range st.Parts[p].Environments {
			e.Engines = slices.DeleteFunc(slices.Clone(e.Engines), func(n string) bool {
				return !slices.Contains(only, n) && !s.baseline(n)
			})
			if len(e.Engines) > 0 {
				keep = append(keep, e)
			}
		}
		st.Parts[p].Environments = keep
	}
	return nil
}

func (s *setting) baseline(name string) bool {
	return slices.ContainsFunc(s.engines, func(e engine.Engine) bool { i := e.Info(); return i.Name == name && i.Baseline })
}

// usable detects the engines of a study once and answers from that. named: the
// user asked for these engines, and not for what is there.
func (s *setting) usable(ctx context.Context, st *study.Study, named bool) (func(string, map[string]string) (bool, string, string), error) {
	names := append(slices.Clone(st.Baselines), s.enginesThat(func(i engine.Info) bool { return i.Baseline })...)
	for _, p := range st.Parts {
		for _, e := range p.Environments {
			names = append(names, e.Engines...)
			if e.Ablate != nil {
				names = append(names, s.below(e.Engines)...)
			}
		}
	}
	byName := map[string]found{}
	all := s.detect(ctx, names...)
	s.seen = all
	for _, f := range all {
		byName[f.Info.Name] = f
	}
	if err := ctx.Err(); err != nil {
		return nil, fail(Interrupted, "interrupted while looking for engines: %w", err)
	}
	if err := s.tellLate(all, named); err != nil {
		return nil, err
	}
	// What can't be read of the machine is empty, and is then not held against a level.
	facts, _ := host.Machine{}.Facts(s.state.Dir)
	store := s.store()
	regs := &registries{ctx: ctx, store: store, mirror: s.mirror, said: map[string]error{}}
	return func(name string, levels map[string]string) (bool, string, string) {
		f, ok := byName[name]
		if !ok {
			return false, "this plimsoll has no such engine", ""
		}
		f, err := s.withBuilds(ctx, f, levels)
		if err != nil {
			reason, fix := engine.Reason(err)
			return false, reason, fix
		}
		if !f.Usable {
			return false, f.Reason, f.Fix
		}
		if ok, reason, fix := onMachine(facts, levels); !ok {
			return false, reason, fix
		}
		if ok, reason, fix := s.placeUsable(levels); !ok {
			return false, reason, fix
		}
		if ok, reason, fix := imageUsable(store, levels); !ok {
			return false, reason, fix
		}
		if ok, reason, fix := usableWith(f, levels); !ok {
			return false, reason, fix
		}
		return regs.usable(levels)
	}, nil
}

// below are the engines that engines call, and those that these call.
func (s *setting) below(engines []string) (out []string) {
	for _, name := range engines {
		for name != "" {
			e := s.engine(name)
			if e == nil {
				break
			}
			if name = e.Info().Below; name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// usableWith says whether an engine that is here has these levels too.
func usableWith(f found, levels map[string]string) (ok bool, reason, fix string) {
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		level := levels[factor]
		for _, l := range f.Levels[factor] {
			if slices.Contains(engine.Parts(factor, level), l.Name) && !l.Usable {
				return false, l.Reason, l.Fix
			}
		}
	}
	return true, "", ""
}
