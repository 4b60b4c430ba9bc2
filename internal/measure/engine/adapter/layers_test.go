package adapter

import (
	"testing"

	"plimsoll/internal/measure/engine"
)

// An image's layers are counted in both forms in which the kernel tells them.
func TestJudgeLayers(t *testing.T) {
	of := func(image string) engine.Spec { return engine.Spec{Levels: map[string]string{engine.Image: image}} }
	for name, c := range map[string]struct {
		image, fs, options string
		wrong              bool
	}{
		"all there":        {"plimsoll/layers-3:payload", "overlay", "rw,lowerdir=/a/1:/a/2:/a/3:/a/4,upperdir=/u,workdir=/w", false},
		"one by one":       {"plimsoll/layers-3:payload", "overlay", "rw,lowerdir+=/a/1,lowerdir+=/a/2,lowerdir+=/a/3,upperdir=/u", false},
		"laid together":    {"plimsoll/layers-3:payload", "overlay", "rw,lowerdir=/a/1,upperdir=/u,workdir=/w", true},
		"one by one, few":  {"plimsoll/layers-3:payload", "overlay", "rw,lowerdir+=/a/1,lowerdir+=/a/2", true},
		"no overlay":       {"plimsoll/layers-3:payload", "btrfs", "rw", false},
		"another image":    {"busybox", "overlay", "rw,lowerdir=/a/1,upperdir=/u", false},
		"files, no layers": {"plimsoll/files-100:busybox", "overlay", "rw,lowerdir=/a/1,upperdir=/u", false},
	} {
		if err := JudgeLayers(of(c.image), map[string]string{"root.fs": c.fs, "root.options": c.options}); (err != nil) != c.wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
}
