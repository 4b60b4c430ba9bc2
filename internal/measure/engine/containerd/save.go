package containerd

import (
	"context"

	"github.com/containerd/containerd/v2/core/images/archive"
	"github.com/containerd/containerd/v2/pkg/namespaces"

	"plimsoll/internal/measure/engine/adapter"
)

// Save writes what `ctr images export` does, with the blobs as they were pulled.
// The registry of a run has images of one platform.
func (env *environment) Save(ctx context.Context, ref string) (int64, error) {
	ctx, cancel := context.WithTimeout(namespaces.WithNamespace(ctx, pullNamespace(env.kit.RunID)), pullLimit)
	defer cancel()
	var n adapter.Count
	if err := env.d.Export(ctx, &n, archive.WithImage(env.d.ImageService(), ref)); err != nil {
		return int64(n), env.d.wrong("exporting the image "+ref, err)
	}
	return int64(n), nil
}
