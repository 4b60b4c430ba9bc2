package docker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
)

// removeLimit bounds the removal of what a failed trial left.
const removeLimit = 20 * time.Second

// removeContainer kills and removes a container and returns when it is gone.
// A container that is not there is gone.
func (d *daemon) removeContainer(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	for {
		_, err := d.ContainerRemove(ctx, name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
			return d.wrong("removing the container "+name, err)
		}
		// A conflict is a removal that is already under way.
		there, err := d.exists(ctx, name)
		if err != nil || !there {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the container %s was still there after %v", name, removeLimit)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// notRemoved is what a failure says of a container that is still there.
func notRemoved(err error) string {
	var e *engine.Error
	if errors.As(err, &e) && e.Class == record.Unavailable {
		return "the container is removed when the daemon is back"
	}
	return err.Error()
}

// exists says whether the daemon knows a container.
func (d *daemon) exists(ctx context.Context, name string) (bool, error) {
	_, err := d.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	switch {
	case cerrdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, d.wrong("looking for the container "+name, err)
	}
	return true, nil
}

// oomKilled says whether the kernel has killed in a container for want of
// memory. The daemon keeps its last events, so that it can be asked when the
// container is gone and nothing is measured any more.
func (d *daemon) oomKilled(ctx context.Context, name string, since time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	until := time.Now()
	res := d.Events(ctx, client.EventsListOptions{
		Since: eventTime(since.Add(-time.Second)), Until: eventTime(until),
		Filters: client.Filters{}.Add("type", string(events.ContainerEventType)).
			Add("event", string(events.ActionOOM)).Add("container", name),
	})
	for {
		select {
		case m := <-res.Messages:
			if m.Action == events.ActionOOM {
				return true
			}
		case <-res.Err: //nolint:errcheck //  the end of the list, or no answer: nothing is known
			return false
		}
	}
}

func eventTime(t time.Time) string {
	return strconv.FormatInt(t.Unix(), 10) + fmt.Sprintf(".%09d", t.Nanosecond())
}

// Leftovers is documented in engine.Engine.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	d, err := e.user(kit)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	label := engine.Label
	if runID != "" {
		label += "=" + runID
	}
	list, err := d.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", label)})
	if err != nil {
		if !e.installed(kit) && gone(err) {
			return nil, nil
		}
		return nil, d.wrong("listing the containers of ours", err)
	}
	var left []engine.Leftover
	for _, c := range list.Items {
		name := c.ID
		if len(c.Names) > 0 {
			name = c.Names[0][1:]
		}
		left = append(left, engine.Leftover{Kind: "container", Name: name, Remove: e.remover(kit, func(ctx context.Context, d *daemon) error {
			return d.removeContainer(ctx, c.ID)
		})})
	}
	// One goes with its container, but where the daemon was killed between.
	volumes, err := d.VolumeList(ctx, client.VolumeListOptions{Filters: client.Filters{}.Add("label", label)})
	if err != nil {
		return nil, d.wrong("listing the volumes of ours", err)
	}
	for _, v := range volumes.Items {
		left = append(left, engine.Leftover{Kind: "volume", Name: v.Name, Remove: e.remover(kit, func(ctx context.Context, d *daemon) error {
			_, err := d.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{Force: true})
			return err
		})})
	}
	tags, err := d.tags(ctx, runID)
	if err != nil {
		return nil, err
	}
	for _, tag := range tags {
		left = append(left, engine.Leftover{Kind: "image", Name: tag, Remove: e.remover(kit, func(ctx context.Context, d *daemon) error {
			return removeImage(ctx, d, tag)
		})})
	}
	return left, nil
}

// tagPrefix is what all of our images are called.
const tagPrefix = "localhost/plimsoll/"

// pulledTag is what images are called that come from the registry of a run.
var pulledTag = regexp.MustCompile(`^127\.0\.0\.1:\d+/plimsoll/[^/:]+:([a-z0-9]{8})$`)

// tags lists our images' tags, of one run or of any.
func (d *daemon) tags(ctx context.Context, runID string) ([]string, error) {
	list, err := d.ImageList(ctx, client.ImageListOptions{})
	if err != nil {
		return nil, d.wrong("listing the images of ours", err)
	}
	var tags []string
	for _, img := range list.Items {
		for _, tag := range img.RepoTags {
			// Two runs may share one image, each with a tag of its own.
			ours := strings.HasPrefix(tag, tagPrefix) || pulledTag.MatchString(tag)
			if ours && (runID == "" || strings.HasSuffix(tag, ":"+runID)) {
				tags = append(tags, tag)
			}
		}
	}
	return tags, nil
}

// remover opens a connection of its own, since the one that found the
// leftover is closed by then.
func (e *Engine) remover(kit *engine.Kit, remove func(context.Context, *daemon) error) func(context.Context) error {
	return func(ctx context.Context) error {
		d, err := e.user(kit)
		if err != nil {
			return err
		}
		defer d.Close()
		return remove(ctx, d)
	}
}

// installed says whether there is any sign of the engine on this machine.
func (f flavour) installed(kit *engine.Kit) bool {
	for _, name := range []string{f.daemon, f.program} {
		if name == "" {
			continue
		}
		if _, err := kit.LookPath(name); err == nil {
			return true
		}
	}
	return false
}
