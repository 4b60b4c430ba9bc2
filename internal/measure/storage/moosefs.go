//go:build linux

package storage

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

const moosefsManual = "https://moosefs.com/manpages/mfscli/"

// readMooseFS asks the masters of all MooseFS that this machine has mounted, and
// the one that it serves itself, how many operations each client has asked for.
// Chunk servers publish what they did by the minute alone, which fits no window.
func readMooseFS(ctx context.Context, m *Machine, _ string) (Reading, error) {
	if _, err := m.lookPath("mfscli"); err != nil {
		return nil, absent("there is no mfscli here", "apt-get install moosefs-cli")
	}
	masters, err := mooseMasters(m)
	if err != nil {
		return nil, err
	}
	if len(masters) == 0 {
		return nil, absent("no MooseFS is mounted here, and its master is not of this machine")
	}
	r := Reading{}
	for _, master := range masters {
		one, err := askMoose(ctx, m, master)
		if err != nil {
			return nil, err
		}
		for client, i := range one {
			r[strings.Join(master, ":")+" "+client] = i
		}
	}
	return r, nil
}

// mooseMasters gives host and port of each master; a port that mfscli knows by
// itself is left out.
func mooseMasters(m *Machine) ([][]string, error) {
	mounts, err := mountsOf(m, func(x *proc.Mount) bool { return strings.HasPrefix(x.Source, proc.MooseFS) })
	if err != nil {
		return nil, err
	}
	var out [][]string
	for _, x := range mounts {
		// "mfs#HOST:PORT" or "mfs#HOST:PORT/FOLDER"
		source, _, _ := strings.Cut(strings.TrimPrefix(x.Source, proc.MooseFS), "/")
		host, port, _ := strings.Cut(source, ":")
		if host != "" && !strings.HasPrefix(host, "-") && !strings.HasPrefix(port, "-") {
			out = append(out, slices.DeleteFunc([]string{host, port}, func(s string) bool { return s == "" }))
		}
	}
	if len(out) == 0 && len(m.glob("/etc/mfs/mfsmaster.cfg")) > 0 {
		out = [][]string{{"mfsmaster"}} // the name by which chunk servers and clients find it
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal), nil
}

// askMoose reads what the clients of a master asked for in this hour and in the
// last one. These are two answers: where an hour has ended between them, the
// question is asked again.
func askMoose(ctx context.Context, m *Machine, master []string) (Reading, error) {
	argv := []string{"mfscli", "-p", "-n", "-s", "\t", "-H", master[0]}
	if len(master) > 1 {
		argv = append(argv, "-P", master[1])
	}
	ask := func(mode string) (map[string]map[string]int64, error) {
		out, err := m.run(ctx, append(slices.Clone(argv), "-SMO", "-m", mode)...)
		if err != nil {
			return nil, err
		}
		return parseMoose(out)
	}
	last, err := ask("0")
	for range 3 {
		if err != nil {
			break
		}
		var current, again map[string]map[string]int64
		if current, err = ask("1"); err != nil {
			break
		}
		if again, err = ask("0"); err != nil {
			break
		}
		if !maps.EqualFunc(last, again, maps.Equal) {
			last = again
			continue
		}
		r := Reading{}
		for client, c := range current {
			r[client] = Instance{Counters: c, Earlier: last[client]}
		}
		return r, nil
	}
	if err == nil {
		err = fmt.Errorf("mfscli -SMO: the last hour's numbers change each time they are read")
	}
	return nil, err
}

// mooseOps are the columns of mfscli -SMO after the client and its mount point,
// before their sum.
const mooseOps = 16

const mooseOpen = 13 // the column of open

// parseMoose reads the lines of mfscli -p -SMO, tab after tab: a title, the
// client's address, its mount point, statfs, getattr, setattr, lookup, mkdir,
// rmdir, symlink, readlink, mknod, unlink, rename, link, readdir, open, read and
// write, then their sum. Two mounts of one name are one client.
func parseMoose(b []byte) (map[string]map[string]int64, error) {
	out := map[string]map[string]int64{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "active mounts, operations:") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3+mooseOps+1 {
			return nil, fmt.Errorf("mfscli -SMO: %q has %d columns, not %d (%s)", line, len(f), 3+mooseOps+1, moosefsManual)
		}
		var numbers [mooseOps + 1]int64
		for i, text := range f[3:] {
			n, ok := counted(text)
			if !ok {
				return nil, fmt.Errorf("mfscli -SMO: %q is not a number", text)
			}
			numbers[i] = n
		}
		client := f[1] + ":" + filepath.Clean(f[2])
		c := out[client]
		if c == nil {
			c = map[string]int64{}
			out[client] = c
		}
		c[MetadataRequests] += numbers[mooseOps]
		c[MetadataOpens] += numbers[mooseOpen]
	}
	return out, nil
}
