package apptainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// homePrefix begins the name of the directories in the run's folder in which the
// program keeps its account of instances, one for each environment.
const homePrefix = "apptainer-"

// thing is what the ledger says of an instance. All else runs below our launcher
// and goes with it.
func (e *environment) thing(name string) engine.Thing {
	t := engine.Thing{Kind: engine.KindContainer, Name: name, Engine: "apptainer", At: e.program.path}
	if e.user != nil {
		t.As = e.user.Name
	}
	return t
}

// leave strikes an instance out of which the program knows nothing any more.
func (e *environment) leave(ctx context.Context, name string) error {
	h := home{kit: e.Kit, path: e.program.path, dir: e.home, user: e.user}
	if there, err := h.instances(ctx); err != nil || slices.Contains(there, name) {
		return nil //nolint:nilerr // the sweep will say it
	}
	return e.Kit.Ledger.Gone(e.thing(name))
}

// home is the program with one account of instances.
type home struct {
	kit  *engine.Kit
	path string
	dir  string
	user *engine.User
}

func (h home) run(ctx context.Context, args ...string) (string, error) {
	var env []string
	for _, name := range programs {
		p := strings.ToUpper(name)
		env = append(env, p+"_CONFIGDIR="+h.dir, p+"_CACHEDIR="+h.dir)
	}
	c := adapter.As(probe.Command{Argv: append([]string{h.path}, args...), Env: env, Dir: "/"}, h.user, h.kit)
	out, err := child.Run(ctx, adapter.Child(c, engine.LookLimit))
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(h.path), strings.Join(args, " "), err, adapter.Words(out.Stderr))
	}
	return string(out.Stdout), nil
}

// instances are the names of those that run.
func (h home) instances(ctx context.Context) ([]string, error) {
	out, err := h.run(ctx, "instance", "list", "--json")
	if err != nil {
		return nil, err
	}
	return parseInstances(out)
}

func parseInstances(text string) ([]string, error) {
	var said struct {
		Instances []struct{ Instance string }
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		return nil, fmt.Errorf("reading the list of instances: %w", err)
	}
	var names []string
	for _, i := range said.Instances {
		names = append(names, i.Instance)
	}
	return names, nil
}

// homes are the accounts of a run, of one user. The run's folder is ours alone;
// below these directories only the program looks, as the user whom they belong to.
func homes(kit *engine.Kit, path string, user *engine.User) ([]home, error) {
	entries, err := os.ReadDir(kit.Dir)
	owner := os.Geteuid()
	if user != nil {
		owner = user.UID
	}
	var found []home
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), homePrefix) {
			continue
		}
		fi, err := e.Info()
		if err != nil {
			return found, err
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) == owner {
			found = append(found, home{kit, path, filepath.Join(kit.Dir, e.Name()), user})
		}
	}
	return found, err
}

// Leftovers finds instances. Mounts are in the containers' own namespaces and go
// with them.
func (*Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	in := map[engine.Thing]*home{} // the account that each instance is in
	return engine.LookForEach(things, func(t engine.Thing) (bool, error) {
		h, err := holder(ctx, kit, t)
		in[t] = h
		return h != nil, err
	}, func(ctx context.Context, t engine.Thing) error {
		_, err := in[t].run(ctx, "instance", "stop", "--force", t.Name)
		return err
	}), nil
}

// holder finds the account that an instance of the ledger's is in; nil where it is
// in none.
func holder(ctx context.Context, kit *engine.Kit, t engine.Thing) (*home, error) {
	user := (*engine.User)(nil)
	if t.As != "" {
		if user = kit.User; user == nil || user.Name != t.As {
			return nil, &engine.Error{Class: record.Unavailable, Fix: "PLIMSOLL_USER=" + t.As + " plimsoll clean",
				Text: "it is an instance of the user " + t.As + ", who is not the ordinary user of this run"}
		}
	}
	all, err := homes(kit, t.At, user)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, h := range all {
		names, lerr := h.instances(ctx)
		if slices.Contains(names, t.Name) {
			return &h, nil
		}
		err = errors.Join(err, lerr)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, &engine.Error{Class: record.Unavailable, Text: "the program that has started it is gone", Err: err, Fix: fix}
	}
	return nil, err
}

var _ engine.Bearer = (*Engine)(nil)

// Bearing lists the instances of the run's accounts.
func (*Engine) Bearing(ctx context.Context, kit *engine.Kit, _ string) ([]engine.Thing, error) {
	var found []engine.Thing
	for _, name := range programs {
		path, err := kit.LookPath(name)
		if err != nil {
			continue
		}
		for _, user := range []*engine.User{nil, kit.User} {
			all, err := homes(kit, path, user)
			if err != nil {
				return found, err
			}
			for _, h := range all {
				names, err := h.instances(ctx)
				if err != nil {
					return found, err
				}
				for _, n := range names {
					found = append(found, engine.Thing{Kind: engine.KindContainer, Name: n, Engine: "apptainer", At: path})
				}
			}
		}
	}
	return found, nil
}
