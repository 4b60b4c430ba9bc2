package record

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Features is the feature table that the run's directory holds, nil where
// there is none.
func (r *Reader) Features() (*Features, error) {
	if r.memory {
		return nil, nil
	}
	out, err := ReadFeatures(filepath.Join(r.dir, FeaturesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return out, err
}
