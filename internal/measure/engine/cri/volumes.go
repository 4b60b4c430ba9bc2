package cri

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
)

// volumes are what a container finds mounted. The interface knows directories
// of the host and nothing else: volumes and memory are the kubelet's work, and
// so they are ours. A volume is what Kubernetes calls an emptyDir, a new
// directory on the host's file system; a tmpfs is one in the medium Memory.
type volumes struct {
	kit    *engine.Kit
	dir    string // of this container's
	mounts []*v1.Mount
	tmpfs  []string
	made   bool
}

// volumeFacts say who makes what.
var volumeFacts = map[string]string{"volume": "a directory of the host (emptyDir)", "tmpfs": "mounted on the host (emptyDir in memory)"}

func (v *volumes) make(list []engine.Mount) error {
	for i, m := range list {
		source := m.Source
		if m.Kind != engine.Bind {
			source = filepath.Join(v.dir, strconv.Itoa(i))
			if err := v.emptyDir(source, m); err != nil {
				return err
			}
		}
		v.mounts = append(v.mounts, &v1.Mount{HostPath: source, ContainerPath: m.Target})
	}
	return nil
}

func (v *volumes) emptyDir(path string, m engine.Mount) error {
	v.made = true
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if m.Kind == engine.Tmpfs {
		if err := v.kit.Ledger.Made(engine.Thing{Kind: engine.KindMount, Name: path}); err != nil {
			return err
		}
		options := ""
		if m.SizeBytes > 0 {
			options = "size=" + strconv.FormatInt(m.SizeBytes, 10)
		}
		if err := unix.Mount("tmpfs", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mounting a tmpfs at %s: %w", path, err)
		}
		v.tmpfs = append(v.tmpfs, path)
	}
	return os.Chmod(path, 0o777) //nolint:gosec // whoever the container's user is, as in an emptyDir
}

// remove unmounts and removes what was made. It may be called twice.
func (v *volumes) remove() error {
	if !v.made {
		return nil
	}
	var errs []error
	var left []string
	for _, path := range v.tmpfs {
		err := unix.Unmount(path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
		if err == nil {
			err = v.kit.Ledger.Gone(engine.Thing{Kind: engine.KindMount, Name: path})
		} else {
			left = append(left, path)
			err = fmt.Errorf("unmounting %s: %w", path, err)
		}
		errs = append(errs, err)
	}
	v.tmpfs = left
	if len(left) == 0 {
		errs = append(errs, safepath.RemoveAll(v.dir))
		v.made = false
	}
	return errors.Join(errs...)
}
