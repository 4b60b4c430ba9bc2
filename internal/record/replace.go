package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// tempSuffix marks the half-written new version of a file.
const tempSuffix = ".new"

// replaceFile replaces a file in one step that survives a power failure: the
// new content is on the disk before it gets the name, and the name is on the
// disk before we return.
func replaceFile(path string, data []byte) error {
	temp := path + tempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(temp)))
	}
	return syncDir(filepath.Dir(path))
}
