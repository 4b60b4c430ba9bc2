package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// given is a store with one image.
type given struct {
	image.Provider
	path string
}

func (g given) PathFor(context.Context, string, image.Format, int, int) (string, error) {
	return g.path, nil
}

// An ordinary user's engine is given no image that the user can't reach, and the
// error names the directory that is in the way.
func TestImageOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can look as another user does")
	}
	dir := t.TempDir()
	top := filepath.Join(dir, "state")
	path := filepath.Join(top, "images", "payload")
	require.NoError(t, os.MkdirAll(path, 0o755))
	require.Reachable(t, path)
	user := &User{Name: "nobody", UID: 65534, GID: 65534}
	kit := &Kit{Images: given{path: path}, Root: true}
	if got, err := kit.ImagePath(t.Context(), "payload", image.Directory, user); err != nil || got != path {
		t.Errorf("%s %v, want %s", got, err, path)
	}
	for closed, mode := range map[string]os.FileMode{top: 0o700, path: 0o710} {
		require.NoError(t, os.Chmod(closed, mode))
		var e *Error
		_, err := kit.ImagePath(t.Context(), "payload", image.Directory, user)
		if !errors.As(err, &e) || e.Class != record.Unavailable || e.Fix == "" || !strings.Contains(e.Text, " "+closed+" ") {
			t.Errorf("with %s closed: %v", closed, err)
		}
		require.NoError(t, os.Chmod(closed, 0o755))
	}
	// By a group that the user is in, a closed directory is open.
	require.NoError(t, errors.Join(os.Chown(top, 0, 4321), os.Chmod(top, 0o750)))
	user.Groups = []int{4321}
	if _, err := kit.ImagePath(t.Context(), "payload", image.Directory, user); err != nil {
		t.Error(err)
	}
}
