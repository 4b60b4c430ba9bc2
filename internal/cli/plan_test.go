package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

const matrix = `plimsoll: 1
name: matrix
title: A matrix
protocol: {blocks: 2, seed: 7}
workloads: [hello]
environments:
  - engine: docker
    runtime: [runc, crun, lxc, kata]
    storage: [overlay2, btrfs, fuse-overlayfs, vfs, dir]
    client: [api, cli]
    rootless: [no, yes]
published:
  source: https://example.org/paper
  combinations: 80
  valid: 40
  difference: The paper says less than the engine's documentation does.
`

func runPlan(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "matrix.yaml")
	require.NoError(t, os.WriteFile(file, []byte(matrix), 0o600))
	var out, errs bytes.Buffer
	status := Main(offline(dir, machine(), &out, &errs, append([]string{"plan", file}, args...)...))
	if status != int(Done) || errs.Len() > 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	return out.String()
}

// A matrix is summed up by reasons; --all lists each; JSON has both.
func TestPlan(t *testing.T) {
	onPlatform(t, "Debian 12")
	for name, args := range map[string][]string{"plan.txt": nil, "plan-all.txt": {"--all"}} {
		got := runPlan(t, args...)
		golden.Check(t, filepath.Join("testdata", "engines", name), got)
	}
	var p planned
	require.NoError(t, json.Unmarshal([]byte(runPlan(t, "--format", "json")), &p))
	sum := 0
	for _, r := range p.Reasons {
		sum += r.Count
		if r.Count != len(r.IDs) || r.Reason == "" {
			t.Errorf("%+v", r)
		}
	}
	if sum != len(p.Excluded) || p.Counts.Valid+p.Counts.Impossible+p.Counts.Unavailable != 81 {
		t.Errorf("%d of %d excluded have a reason; %+v", sum, len(p.Excluded), p.Counts)
	}
	// 2 clients and 2 of rootless: 4 × (4 runtimes × 5 drivers), of which lxc
	// and dir are impossible.
	if p.Published.OurCombinations != 80 || p.Published.OurValid != 4*3*4 {
		t.Errorf("%+v", p.Published)
	}
}

// Of parts that are left out for one reason it is said once, below the others.
func TestPlanOfSomeParts(t *testing.T) {
	var text strings.Builder
	text.WriteString("plimsoll: 1\nname: parted\ntitle: Parts\nprotocol: {blocks: 2, seed: 7}\nparts:\n")
	for _, part := range []string{"one", "two", "three", "four", "five"} {
		fmt.Fprintf(&text, "  - name: %s\n    workloads: [hello]\n    environments:\n      - engine: docker\n", part)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "parted.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	for parts, want := range map[string]string{
		"one,two":                 "\n\nLeft out: three, four, five. Only one, two were asked for.\n",
		"three":                   "\n\nLeft out: one, two, four, five. Only three was asked for.\n",
		"one,two,three":           "five   -             -       skipped: Only one, two, three were asked for.\n",
		"one,two,three,four,five": "five   2 of 2        2       hello\n",
	} {
		var out, errs bytes.Buffer
		if status := Main(offline(dir, machine(), &out, &errs, "plan", file, "--part", parts)); status != int(Done) || !strings.Contains(out.String(), want) {
			t.Errorf("--part %s: status %d, %s%s", parts, status, out.String(), errs.String())
		}
	}
}

// The cgroup version is the machine's: another one is unavailable, with what
// would change it.
func TestOnMachine(t *testing.T) {
	for _, c := range []struct {
		host, want string
		ok         bool
	}{
		{"v1", "v1", true}, {"v1", "v2", false}, {"hybrid", "v1", true}, {"hybrid", "v2", false}, {"v2", "hybrid", false},
		{"v2", "default", true}, {"v2", "", true}, {"", "v2", true},
	} {
		ok, reason, fix := onMachine(record.Host{Cgroup: c.host}, map[string]string{"cgroup": c.want})
		if ok != c.ok || !ok && (!strings.Contains(reason, c.host) || !strings.Contains(fix, "kernel parameter")) {
			t.Errorf("%s on %s: %v, %q, %q", c.want, c.host, ok, reason, fix)
		}
	}
}
