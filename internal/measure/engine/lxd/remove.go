package lxd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// removeLimit bounds the removal of what a failed trial left.
const removeLimit = 20 * time.Second

// removeInstance stops and removes a container of ours and returns when it is
// gone. One that is not there is gone, unless it is being made: the daemon goes
// on with that when nobody waits any more. Another's of this name stays.
func (d *daemon) removeInstance(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	for {
		d.awaitOperations(ctx, name)
		ours, err := d.bears(ctx, "/1.0/instances/"+name)
		if err == nil && !ours {
			return nil
		}
		// It may be stopped already, or be stopped by somebody else: what counts is the removal.
		var halted error
		if err == nil {
			halted = d.call(ctx, http.MethodPut, "/1.0/instances/"+name+"/state", forceStop)
			err = d.call(ctx, http.MethodDelete, "/1.0/instances/"+name, nil)
		}
		if err == nil || notFound(err) {
			return nil
		}
		if !engine.Pause(ctx, 100*time.Millisecond) {
			return d.wrong("removing the container "+name, errors.Join(halted, err))
		}
	}
}

// Remove removes the container, the profile that the command line makes for it,
// and its volumes, which the profile uses.
func (env *environment) Remove(ctx context.Context, task engine.Task) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	if err := env.d.removeInstance(ctx, task.Name); err != nil {
		return err
	}
	return env.removeBeside(ctx, task)
}

// removeBeside removes what was made for a container that has gone.
func (env *environment) removeBeside(ctx context.Context, task engine.Task) error {
	if len(task.Mounts) == 0 {
		return nil
	}
	var err error
	if env.cli != nil {
		err = env.d.removeOurs(ctx, "the profile "+task.Name, "/1.0/profiles/"+task.Name)
	}
	for i, m := range task.Mounts {
		if m.Kind == engine.Volume && err == nil {
			err = env.d.removeVolumes(ctx, env.pool.Name, []string{volumeName(task, i)})
		}
	}
	return err
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

// removeOurs is remove for what bears the run's label; another's stays.
func (d *daemon) removeOurs(ctx context.Context, what, at string) error {
	ours, err := d.bears(ctx, at)
	if err != nil {
		return d.wrong("looking at "+what, err)
	}
	if !ours {
		return nil
	}
	return d.remove(ctx, what, at)
}

// labelled is what is read of anything: an image has properties in place of a
// configuration.
type labelled struct {
	Name        string
	Fingerprint string
	Config      map[string]string
	Properties  map[string]string
	Aliases     []struct{ Name string }
	UsedBy      []string `json:"used_by"`
}

// of says whether it is the run's. What it has from a profile is no label of its
// own.
func (l labelled) of(run string) bool {
	return run != "" && (l.Config[labelKey] == run || l.Properties[labelKey] == run)
}

// bears says whether something is there and bears the run's label.
func (d *daemon) bears(ctx context.Context, at string) (bool, error) {
	var it labelled
	err := d.get(ctx, at, &it)
	if notFound(err) {
		return false, nil
	}
	return err == nil && it.of(d.run), err
}

// dropImage removes an image of ours; of one that has further names, which
// others have given it, only ours.
func (d *daemon) dropImage(ctx context.Context, print, alias string) error {
	var it labelled
	err := d.get(ctx, "/1.0/images/"+print, &it)
	switch {
	case notFound(err):
		return nil
	case err != nil:
		return d.wrong("looking at the image "+alias, err)
	case !it.of(d.run):
		return nil
	case len(it.Aliases) > 1:
		return d.remove(ctx, "the name "+alias+" of an image", "/1.0/images/aliases/"+alias)
	}
	return d.remove(ctx, "the image "+alias, "/1.0/images/"+print)
}

// removePool removes a pool of ours. A container whose making was broken off
// may have appeared in it, after it was looked for: what is ours in the project
// then is nobody's any more. For what is another's it does not wait.
func (d *daemon) removePool(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	var p labelled
	for {
		err := d.within("").removeOurs(ctx, "the storage pool "+name, "/1.0/storage-pools/"+name)
		if err == nil {
			return nil
		}
		_ = d.within("").get(ctx, "/1.0/storage-pools/"+name, &p) // for the message
		others := d.others(ctx, p.UsedBy)
		list, _ := d.list(ctx, "/1.0/instances")
		for _, it := range list {
			if it.of(d.run) {
				err = errors.Join(err, d.removeInstance(ctx, it.Name))
			}
		}
		if len(others) > 0 {
			return fmt.Errorf("%w (used by %s)", err, strings.Join(others, ", "))
		}
		if !engine.Pause(ctx, 200*time.Millisecond) {
			return fmt.Errorf("%w (used by %s)", err, strings.Join(p.UsedBy, ", "))
		}
	}
}

// others are those of what uses a pool that are there and not the run's.
func (d *daemon) others(ctx context.Context, used []string) (others []string) {
	for _, by := range used {
		u, err := url.Parse(by)
		if err != nil {
			continue
		}
		var it labelled
		if err := d.within(u.Query().Get("project")).get(ctx, u.Path, &it); err == nil && !it.of(d.run) {
			others = append(others, by)
		}
	}
	return others
}

// list reads all that is below a path of the API (see listed).
func (d *daemon) list(ctx context.Context, at string) ([]labelled, error) {
	return listed[labelled](ctx, d, at)
}

// listed reads all that is below a path of the API. The daemon fails a whole
// listing where one of the things goes while it lists, somebody's storage pool
// for one, and answers then as if the path were not there: it is asked again.
func listed[T any](ctx context.Context, d *daemon, at string) (list []T, err error) {
	for i := range listings {
		list = nil
		if err = d.get(ctx, at, &list, "recursion", "1"); err == nil || i == listings-1 {
			break
		}
		if !engine.Pause(ctx, 100*time.Millisecond) {
			return nil, err
		}
	}
	return list, err
}

// listings is how often a listing is asked for.
const listings = 5

// emptyProject removes a project of ours with all in it that bears the run's
// label. Where anything else is in it, which somebody must have put there, both
// stay.
func (d *daemon) emptyProject(ctx context.Context, name string) error {
	ours, err := d.within("").bears(ctx, "/1.0/projects/"+name)
	if err != nil {
		return d.wrong("looking at the project "+name, err)
	}
	if !ours {
		return nil
	}
	in := d.within(name)
	var errs []error
	var others []string
	each := func(what, at string, remove func(labelled) error) {
		list, err := in.list(ctx, at)
		if err != nil && !notFound(err) {
			errs = append(errs, in.wrong("looking into the project "+name, err))
		}
		for _, it := range list {
			if it.of(d.run) {
				errs = append(errs, remove(it))
			} else if what != "profile" || it.Name != "default" { // that goes with the project
				others = append(others, "the "+what+" "+it.Name+it.Fingerprint)
			}
		}
	}
	each("container", "/1.0/instances", func(it labelled) error { return in.removeInstance(ctx, it.Name) })
	pools, err := d.within("").list(ctx, "/1.0/storage-pools")
	if err != nil {
		errs = append(errs, d.wrong("listing the storage pools", err))
	}
	for _, p := range pools {
		each("volume", volumesOf(p.Name), func(it labelled) error {
			return in.remove(ctx, "the volume "+it.Name, volumesOf(p.Name)+"/"+it.Name)
		})
	}
	each("image", "/1.0/images", func(it labelled) error {
		return in.remove(ctx, "the image "+it.Fingerprint, "/1.0/images/"+it.Fingerprint)
	})
	each("profile", "/1.0/profiles", func(it labelled) error { return in.remove(ctx, "the profile "+it.Name, "/1.0/profiles/"+it.Name) })
	if len(others) > 0 {
		errs = append([]error{&engine.Error{Class: record.UncleanEnd,
			Text: fmt.Sprintf("in the run's project %s there is what the run has not made: %s", name, strings.Join(others, ", ")),
			Fix:  d.client + " move it to a project of yours, or delete it, and then plimsoll clean"}}, errs...)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return d.within("").remove(ctx, "the project "+name, "/1.0/projects/"+name)
}
