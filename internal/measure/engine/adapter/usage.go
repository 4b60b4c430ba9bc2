package adapter

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// Usage is what files take: apparent sizes of regular files, and what is
// allocated for everything, each inode once.
type Usage struct {
	Apparent, Allocated int64 // bytes
}

// DiskUsage adds up what lies under the paths; one that is not there counts
// nothing. It stays on the file system of each path.
func DiskUsage(paths ...string) (Usage, error) {
	var u Usage
	seen := map[[2]uint64]bool{}
	for _, path := range paths {
		var device uint64
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				if p == path {
					return fs.SkipAll
				}
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			st, ok := info.Sys().(*syscall.Stat_t)
			if !ok {
				return nil
			}
			if p == path {
				device = st.Dev
			}
			if st.Dev != device {
				return fs.SkipDir
			}
			if key := [2]uint64{st.Dev, st.Ino}; seen[key] {
				return nil
			} else {
				seen[key] = true
			}
			u.Allocated += st.Blocks * 512
			if info.Mode().IsRegular() {
				u.Apparent += info.Size()
			}
			return nil
		})
		if err != nil {
			return u, err
		}
	}
	return u, nil
}
