package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find gives the directories of the runs that dirs name: each is a run itself,
// or a folder whose folders are runs. Folders in such a one that hold no run
// are given as others; hidden ones are passed over. A dir without any run is an
// error.
func Find(dirs []string) (runs, others []string, err error) {
	for _, dir := range dirs {
		if holdsRun(dir) {
			runs = append(runs, dir)
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, fmt.Errorf("looking for runs: %w", err)
		}
		found := 0
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := os.Stat(path) // a link to a folder is one
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return nil, nil, fmt.Errorf("looking for runs: %w", err)
			case err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), "."):
			case holdsRun(path):
				runs = append(runs, path)
				found++
			default:
				others = append(others, path)
			}
		}
		if found == 0 {
			return nil, nil, fmt.Errorf("looking for runs: %s is neither a run nor a folder of runs: it has no %s, and no folder in it has one", dir, RunFile)
		}
	}
	return runs, others, nil
}

func holdsRun(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, RunFile))
	return err == nil
}
