package trace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tracefs is the tracing file system in a mount of ours that no path leads to; it
// goes with its descriptor.
type tracefs struct{ root *os.File }

// openTracefs needs root.
func openTracefs() (*tracefs, error) {
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("opening the tracing file system: %w", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("opening the tracing file system: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return nil, fmt.Errorf("mounting the tracing file system: %w", err)
	}
	return &tracefs{os.NewFile(uintptr(fd), "tracefs")}, nil
}

func (t *tracefs) Close() error { return t.root.Close() }

func (t *tracefs) read(name string) (string, error) {
	fd, err := unix.Openat(int(t.root.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("reading %s of the tracing file system: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	var b strings.Builder
	_, err = bufio.NewReader(f).WriteTo(&b)
	return b.String(), err
}

// tracepoint is what the kernel says of one of its tracepoints.
type tracepoint struct {
	id     uint64
	fields map[string]field
}

// field is where a value lies in the raw data of an event.
type field struct {
	offset, size int
	signed       bool
	// loc: the value is an offset (low half) and a length (high half) of text.
	loc bool
}

func (t *tracefs) point(name string) (tracepoint, error) {
	id, err := t.read(path.Join("events", name, "id"))
	if err != nil {
		return tracepoint{}, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(id), 10, 64)
	if err != nil {
		return tracepoint{}, fmt.Errorf("the id of the tracepoint %s: %w", name, err)
	}
	text, err := t.read(path.Join("events", name, "format"))
	if err != nil {
		return tracepoint{}, err
	}
	fields, err := parseFormat(text)
	if err != nil {
		return tracepoint{}, fmt.Errorf("the format of the tracepoint %s: %w", name, err)
	}
	return tracepoint{n, fields}, nil
}

var fieldLine = regexp.MustCompile(`^\s*field:(.*?)(\w+)(\[\w*\])?;\s*offset:(\d+);\s*size:(\d+);\s*signed:([01]);`)

// parseFormat reads a file events/*/*/format (Documentation/trace/events.rst of the
// kernel, "Event formats").
func parseFormat(text string) (map[string]field, error) {
	fields := map[string]field{}
	for line := range strings.Lines(text) {
		m := fieldLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		offset, err := strconv.Atoi(m[4])
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(m[5])
		if err != nil {
			return nil, err
		}
		fields[m[2]] = field{offset, size, m[6] == "1", strings.Contains(m[1], "__data_loc")}
	}
	if _, ok := fields["common_pid"]; !ok {
		return nil, fmt.Errorf("no field common_pid in %q", text)
	}
	return fields, nil
}

// wants says which fields are missing.
func (t tracepoint) wants(names ...string) error {
	for _, n := range names {
		if _, ok := t.fields[n]; !ok {
			return fmt.Errorf("it has no field %s", n)
		}
	}
	return nil
}

// number reads a field that is an integer; 0 where the data is too short.
func (t tracepoint) number(raw []byte, name string) int64 {
	f := t.fields[name]
	if f.offset+f.size > len(raw) {
		return 0
	}
	b := raw[f.offset : f.offset+f.size]
	switch {
	case f.size == 1:
		return int64(b[0])
	case f.size == 2:
		return int64(binary.NativeEndian.Uint16(b))
	case f.size == 4 && f.signed:
		return int64(int32(binary.NativeEndian.Uint32(b)))
	case f.size == 4:
		return int64(binary.NativeEndian.Uint32(b))
	case f.size == 8:
		return int64(binary.NativeEndian.Uint64(b))
	}
	return 0
}

// text reads a field that is text.
func (t tracepoint) text(raw []byte, name string) string {
	f := t.fields[name]
	from, to := f.offset, f.offset+f.size
	if f.loc {
		n := t.number(raw, name)
		from = int(n & 0xffff)
		to = from + int(n>>16&0xffff)
	}
	if from < 0 || to > len(raw) || from > to {
		return ""
	}
	s, _, _ := strings.Cut(string(raw[from:to]), "\x00")
	return s
}
