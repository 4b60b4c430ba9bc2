package words

import (
	"plimsoll/internal/record"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/understand/analyze/sample"
)

func TestLetters(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "ab": "ab", "abc": "a-c", "ace": "ace", "abdef": "abd-f", "hijklmnopqrstuv": "h-v",
		"xyzA": "x-zA", "imnoqrsu": "im-oq-su", "ab[53]": "ab[53]",
	} {
		if got := Letters(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		v, lo, hi float64
		want      string
	}{
		{322, 316, 331, "322 [316, 331]"},
		{1.08, 1.05, 1.11, "1.08 [1.05, 1.11]"},
		{1.08123, 1.08101, 1.08144, "1.0812 [1.0810, 1.0814]"},
		{0.5404, 0.4, 0.7, "0.54 [0.40, 0.70]"},
		{0.00123, 0.00122, 0.00124, "0.00123 [0.00122, 0.00124]"},
		{1.02, 0.97, 1.08, "1.02 [0.97, 1.08]"},
		{12345, 12000, 12700, "12345 [12000, 12700]"},
		{-0.001, -3, 3, "0.0 [-3.0, 3.0]"},
		{0.0402, 0, 39, "0.04 [0, 39]"},
	} {
		n := NumberOf(sample.Estimate{Value: c.v, Lo: p(c.lo), Hi: p(c.hi)}, 1, 6)
		if got := n.Value + " " + n.Interval; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{560e3, 24e6, 205e6}, "ms"}, {[]float64{560}, "ns"}, {[]float64{5e3, 9e5}, "µs"},
		{[]float64{2e9, 3e9}, "s"}, {[]float64{1e3, 2e9}, "ms"}, {nil, "ns"},
	} {
		if got := UnitFor("ns", c.values).Name; got != c.want {
			t.Errorf("%v in %s, want %s", c.values, got, c.want)
		}
	}
}

func TestFactor(t *testing.T) {
	for v, want := range map[float64]string{652.4: "652", 9.96: "10", 3.64: "3.6", 1.843: "1.84", 1: "1.00", 0.281: "0.28", 0.0125: "0.013"} {
		if got := Factor(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestApart: names that differ in a level still do when they are short, and others are as
// Shorten has them.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		n           int
		names, want []string
	}{
		{15, []string{"docker/runc/overlay2/api", "docker/runc/vfs/api"}, []string{"docker…overlay2", "docker…vfs/api"}},
		{13, []string{"docker/runc/overlay2/api", "docker/runc/vfs/api"}, []string{"dock…overlay2", "docker…vfs…"}},
		{26, []string{"sqlite-write/own/size-11.9MB", "sqlite-write/volume/size-11.9MB", "echo"}, []string{"sqlite-write/own…", "sqlite-write/volume…", "echo"}},
		{32, []string{"podman/crun/overlay/network-none/rootful/busybox", "podman/crun/overlay/network-none/rootless/busybox", "podman/crun/overlay/network-none/rootless/debian"}, []string{"podman/crun…rootful/busybox", "podman/crun…rootless/busybox", Shorten("podman/crun/overlay/network-none/rootless/debian", 32)}},
		{13, []string{"podman/crun/overlay/rootful", "docker/runc/vfs/api"}, []string{Shorten("podman/crun/overlay/rootful", 13), Shorten("docker/runc/vfs/api", 13)}},
		{9, []string{"docker/runc/vfs/api", "docker/runc/vfs/api"}, []string{Shorten("docker/runc/vfs/api", 9), Shorten("docker/runc/vfs/api", 9)}},
		{60, []string{"docker/runc/vfs/api", "docker/runc/overlay2/api"}, []string{"docker/runc/vfs/api", "docker/runc/overlay2/api"}},
	} {
		if got := Apart(c.names, c.n, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d: %q, not %q", c.names, c.n, got, c.want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range [][2]string{
		{"docker/runc/api", "docker/runc/api"},
		{"podman/crun/network-default/rootless", "podman/crun/network-de…/rootless"},
		{strings.Repeat("x", 40), strings.Repeat("x", 19) + "…" + strings.Repeat("x", 12)},
	} {
		if got := Shorten(c[0], MaxName); got != c[1] {
			t.Errorf("%s becomes %s", c[0], got)
		}
	}
}

// How many times worse something is reads as it is meant, whichever way is better.
func TestWorse(t *testing.T) {
	for want, m := range map[string]record.Metric{
		"1.50× slower than podman":  {Unit: "ns", Better: record.LowerIsBetter},
		"1.50× as much as podman":   {Unit: "bytes", Better: record.LowerIsBetter},
		"1.50× slower than podman ": {Unit: "requests/s", Better: record.HigherIsBetter},
		"1.50× less than podman":    {Unit: "count", Better: record.HigherIsBetter},
		"1.50× the value of podman": {Unit: "count", Better: record.LowerIsBetter},
	} {
		want = strings.TrimSpace(want)
		if got := Worse(m, sample.Estimate{Value: 1.5}, "podman"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		lo, hi := 1.42, 1.61
		if got := Worse(m, sample.Estimate{Value: 1.5, Lo: &lo, Hi: &hi}, "podman"); got != want+" (1.42–1.61)" {
			t.Errorf("with an interval %q, not %q", got, want)
		}
	}
	if got := Worse(record.Metric{Unit: "ns"}, sample.Estimate{Value: 1.5}, ""); got != "1.50× slower" {
		t.Errorf("without the other's name %q", got)
	}
	if got := Worse(record.Metric{Unit: "ns"}, sample.Estimate{Value: 0.98}, "podman"); got != "0.98× the value of podman" {
		t.Errorf("of one that is not worse %q", got)
	}
}
