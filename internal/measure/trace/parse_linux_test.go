package trace

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

const formatOfSwitch = `name: sched_switch
ID: 321
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
	field:long prev_state;	offset:32;	size:8;	signed:1;
	field:__data_loc char[] filename;	offset:40;	size:4;	signed:0;

print fmt: "prev_comm=%s"
`

func TestParseFormat(t *testing.T) {
	fields, err := parseFormat(formatOfSwitch)
	require.NoError(t, err)
	for name, want := range map[string]field{
		"common_flags": {2, 1, false, false}, "prev_comm": {8, 16, false, false}, "prev_pid": {24, 4, true, false},
		"prev_state": {32, 8, true, false}, "filename": {40, 4, false, true},
	} {
		if fields[name] != want {
			t.Errorf("%s: %+v, expected %+v", name, fields[name], want)
		}
	}
	p := tracepoint{fields: fields}
	raw := make([]byte, 44, 64)
	raw[2] = 0x10
	copy(raw[8:], "runc:[2:INIT]")
	binary.NativeEndian.PutUint32(raw[24:], uint32(0xffffffff))
	binary.NativeEndian.PutUint64(raw[32:], 2)
	binary.NativeEndian.PutUint32(raw[40:], 44|9<<16)
	raw = append(raw, "/bin/true\x00"...)
	if p.number(raw, "prev_pid") != -1 || p.number(raw, "prev_state") != 2 || p.number(raw, "common_flags") != 0x10 {
		t.Error("numbers are misread")
	}
	if p.text(raw, "prev_comm") != "runc:[2:INIT]" || p.text(raw, "filename") != "/bin/true" {
		t.Errorf("texts are misread: %q, %q", p.text(raw, "prev_comm"), p.text(raw, "filename"))
	}
	if p.number(raw[:20], "prev_pid") != 0 || p.text(raw[:44], "filename") != "" {
		t.Error("data that are too short are read beyond their end")
	}
	if _, err := parseFormat("name: x\n"); err == nil {
		t.Error("a format without fields is taken")
	}
}

func TestSymbols(t *testing.T) {
	s, err := parseSymbols(strings.NewReader("ffffffff81000100 T do_wait\nffffffff81000000 t pipe_read.constprop.0\nffffffff81000200 D data\nffffffff81000300 t mod_init\t[mod]\n"))
	require.NoError(t, err)
	for at, want := range map[uint64]string{0xffffffff81000000: "pipe_read", 0xffffffff810000ff: "pipe_read", 0xffffffff81000123: "do_wait", 0xffffffff81000400: "mod_init", 1: "?"} {
		if got := s.name(at); got != want {
			t.Errorf("%x is %q, expected %q", at, got, want)
		}
	}
	for _, bad := range []string{"", "0000000000000000 T do_wait\n", "xyz T do_wait\n"} {
		if _, err := parseSymbols(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestParseList(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0-3,6": {0, 1, 2, 3, 6}, "": nil, "3-1": nil, "a": nil, "0-": nil, "0-99999999": nil} {
		got, err := parseList(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v; expected %v", text, got, err, want)
		}
	}
}

func TestCommand(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/dockerd -H unix:///run/docker.sock":                                        "dockerd",
		"docker run --rm busybox true":                                                       "docker run",
		"docker --context x run busybox":                                                     "docker run",
		"runc --root /run/x --log /create --log-format json create --bundle /b --pid-file p": "runc create",
		"runc init": "runc init",
		"/usr/bin/containerd-shim-runc-v2 -namespace moby -id 1 -address a start": "containerd-shim-runc-v2 start",
		"/usr/bin/containerd-shim-runc-v2 -namespace moby -id start-up":           "containerd-shim-runc-v2",
		"sleep 0.05": "sleep",
		"-bash":      "bash",
		"":           "",
	} {
		if got := command(strings.Fields(line)); got != want {
			t.Errorf("%q is %q, expected %q", line, got, want)
		}
	}
}

// record makes a record as the kernel writes it.
func rec(kind uint32, body []byte) []byte {
	b := make([]byte, 8, 8+len(body))
	binary.NativeEndian.PutUint32(b, kind)
	binary.NativeEndian.PutUint16(b[6:], uint16(8+len(body)))
	return append(b, body...)
}

func sampleBody(id, at uint64, chain []uint64, raw []byte) []byte {
	var b []byte
	b = binary.NativeEndian.AppendUint64(b, id)
	b = binary.NativeEndian.AppendUint32(b, 7)
	b = binary.NativeEndian.AppendUint32(b, 8)
	b = binary.NativeEndian.AppendUint64(b, at)
	if chain != nil {
		b = binary.NativeEndian.AppendUint64(b, uint64(len(chain)))
		for _, c := range chain {
			b = binary.NativeEndian.AppendUint64(b, c)
		}
	}
	b = binary.NativeEndian.AppendUint32(b, uint32(len(raw)))
	b = append(b, raw...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// TestRingWraps: a record that lies over the end of the buffer is read whole.
func TestRingWraps(t *testing.T) {
	wants, ids := []want{{}, {stack: deep}}, map[uint64]int{5: 0, 6: 1}
	data := append(rec(unix.PERF_RECORD_SAMPLE, sampleBody(5, 100, nil, []byte("abcd"))),
		rec(unix.PERF_RECORD_SAMPLE, sampleBody(6, 200, []uint64{^uint64(127), 10, 11}, []byte("efgh")))...)
	lost := make([]byte, 16)
	binary.NativeEndian.PutUint64(lost[8:], 9)
	data = append(data, rec(unix.PERF_RECORD_LOST, lost)...)
	const size = 256
	for begin := uint64(0); begin < size; begin += 8 {
		r := &ring{page: &unix.PerfEventMmapPage{Data_head: begin + uint64(len(data)), Data_tail: begin}, data: make([]byte, size)}
		for i, c := range data {
			r.data[(begin+uint64(i))%size] = c
		}
		var got []string
		r.drain(wants, ids, func(s sample) {
			if s.tid != 8 || s.at != int64(100*len(got)+100) || (s.event == 1) != slices.Equal(s.callchain, []uint64{10, 11}) {
				t.Fatalf("from %d: %+v", begin, s)
			}
			got = append(got, string(s.raw))
		}, func(m mapping) { t.Errorf("a mapping: %+v", m) })
		if !slices.Equal(got, []string{"abcd", "efgh"}) || r.lost != 9 || r.page.Data_tail != r.page.Data_head {
			t.Fatalf("from %d: %v, %d lost", begin, got, r.lost)
		}
	}
}

// FuzzParseSample: nothing that could stand in a buffer makes the parser fail.
func FuzzParseSample(f *testing.F) {
	f.Add(sampleBody(5, 100, nil, []byte("abcd")))
	f.Add(sampleBody(6, 100, []uint64{1, 2}, []byte("abcd")))
	wants, ids := []want{{}, {stack: deep}}, map[uint64]int{5: 0, 6: 1}
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseSample(b, wants, ids); ok && len(s.raw) > len(b) {
			t.Error("more is read than there is")
		}
	})
}

func TestRoomy(t *testing.T) {
	for processors, want := range map[int]int{1: 4096, 2: 4096, 16: 4096, 17: 2048, 64: 1024, 128: 512, 512: 512} {
		if got := roomy(processors); got != want {
			t.Errorf("%d processors have %d pages each, expected %d", processors, got, want)
		}
	}
}
