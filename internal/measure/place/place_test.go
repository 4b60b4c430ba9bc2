package place

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

func TestHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	write := func(text string) string {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	for _, c := range []struct {
		given string
		want  []string
		err   string
	}{
		{given: "node1", want: []string{"node1"}},
		{given: "node1,10.1.2.3:4", want: []string{"node1", "10.1.2.3:4"}},
		{given: write("# ours\nnode1 slots=2 # two\n\nnode2\n"), want: []string{"node1:2", "node2"}},
		{given: "a,,b", err: "is not a host"},
		{given: "--bind-to", err: "is not a host"},
		{given: "a b", err: "is not a host"},
		{given: "a:0", err: "is not a host"},
		{given: "a:-1", err: "is not a host"},
		{given: "a;reboot", err: "is not a host"},
	} {
		got, err := Hosts(c.given)
		if c.err == "" && (err != nil || !slices.Equal(got, c.want)) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v, %v, want %v %q", c.given, got, err, c.want, c.err)
		}
	}
	for text, want := range map[string]string{"": "names no host", "a max-slots=3\n": "hosts:1:", "a\n-x slots=1\n": "hosts:2:"} {
		if _, err := Hosts(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// What Slurm 22.05 and 23.11 print.
func TestMPIList(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"MPI plugin types are...\n\tcray_shasta\n\tnone\n\tpmi2\n\tpmix\nspecific pmix plugin versions available: pmix_v3,pmix_v4\n", "pmix"},
		{"srun: MPI types are...\nsrun: pmi2\nsrun: none\n", "pmi2"},
		{"MPI plugin types are...\n\tnone\n\tpmix_v2\n\tpmix_v4\n", "pmix_v4"},
		{"MPI plugin types are...\n\tnone\n", ""},
		{"", ""},
	} {
		if got := bestPMI(mpiList(c.text)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"rank.0/stdout": "zero", "rank.0/stderr": "e", "1/rank.11/stdout": "eleven", "rank.2.stdout": "two", "rank.x/stdout": "no", "other": "no", "rank.3/stdin": "no",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	got, err := Outputs(dir, 4)
	if err != nil || len(got) != 3 || got[0].Rank != 0 || string(got[0].Stdout) != "zero" || string(got[0].Stderr) != "e" ||
		got[1].Rank != 2 || string(got[1].Stdout) != "two" || got[2].Rank != 11 || string(got[2].Stdout) != "elev" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is missing is said, with what to do.
func TestLaunchRefuses(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "")
	none := func(name string) (string, error) { return "", errors.New("no " + name) }
	other := func(string) (string, error) { return "/bin/echo", nil }
	for _, c := range []struct {
		place Place
		job   Job
		look  Look
		want  string
	}{
		{Place{}, Job{Ranks: 2, Nodes: 1}, none, "no"},
		{Place{}, Job{Ranks: 1, Nodes: 2}, none, "can't be on 2 nodes"},
		{Place{}, Job{Ranks: 2, Nodes: 1}, other, "only Open MPI's mpirun"},
		{Place{Kind: Srun}, Job{Ranks: 2, Nodes: 1}, none, "srun"},
		{Place{Kind: Srun}, Job{Ranks: 2, Nodes: 1}, other, "SLURM_JOB_ID"},
	} {
		_, err := c.place.Launch(t.Context(), c.job, c.look)
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.place, err, c.want)
		}
	}
}
