package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// pulling is the fake engine with an image store in memory, which is filled
// by real requests to the registry of the run.
type pulling struct {
	*fake.Fake
	name  string
	store *layerStore
}

type layerStore struct {
	images map[string][]string // layers by reference
	lies   bool                // Drop keeps the layers
	layers map[string]bool
	stops  bool // a pull never ends
}

func newPulling(name string) pulling {
	return pulling{fake.New(), name, &layerStore{images: map[string][]string{}, layers: map[string]bool{}}}
}

func (p pulling) Info() engine.Info {
	i := p.Fake.Info()
	i.Name = p.name
	return i
}

func (p pulling) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := p.Fake.Open(ctx, kit, spec)
	return pullingEnv{env, p.store}, err
}

type pullingEnv struct {
	engine.Environment
	store *layerStore
}

func (e pullingEnv) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	p := engine.Pulled{Events: map[record.Event]int64{record.Request: stamp.Now()}}
	if e.store.stops {
		<-ctx.Done()
		return p, ctx.Err()
	}
	ref, err := name.ParseReference(task.Ref)
	if err != nil {
		return p, err
	}
	img, err := remote.Image(ref, remote.WithContext(ctx))
	if err != nil {
		return p, err
	}
	p.Steps = append(p.Steps, record.Step{Name: engine.StepResolve, At: stamp.Now()})
	layers, err := img.Layers()
	if err != nil {
		return p, err
	}
	var held []string
	for _, l := range layers {
		d, err := l.Digest()
		if err != nil {
			return p, err
		}
		held = append(held, d.String())
		if e.store.layers[d.String()] {
			continue
		}
		e.store.layers[d.String()] = true
		r, err := l.Compressed()
		if err != nil {
			return p, err
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return p, err
		}
	}
	e.store.images[task.Ref] = held
	p.Steps = append(p.Steps, record.Step{Name: engine.StepTransfer, At: stamp.Now()})
	p.Events[record.Ready] = stamp.Now()
	return p, nil
}

func (e pullingEnv) Drop(_ context.Context, ref string) error {
	delete(e.store.images, ref)
	if e.store.lies {
		return nil
	}
	kept := map[string]bool{}
	for _, layers := range e.store.images {
		for _, l := range layers {
			kept[l] = true
		}
	}
	maps.DeleteFunc(e.store.layers, func(l string, _ bool) bool { return !kept[l] })
	return nil
}

func (e pullingEnv) Sizes(_ context.Context, ref string) (engine.ImageSizes, error) {
	if e.store.images[ref] == nil {
		return engine.ImageSizes{}, fmt.Errorf("no image %s", ref)
	}
	return engine.ImageSizes{Printed: 1, Unpacked: 2, Disk: 3, Shared: 0, Unique: 3, Converted: -1, How: "made up"}, nil
}

// pullOptions plans pulls of an image by these engines.
func pullOptions(t *testing.T, image string, engines ...engine.Engine) Options {
	t.Helper()
	o := options(t, 2, engines...)
	if image == "busybox" { // packing it takes most of the time, so once
		shareImages(t, o.State.Dir)
	}
	cat := &study.Catalogue{Factors: engine.Factors}
	var names []string
	for _, e := range engines {
		i := e.Info()
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: i.Name, Levels: i.Levels})
		names = append(names, i.Name)
	}
	for _, w := range workload.Catalogue() {
		cat.Workloads = append(cat.Workloads, study.WorkloadInfo{Name: w.Name, Parameters: w.Parameters, NeedsStore: w.Pulls(), Metrics: w.Metrics})
	}
	text := fmt.Sprintf("plimsoll: 1\nname: test\nprotocol: {blocks: 2, warmup: 1, seed: 3, trial-limit: 5s}\nworkloads:\n  - name: pull\n    parameters: {image: %s, cache: [cold, shared, warm]}\nenvironments:\n  - engine: [%s]\n",
		image, strings.Join(names, ", "))
	st, err := study.Read(study.Source{Path: "test", Data: []byte(text)}, cat)
	require.NoError(t, err)
	if o.Plan, err = study.Expand(st, cat, study.Options{}); err != nil {
		t.Fatal(err)
	}
	return o
}

// shareImages gives a state directory the images that all tests share.
func shareImages(t *testing.T, state string) {
	t.Helper()
	require.NoError(t, errors.Join(os.MkdirAll(state, 0o755), os.MkdirAll(imagetest.ImageDir(), 0o700)))
	require.NoError(t, os.Symlink(imagetest.ImageDir(), (State{state}).Images()))
}

func needBusyBox(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("busybox"); err != nil {
		t.Skip("the image busybox needs the program: ", err)
	}
}

func TestPulls(t *testing.T) {
	if testing.Short() {
		t.Skip("packs images anew: left out with -short")
	}
	needBusyBox(t)
	good, none := newPulling("good"), spoiled{Fake: fake.New(), name: "none", from: 1 << 30}
	o := pullOptions(t, "busybox", good, none)
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if sum.Failed != 0 {
		t.Errorf("%d trials failed", sum.Failed)
	}
	all := results(t, o.Dir)
	if len(all["none"]) != 0 {
		t.Error("an engine that does not pull has trials")
	}
	excluded := 0
	for _, x := range o.Run.Excluded {
		if x.ID == "none" && x.Workload != "" && strings.Contains(x.Reason, "does not pull images") {
			excluded++
		}
	}
	if excluded != 3 {
		t.Errorf("excluded: %+v", o.Run.Excluded)
	}
	transferred := map[string]float64{}
	for _, tr := range all["good"] {
		if !tr.OK() {
			t.Errorf("%s: %+v", tr.Workload, tr.Failure)
			continue
		}
		v := tr.Values
		if v["pull"] <= 0 || v["pull-resolve"]+v["pull-transfer"] > v["pull"] || v["size-unpacked"] != 2 || v["size-printed"] != 1 {
			t.Errorf("%s: odd values %v", tr.Workload, v)
		}
		if _, ok := v["size-converted"]; ok {
			t.Error("a column that the engine does not have has a value")
		}
		if _, ok := v["pull-unpack"]; ok {
			t.Error("a part that the engine does not tell has a value")
		}
		transferred[tr.Params["cache"]] = v["transferred"]
		if cold := tr.Params["cache"] == "cold"; cold != (v["transferred"] > v["size-compressed"]*0.99) {
			t.Errorf("%s: %v transferred of %v", tr.Workload, v["transferred"], v["size-compressed"])
		}
	}
	if !(transferred["cold"] > transferred["shared"] && transferred["shared"] > transferred["warm"]) {
		t.Errorf("transferred: %v", transferred)
	}
	if len(good.store.images) != 0 || len(good.store.layers) != 0 {
		t.Errorf("left in the store: %v %v", good.store.images, good.store.layers)
	}
	if !slices.ContainsFunc(o.Run.Images, func(i record.Image) bool { return i.Name == "busybox" && i.Digest != "" }) {
		t.Errorf("the record does not name the image: %+v", o.Run.Images)
	}
	if _, err := os.Stat(filepath.Join(o.State.RunDir(o.Run.ID), "registry")); !os.IsNotExist(err) {
		t.Errorf("the registry's files are left: %v", err)
	}
}

// A store that was not emptied is no cold pull, whatever the engine says.
func TestPullThatIsNotCold(t *testing.T) {
	if testing.Short() {
		t.Skip("packs images anew: left out with -short")
	}
	needBusyBox(t)
	liar := newPulling("liar")
	liar.store.lies = true
	o := pullOptions(t, "busybox", liar)
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	seen := map[record.Class]int{}
	for _, tr := range results(t, o.Dir)["liar"] {
		if tr.Params["cache"] == "cold" && tr.Failure != nil {
			seen[tr.Failure.Class]++
		}
	}
	if seen[record.WrongComponent] == 0 {
		t.Errorf("no pull was refused as not cold: %v", seen)
	}
}

func TestPullThatNeverEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("packs images anew: left out with -short")
	}
	needBusyBox(t)
	stuck := newPulling("stuck")
	stuck.store.stops = true
	o := pullOptions(t, "busybox", stuck)
	o.Plan.Protocol.TrialLimitNS = 20e6
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, tr := range results(t, o.Dir)["stuck"] {
		if tr.Failure == nil || tr.Failure.Class != record.TimeOut {
			t.Errorf("a pull that never ends: %+v", tr.Failure)
		}
	}
}

// An image that can't be had leaves the plan with its reason and its fix.
func TestPullOfWhatIsNotBuilt(t *testing.T) {
	o := pullOptions(t, "toolbox", newPulling("good"))
	_, err := Execute(t.Context(), o)
	if err == nil {
		t.Fatal("there was something to measure")
	}
	if len(o.Run.Excluded) != 3 || !strings.Contains(o.Run.Excluded[0].Reason, "toolbox") {
		t.Errorf("excluded: %+v", o.Run.Excluded)
	}
}
