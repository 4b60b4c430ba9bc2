//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/catalogue"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/storage"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// setting is what the measuring commands share: the machine and the engines.
type setting struct {
	world   World
	root    bool
	state   run.State
	engines []engine.Engine
	user    *engine.User
	noUser  string
	limit   time.Duration     // how long an engine may take to be found
	mirror  imagestore.Mirror // of Docker Hub
	places  map[string]string // directories by level of image-on
	builds  []record.Build    // files by level of build
	built   map[string]found  // engines with other builds, as they were found
	seen    []found           // the engines of the last plan
	lacking []*lackedImage    // images that the last plan needs and that are not here
}

// imagesFrom is the variable that names a further image store, to read from.
const imagesFrom = "PLIMSOLL_IMAGES"

// newSetting looks at who we are.
func newSetting(w World) (*setting, error) {
	s := &setting{world: w, root: os.Geteuid() == 0, engines: w.Engines, limit: w.DetectLimit}
	if s.engines == nil {
		s.engines = catalogue.All()
	}
	s.engines = engine.Shield(s.engines)
	if s.limit == 0 {
		s.limit = child.Stretch(engine.DetectLimit).Round(time.Second)
	}
	var err error
	if s.state, err = run.StateDir(s.root, w.Getenv); err != nil {
		return nil, err
	}
	s.user, s.noUser = ordinaryUser(w, s.root)
	return s, s.useMirror(w.Getenv("PLIMSOLL_MIRROR"))
}

// detectKit is a kit for looking only: it has no run.
func (s *setting) detectKit() *engine.Kit {
	return &engine.Kit{
		Dir:      filepath.Join(s.state.Dir, "detect"),
		Images:   imagestore.NewStore(s.state.Images(), probe.Binary(), imagestore.Options{LookPath: s.world.LookPath, Mirror: s.mirror, From: s.world.Getenv(imagesFrom)}),
		LookPath: s.world.LookPath, Getenv: s.world.Getenv,
		User: s.user, NoUser: s.noUser, Root: s.root,
	}
}

// options are what every run needs from outside.
func (s *setting) options() run.Options {
	return run.Options{
		Engines: s.engines, State: s.state, Root: s.root,
		User: s.user, NoUser: s.noUser,
		Getenv: s.world.Getenv, LookPath: s.world.LookPath, Mirror: s.mirror, From: s.world.Getenv(imagesFrom),
		ImageOn: s.places,
	}
}

// ordinaryUser finds the user who runs rootless engines: ourselves when we are
// none but an ordinary user; else $PLIMSOLL_USER, the user behind sudo, or the
// user "plimsoll" that the lab's set-up makes.
func ordinaryUser(w World, root bool) (*engine.User, string) {
	if !root {
		u, err := user.Current()
		if err != nil {
			return nil, "can't find out which user this is: " + err.Error()
		}
		return engineUser(u, host.RuntimeDir(w.Getenv))
	}
	for _, name := range []string{w.Getenv("PLIMSOLL_USER"), w.Getenv("SUDO_USER"), "plimsoll"} {
		if name == "" || name == "root" {
			continue
		}
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		return engineUser(u, "")
	}
	return nil, "there is no ordinary user to run it as (make one, and name it by PLIMSOLL_USER)"
}

// runtimeDirs are where an ordinary user's runtime directory may lie when
// nobody logged in to make one.
func runtimeDirs(uid string) []string {
	return append([]string{"/run/user/" + uid}, engine.Places(engine.RuntimeDirs)...)
}

func engineUser(u *user.User, runtimeDir string) (*engine.User, string) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, fmt.Sprintf("user %s has the uid %q", u.Username, u.Uid)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, fmt.Sprintf("user %s has the gid %q", u.Username, u.Gid)
	}
	eu := &engine.User{Name: u.Username, UID: uid, GID: gid, Home: u.HomeDir, RuntimeDir: runtimeDir}
	if ids, err := u.GroupIds(); err == nil {
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil {
				eu.Groups = append(eu.Groups, n)
			}
		}
	}
	if eu.RuntimeDir == "" {
		dirs := runtimeDirs(u.Uid)
		if i := slices.IndexFunc(dirs, func(d string) bool {
			info, err := os.Stat(d)
			return err == nil && info.IsDir() && safepath.OwnedBy(info, uid)
		}); i >= 0 {
			eu.RuntimeDir = dirs[i]
		}
	}
	return eu, ""
}

// found is what detection said of one engine.
type found struct {
	Info engine.Info
	engine.Detection
	// Late: not everything was answered in time.
	Late bool
}

// detect looks for the named engines, or all of them.
func (s *setting) detect(ctx context.Context, names ...string) []found {
	kit := s.detectKit()
	chosen := lists.Filter(s.engines, func(e engine.Engine) bool {
		return len(names) == 0 || slices.Contains(names, e.Info().Name)
	})
	// Most of it is waiting for programs and sockets: a few at a time.
	out := make([]found, len(chosen))
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for i, e := range chosen {
		wg.Go(func() {
			slots <- struct{}{}
			var once sync.Once
			free := func() { once.Do(func() { <-slots }) }
			defer free()
			// Whoever takes long does not work but waits, and the next one may begin.
			defer time.AfterFunc(slotLimit, free).Stop()
			out[i] = s.detectOne(ctx, kit, e)
		})
	}
	wg.Wait()
	return out
}

// slotLimit is how long an engine that is looked for counts as at work.
const slotLimit = 2 * time.Second

// detectOne gives an engine as long as the contract says: one that hangs must
// not keep all others waiting.
func (s *setting) detectOne(ctx context.Context, kit *engine.Kit, e engine.Engine) found {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	f := found{Info: e.Info(), Detection: e.Detect(ctx, kit)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return f.late(s.limit)
	}
	return f
}

// studyCatalogue is what a study can choose from.
func (s *setting) studyCatalogue() *study.Catalogue {
	c := &study.Catalogue{Factors: engine.Factors, Sampled: append(collect.Metrics(), storage.SumMetrics()...)}
	for _, e := range s.engines {
		i := e.Info()
		info := study.EngineInfo{
			Name: i.Name, Baseline: i.Baseline, Simulated: i.Simulated, Levels: withImages(withMachine(i)), Unverified: i.Unverified, Untried: i.Untried, Detached: i.Detached,
			Bare: i.Bare, Below: i.Below,
		}
		for _, m := range i.Mechanisms {
			info.Mechanisms = append(info.Mechanisms, study.Mechanism(m))
		}
		c.Engines = append(c.Engines, info)
	}
	for _, r := range catalogue.Rules() {
		c.Rules = append(c.Rules, study.Rule(r))
	}
	for _, l := range catalogue.Lacks() {
		c.Lacks = append(c.Lacks, study.Lack(l))
	}
	for _, x := range workload.Catalogue() {
		c.Workloads = append(c.Workloads, workloadInfo(x))
	}
	c.Read = readWorkload
	return c
}
