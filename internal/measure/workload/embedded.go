package workload

import (
	"embed"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
)

// catalogueFS holds the workloads that are files. To add one is to add a file,
// its golden output below testdata/output, and a row in docs/workloads.md.
//
//go:embed catalogue
var catalogueFS embed.FS

// files are the workloads of the embedded files, read once. One that can't be
// read is left out, and Broken tells: the others go on. That each combination of their
// levels gives a program is a test's to say, and not each command's: it takes four times
// as long as all the rest.
var files = sync.OnceValues(func() ([]Workload, error) {
	names, err := fs.Glob(catalogueFS, "catalogue/*.yaml")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Workload
	var errs []error
	for _, name := range names {
		data, err := catalogueFS.ReadFile(name)
		if err == nil {
			var w Workload
			if w, err = read(path.Base(name), data, false); err == nil {
				w.Path = ""
				all = append(all, w)
				continue
			}
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
})

// Broken says which embedded files are no workloads; nil is right.
func Broken() error {
	_, err := files()
	return err
}

// groups are the groups of workloads, in the order in which they are shown.
var groups = []string{"life-cycle", "os", "cpu", "memory", "disk", "network", "application"}
