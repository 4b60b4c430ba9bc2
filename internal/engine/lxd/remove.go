package lxd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	"plimsoll/internal/engine"
)

// removeLimit bounds the removal of what a failed trial left.
const removeLimit = 20 * time.Second

// removeInstance stops and removes a container and returns when it is gone.
// One that is not there is gone, unless it is being made: the daemon goes on
// with that when nobody waits any more.
func (d *daemon) removeInstance(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	for {
		d.awaitOperations(ctx, name)
		// It may be stopped already, or be stopped by somebody else: what counts is the removal.
		halted := d.call(ctx, http.MethodPut, "/1.0/instances/"+name+"/state", forceStop)
		err := d.call(ctx, http.MethodDelete, "/1.0/instances/"+name, nil)
		if err == nil || notFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return d.wrong("removing the container "+name, errors.Join(halted, err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// awaitOperations waits for what the daemon does with a container. Programs
// that are executed in it end with it.
func (d *daemon) awaitOperations(ctx context.Context, name string) {
	var by map[string][]struct {
		ID, Class string
		Resources map[string][]string
	}
	if d.get(ctx, "/1.0/operations", &by, "recursion", "1") != nil {
		return // the removal will say it
	}
	for _, op := range by["running"] {
		for _, at := range append(op.Resources["instances"], op.Resources["containers"]...) {
			at, _, _ = strings.Cut(at, "?")
			if op.Class == "task" && path.Base(at) == name {
				_, _ = d.wait(ctx, op.ID) // however it ends
			}
		}
	}
}

// forceStop ends a container at once.
var forceStop = map[string]any{"action": "stop", "force": true, "timeout": -1}

// remove takes something away that may be gone already.
func (d *daemon) remove(ctx context.Context, what, at string) error {
	err := d.call(ctx, http.MethodDelete, at, nil)
	if err == nil || notFound(err) {
		return nil
	}
	return d.wrong("removing "+what, err)
}

// removePool removes a pool of ours. A container whose making was broken off
// may have appeared in it, after it was looked for: what is in the project then
// is nobody's.
func (d *daemon) removePool(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	var p struct {
		UsedBy []string `json:"used_by"`
	}
	for {
		err := d.within("").remove(ctx, "the storage pool "+name, "/1.0/storage-pools/"+name)
		if err == nil {
			return nil
		}
		_ = d.within("").get(ctx, "/1.0/storage-pools/"+name, &p) // for the message
		list, _ := d.names(ctx, "/1.0/instances")
		for _, n := range list {
			err = errors.Join(err, d.removeInstance(ctx, n))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (used by %s)", err, strings.Join(p.UsedBy, ", "))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// names lists what is below a path of the API: the last parts of addresses.
func (d *daemon) names(ctx context.Context, at string) ([]string, error) {
	var list []string
	if err := d.get(ctx, at, &list); err != nil {
		return nil, err
	}
	for i, l := range list {
		l, _, _ = strings.Cut(l, "?")
		list[i] = path.Base(l)
	}
	return list, nil
}

// emptyProject removes a project with all that is in it.
func (d *daemon) emptyProject(ctx context.Context, name string) error {
	in := d.within(name)
	var errs []error
	each := func(at string, remove func(string) error) {
		list, err := in.names(ctx, at)
		if err != nil && !notFound(err) {
			errs = append(errs, in.wrong("looking into the project "+name, err))
		}
		for _, n := range list {
			errs = append(errs, remove(n))
		}
	}
	each("/1.0/instances", func(n string) error { return in.removeInstance(ctx, n) })
	pools, err := d.within("").names(ctx, "/1.0/storage-pools")
	if err != nil {
		errs = append(errs, d.wrong("listing the storage pools", err))
	}
	for _, p := range pools {
		each(volumesOf(p), func(n string) error { return in.remove(ctx, "the volume "+n, volumesOf(p)+"/"+n) })
	}
	each("/1.0/images", func(n string) error { return in.remove(ctx, "the image "+n, "/1.0/images/"+n) })
	each("/1.0/profiles", func(n string) error {
		if n == "default" { // it goes with the project
			return nil
		}
		return in.remove(ctx, "the profile "+n, "/1.0/profiles/"+n)
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return d.within("").remove(ctx, "the project "+name, "/1.0/projects/"+name)
}

// Leftovers is documented in engine.Engine.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	d, _, err := e.connect(ctx, kit)
	if err != nil {
		// Without a daemon nobody can say; that is no error where there is none at all.
		if _, missing := kit.LookPath(e.client); missing != nil {
			return nil, nil
		}
		return nil, err
	}
	defer d.close()
	var left []engine.Leftover
	projects, lerr := d.names(ctx, "/1.0/projects")
	if lerr != nil {
		return nil, d.wrong("listing the projects", lerr)
	}
	for _, name := range projects {
		if !isOurs(name, runID) {
			continue
		}
		for _, kind := range []struct{ kind, at string }{
			{"container", "/1.0/instances"}, {"image", "/1.0/images"}, {"profile", "/1.0/profiles"},
		} {
			names, lerr := d.within(name).names(ctx, kind.at)
			if lerr != nil {
				return nil, d.wrong("looking into the project "+name, lerr)
			}
			for _, n := range names {
				if kind.kind != "profile" || n != "default" {
					left = append(left, engine.Leftover{Kind: kind.kind, Name: name + "/" + n, Remove: e.remover(kit, func(ctx context.Context, d *daemon) error {
						if in := d.within(name); kind.kind == "container" {
							return in.removeInstance(ctx, n)
						}
						return d.within(name).remove(ctx, "the "+kind.kind+" "+n, kind.at+"/"+n)
					})})
				}
			}
		}
		left = append(left, engine.Leftover{Kind: "project", Name: name, Remove: e.remover(kit, func(ctx context.Context, d *daemon) error {
			return d.emptyProject(ctx, name)
		})})
	}
	pools, lerr := d.names(ctx, "/1.0/storage-pools")
	if lerr != nil {
		return nil, d.wrong("listing the storage pools", lerr)
	}
	for _, name := range pools {
		if isOurs(name, runID) {
			left = append(left, engine.Leftover{Kind: "storage pool", Name: name, Remove: e.remover(kit, func(ctx context.Context, d *daemon) error {
				return d.remove(ctx, "the storage pool "+name, "/1.0/storage-pools/"+name)
			})})
		}
	}
	return left, nil
}

// remover opens a connection of its own, since the one that found the
// leftover is closed by then.
func (e *Engine) remover(kit *engine.Kit, remove func(context.Context, *daemon) error) func(context.Context) error {
	return func(ctx context.Context) error {
		d, _, err := e.connect(ctx, kit)
		if err != nil {
			return err
		}
		defer d.close()
		return remove(ctx, d)
	}
}
