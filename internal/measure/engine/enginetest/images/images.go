// Package images gives tests that ask real engines an image store and a registry. make
// unit asks no engine: with its tag (unit) nothing is here that builds images or serves
// them, which would be linked into each adapter's tests and never be reached.
package images

import (
	"context"

	"plimsoll/internal/measure/image"
)

// Registry is a registry of a test's own (imagestore.Registry).
type Registry interface {
	Publish(ctx context.Context, images image.Provider, imageName, runID string) (*image.Published, error)
	Ref(name, runID string) string
	Traffic() image.Traffic
	Close() error
}
