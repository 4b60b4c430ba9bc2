package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Source is one file system's counters on one side of it.
type Source struct {
	Name  string // stable, such as "lustre-mds"
	Title string
	// Where the format is documented.
	Documented string
	// Tried is the version of the file system that the reader was tried on;
	// empty: it was written by the documentation alone, and is unverified.
	Tried string
	// Whole: one reader sees what all servers of the file system count, so that
	// two would count everything twice.
	Whole bool
	// Instead names sources that this one, where it has counters, stands for.
	Instead []string
	// read gives the counters; an *absentError where there are none here. job is
	// the batch job whose requests are meant, where a source can tell them apart.
	read func(ctx context.Context, m *Machine, job string) (Reading, error)
}

// Sources lists every source. A new one is a file with its reader, a line here,
// a fixture in testdata and a row in docs/storage.md.
var Sources = []Source{
	{Name: "lustre-client", Title: "Lustre client", Documented: lustreManual, read: readLustreClient},
	{Name: "lustre-mds", Title: "Lustre metadata server", Documented: lustreManual, read: readLustreMDS},
	{Name: "lustre-oss", Title: "Lustre object server", Documented: lustreManual, read: readLustreOSS},
	{Name: "lustre-jobs", Title: "Lustre servers, one job's requests", Documented: lustreManual, Instead: []string{"lustre-mds", "lustre-oss"}, read: readLustreJobs},
	{Name: "nfs-client", Title: "NFS client", Documented: "https://man7.org/linux/man-pages/man8/mountstats.8.html", read: readNFSClient},
	{Name: "nfs-server", Title: "NFS server of the kernel", Documented: "https://www.kernel.org/doc/html/latest/filesystems/proc.html", read: readNFSServer},
	{Name: "glusterfs", Title: "GlusterFS bricks", Documented: "https://docs.gluster.org/en/latest/Administrator-Guide/Monitoring-Workload/", Tried: "10.3", Whole: true, read: readGluster},
	{Name: "ceph-client", Title: "CephFS client (ceph-fuse)", Documented: cephManual, Tried: "16.2.15", read: ofKind(readCeph, "client", parseCephClient)},
	{Name: "ceph-mds", Title: "Ceph metadata server", Documented: cephManual, Tried: "16.2.15", read: ofKind(readCeph, "mds", parseCephMDS)},
	{Name: "ceph-osd", Title: "Ceph object server", Documented: cephManual, Tried: "16.2.15", read: ofKind(readCeph, "osd", parseCephOSD)},
	{Name: "moosefs-master", Title: "MooseFS master", Documented: moosefsManual, Tried: "3.0.117", Whole: true, read: readMooseFS},
	{Name: "beegfs-meta", Title: "BeeGFS metadata servers", Documented: beegfsManual, Whole: true, read: ofKind(readBee, "meta", parseBeeMeta)},
	{Name: "beegfs-storage", Title: "BeeGFS storage servers", Documented: beegfsManual, Whole: true, read: ofKind(readBee, "storage", parseBeeStorage)},
}

// ofKind reads the servers of one kind, whichever job asked them.
func ofKind(read func(context.Context, *Machine, string, parser) (Reading, error), kind string, parse parser) func(context.Context, *Machine, string) (Reading, error) {
	return func(ctx context.Context, m *Machine, _ string) (Reading, error) { return read(ctx, m, kind, parse) }
}

type parser = func([]byte) (map[string]int64, error)

// Verified says whether the reader was ever run on the real file system.
func (s *Source) Verified() bool { return s.Tried != "" }

// Named gives the sources of these names; none names all.
func Named(names []string) ([]Source, error) {
	if len(names) == 0 {
		return Sources, nil
	}
	var out []Source
	for _, n := range names {
		i := slices.IndexFunc(Sources, func(s Source) bool { return s.Name == n })
		if i < 0 {
			var all []string
			for _, s := range Sources {
				all = append(all, s.Name)
			}
			return nil, fmt.Errorf("%q is not a source of counters: choose one of %s", n, strings.Join(all, ", "))
		}
		out = append(out, Sources[i])
	}
	return out, nil
}

// Snapshot is one reading of several sources.
type Snapshot map[string]Reading

// Read reads each source, all at once, since what is read later counts more. One
// that this machine has not is left out; one that fails is in errs, and stops no
// other.
func Read(ctx context.Context, m *Machine, sources []Source, job string) (snap Snapshot, errs map[string]error) {
	snap, errs = Snapshot{}, map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range sources {
		wg.Go(func() {
			r, err := s.read(ctx, m, job)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs[s.Name] = err
			case len(r) > 0:
				snap[s.Name] = r
			}
		})
	}
	wg.Wait()
	return snap, errs
}

// Absent says whether an error of Read only means that this machine has no such
// file system.
func Absent(err error) bool {
	var a *absentError
	return errors.As(err, &a)
}

// Counted is what each source counted between two snapshots, by counter. A
// source that another one stands for is left out.
func Counted(sources []Source, before, after Snapshot) (out map[string]map[string]int64, remarks []string) {
	out = map[string]map[string]int64{}
	for _, s := range sources {
		b, had := before[s.Name]
		a, has := after[s.Name]
		switch {
		case had && !has:
			remarks = append(remarks, s.Name+": it could be read before the window and not after it")
			continue
		case !has:
			continue
		}
		values, said := difference(s.Name, b, a)
		remarks = append(remarks, said...)
		if values != nil {
			out[s.Name] = values
		}
	}
	for _, s := range sources {
		if out[s.Name] != nil {
			for _, other := range s.Instead {
				delete(out, other)
			}
		}
	}
	return out, remarks
}
