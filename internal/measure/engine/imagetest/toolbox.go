package imagetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
)

// Toolbox sees to it that the kit has the image toolbox. Building it takes a
// minute or two, once; where another process does it, as the tests of the
// package image may, this waits. The test is skipped where it can't be
// built at all.
func Toolbox(t testing.TB, kit *engine.Kit) {
	t.Helper()
	store, ok := kit.Images.(*imagestore.Store)
	if !ok {
		t.Fatalf("the kit's images are a %T", kit.Images)
	}
	s, err := store.State("toolbox")
	require.NoError(t, err)
	if s.State == imagestore.Unavailable {
		t.Skip("no image toolbox: ", s.Reason)
	}
	if s.State != imagestore.Ready && testing.Short() {
		t.Skip("the image toolbox takes a minute to build: not with -short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var said bytes.Buffer
	if _, err := store.Build(ctx, "toolbox", &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
}
