package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"plimsoll/internal/common/safepath"
)

// TimelineFile is the name, in a run's directory, of what traced starts say of the
// mechanisms that the run took away from an engine.
const TimelineFile = "timeline.json"

// TimelineSchema is the version of that file's format.
const TimelineSchema = 1

// Timeline is what traced starts say of an engine's mechanisms. The traces are not kept:
// they take a hundred times the room.
type Timeline struct {
	Schema int  `json:"schema"`
	Tool   Tool `json:"tool"`
	// Engine, Workload and Metric (an id) name the ablation that it stands beside.
	Engine   string `json:"engine"`
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	// Starts are how many were traced with each mechanism, and without it.
	Starts int `json:"starts"`
	// Overhead is what tracing cost them: the middle of the ratios of traced starts to
	// others, 0 where it is not known. Lost is the number of events that the kernel had no
	// room for.
	Overhead float64 `json:"overhead,omitempty"`
	Lost     int64   `json:"lost,omitempty"`
	// Mechanisms are those that were followed: of the others no cost was certain.
	Mechanisms []Observed `json:"mechanisms"`
}

// Observed is what traced starts say of one mechanism, times in ns.
type Observed struct {
	Mechanism string `json:"mechanism"`
	// With and Without are what the starts took, from the request to the first byte.
	With    int64 `json:"with_ns"`
	Without int64 `json:"without_ns"`
	// Gone is the time of what was waited for with it and hardly without it, less that
	// of what came in its place; Else is what other steps take less without it (more,
	// where negative).
	Gone int64 `json:"gone_ns"`
	Else int64 `json:"else_ns"`
	// Kinds divide Else by what the steps are that stay.
	Kinds []ObservedKind `json:"kinds,omitempty"`
	// Lo and Hi bound by how much a start with it took longer than the one without it
	// that stood beside it (95 %); both are 0 where there are too few pairs.
	Lo int64 `json:"lo_ns,omitempty"`
	Hi int64 `json:"hi_ns,omitempty"`
	// PlainLo and PlainHi bound the same of the starts beside these that were not traced:
	// what taking it away saves in the same minutes.
	PlainLo int64 `json:"plain_lo_ns,omitempty"`
	PlainHi int64 `json:"plain_hi_ns,omitempty"`
	// Steps are those that differ the most.
	Steps []ObservedStep `json:"steps,omitempty"`
}

// ObservedKind is how much less the steps of a kind take without a mechanism, ns; more,
// where it is negative.
type ObservedKind struct {
	Kind StepKind `json:"kind"`
	NS   int64    `json:"ns"`
}

// StepKind says what makes a step longer or shorter that stays without a mechanism.
type StepKind string

// The kinds of steps.
const (
	// GraceStep is a wait for a grace period of the kernel's (RCU): it ends at its own time,
	// so that who begins to wait earlier waits longer.
	GraceStep StepKind = "grace"
	// ProcessorStep is a wait for a processor: others had it, who now come at another time.
	ProcessorStep StepKind = "processor"
	// WaitStep is any other wait: what is waited for went on beside the way, and still does
	// when what was on the way is gone.
	WaitStep StepKind = "wait"
	// WorkStep is what is done on the way itself.
	WorkStep StepKind = "work"
)

// ObservedStep is what was waited for, and how long.
type ObservedStep struct {
	Name    string `json:"name"`
	With    int64  `json:"with_ns"`
	Without int64  `json:"without_ns"`
	// Anyhow: it stays also where there is hardly anything of it, since it is no
	// mechanism's: a wait for a processor, or of a program for itself.
	Anyhow bool `json:"anyhow,omitempty"`
}

// Gone says whether a step is on the way with a mechanism and hardly without it, or the
// other way about: less than a tenth of its time is left on one of the two sides.
func (s ObservedStep) Gone() bool {
	const hardly = 0.1
	return !s.Anyhow && float64(min(s.With, s.Without)) < hardly*float64(max(s.With, s.Without))
}

// Of is what it says of a mechanism, nil where that was not followed.
func (t *Timeline) Of(mechanism string) *Observed {
	i := slices.IndexFunc(t.Mechanisms, func(o Observed) bool { return o.Mechanism == mechanism })
	if i < 0 {
		return nil
	}
	return &t.Mechanisms[i]
}

// Timeline is what the run's directory holds of one, nil where there is none.
func (r *Reader) Timeline() (*Timeline, error) {
	if r.memory {
		return nil, nil
	}
	path := filepath.Join(r.dir, TimelineFile)
	data, err := safepath.ReadRegular(path, mostOfFile, "what traced starts say")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	t := &Timeline{}
	if err == nil {
		err = json.Unmarshal(data, t)
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, fmt.Errorf("reading what traced starts say, %s: %w", path, err)
	}
	return t, nil
}

func (t *Timeline) check() error {
	if err := knownSchema(t.Schema, TimelineSchema, "ablate ENGINE --explain"); err != nil {
		return err
	}
	switch {
	case t.Engine == "" || t.Workload == "" || t.Metric == "":
		return errors.New("it names no engine, no workload or no metric: expected all three")
	case t.Starts < 1:
		return fmt.Errorf("it is of %d starts: expected 1 or more", t.Starts)
	}
	for i, o := range t.Mechanisms {
		switch {
		case o.Mechanism == "":
			return fmt.Errorf("mechanism %d has no name", i+1)
		case o.With <= 0 || o.Without <= 0:
			return fmt.Errorf("mechanism %s: its starts took %d and %d ns, expected more than 0", o.Mechanism, o.With, o.Without)
		}
	}
	return nil
}

// WriteTimeline writes it into a run's directory.
func WriteTimeline(dir string, t *Timeline) error {
	if err := writeBeside(filepath.Join(dir, TimelineFile), t); err != nil {
		return fmt.Errorf("writing what traced starts say: %w", err)
	}
	return nil
}
