package docker

import (
	"context"
	"fmt"
	"strconv"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
)

// removeLimit bounds the removal of what a failed trial left.
const removeLimit = 20 * time.Second

// removeContainer kills and removes a container of the run's and returns when
// it is gone, with its volumes; found says that there was one. What is not there is
// gone; what bears the name and not the run's label is somebody else's.
func (d *daemon) removeContainer(ctx context.Context, name string) (found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	for {
		id, err := d.ours(ctx, name)
		if err != nil {
			return found, err
		}
		if id == "" {
			return found, d.removeVolumes(ctx, name)
		}
		found = true
		// By its id: the name may be somebody else's by now. A conflict is a
		// removal that is already under way.
		_, err = d.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
			return found, d.wrong("removing the container "+name, err)
		}
		if !engine.Pause(ctx, 50*time.Millisecond) {
			return found, fmt.Errorf("the container %s was still there after %v", name, removeLimit)
		}
	}
}

// ours gives the id of the run's container of this name; "" where there is none.
func (d *daemon) ours(ctx context.Context, name string) (id string, err error) {
	res, err := d.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	c := res.Container
	switch {
	case cerrdefs.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", d.wrong("looking for the container "+name, err)
	case c.Name != "/"+name || c.Config == nil || d.runID == "" || c.Config.Labels[engine.Label] != d.runID:
		return "", nil // an id that begins so, or another's
	}
	return c.ID, nil
}

// volumesOf lists the volumes of one of the run's containers. They have no
// names and go with it, but where the daemon was killed between.
func (d *daemon) volumesOf(ctx context.Context, container string) ([]string, error) {
	f := client.Filters{}.Add("label", engine.Label+"="+d.runID).Add("label", containerLabel+"="+container)
	list, err := d.VolumeList(ctx, client.VolumeListOptions{Filters: f})
	if err != nil {
		return nil, d.wrong("looking for the volumes of the container "+container, err)
	}
	var names []string
	for _, v := range list.Items {
		if v.Labels[engine.Label] == d.runID && v.Labels[containerLabel] == container {
			names = append(names, v.Name)
		}
	}
	return names, nil
}

func (d *daemon) removeVolumes(ctx context.Context, container string) error {
	names, err := d.volumesOf(ctx, container)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := d.VolumeRemove(ctx, name, client.VolumeRemoveOptions{}); err != nil && !cerrdefs.IsNotFound(err) {
			return d.wrong("removing the volume "+name+" of the container "+container, err)
		}
	}
	return nil
}

// noteLimit is how much later than a container's end the daemon may note why.
const noteLimit = 300 * time.Millisecond

// oomKilled says whether the kernel has killed in a container for want of
// memory. The daemon keeps its last events, so that it can be asked when the
// container is gone and nothing is measured any more.
func (d *daemon) oomKilled(ctx context.Context, name string, since time.Time) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// The daemon hears of the end and of the kill from two sides: the kill may
	// be noted a moment after the end was told. The answer ends with the kill.
	until := time.Now().Add(noteLimit)
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
