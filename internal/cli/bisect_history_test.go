package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/bisection"
)

// TestBisectHistory: of 200 commits of a Git repository, half of them on side branches, the
// search names the one that is slower, or takes more memory, or is larger: on the main
// branch, on a side branch, and the merge of that one where the main branch alone is
// followed. What is measured is simulated.
func TestBisectHistory(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine: ", err)
	}
	for _, c := range []struct {
		metric      string
		worse       string
		firstParent bool
		commits     int
		want        string
	}{
		{"startup", "main 7.3", false, 200, "main 7.3"},
		{"startup", "side 4.6", true, 110, "merge 4"},
		{record.DensityFootprint, "side 4.6", false, 200, "side 4.6"},
		{"size", "main 7.3", false, 200, "main 7.3"},
		{"size", "side 4.6", true, 110, "merge 4"},
	} {
		f := &bisectFlags{betweenFlags: betweenFlags{metric: c.metric}}
		b := &bisectSearch{bisectFlags: f, state: &bisectState{Good: "v1", Bad: "main",
			Asked: bisectAsked{Repo: importedHistory(t, c.worse), Alpha: 0.05, FirstParent: c.firstParent}}}
		require.NoError(t, b.begin(t.Context()))
		if len(b.commits) != c.commits {
			t.Fatalf("%d commits, not %d", len(b.commits), c.commits)
		}
		r := rand.New(rand.NewPCG(19, 200))
		asked := 0
		for q, more := b.search.Next(); more; q, more = b.search.Next() {
			if b.bySize() {
				b.search.Answer(q, builtAs(t, b, q))
			} else {
				b.search.Answer(q, simulated(t, b, r, q))
			}
			asked++
		}
		o := b.search.Outcome()
		if o.Result != bisection.Found || b.commits[o.Commits[0]].Subject != c.want || asked > 16 {
			t.Errorf("%s of %s: %s %v after %d questions, not %s", c.metric, c.worse, o.Result, o.Commits, asked, c.want)
			continue
		}
		if bytes := o.Pair.Bytes; b.bySize() && (bytes == nil || bytes.Commit-bytes.Before < 900_000 || o.Pair.Blocks != 0) {
			t.Errorf("%s is larger by 1 MB: %+v", c.worse, o.Pair)
		}
	}
}

// importedHistory makes a repository in which ten times a branch of nine commits lies beside
// ten of the main one, and is merged. The file ms of a commit says 25 and a little, and 1
// more if the slow one is behind it, or that it can't be built.
func importedHistory(t *testing.T, slow string) string {
	t.Helper()
	var stream strings.Builder
	made := 0
	commit := func(branch, subject string, slower bool, parents ...int) int {
		made++
		ms := 25 + 0.01*float64(made%5)
		if slower {
			ms++
		}
		text := strconv.FormatFloat(ms, 'f', 2, 64)
		if made%23 == 0 && subject != slow {
			text = "broken"
		}
		fmt.Fprintf(&stream, "commit refs/heads/%s\nmark :%d\ncommitter Someone <someone@example.org> %d +0000\ndata %d\n%s\n",
			branch, made, 1_700_000_000+made, len(subject), subject)
		for i, p := range parents {
			fmt.Fprintf(&stream, "%s :%d\n", []string{"from", "merge"}[i], p)
		}
		fmt.Fprintf(&stream, "M 100644 inline ms\ndata %d\n%s\n", len(text), text)
		return made
	}
	tip, slower := commit("main", "Begin", false), false
	fmt.Fprintf(&stream, "reset refs/tags/v1\nfrom :%d\n\n", tip)
	for part := range 10 {
		side, beside := tip, slower
		for n := range 9 {
			subject := fmt.Sprintf("side %d.%d", part, n)
			beside = beside || subject == slow
			side = commit(fmt.Sprintf("side-%d", part), subject, beside, side)
		}
		for n := range 10 {
			subject := fmt.Sprintf("main %d.%d", part, n)
			slower = slower || subject == slow
			tip = commit("main", subject, slower, tip)
		}
		slower = slower || beside
		tip = commit("main", fmt.Sprintf("merge %d", part), slower, tip, side)
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "--bare", "-b", "main", "."}, {"fast-import", "--quiet"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stream.String())
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
	return dir
}

// takes is what the file of a commit says, NaN of one that is broken.
func takes(t *testing.T, b *bisectSearch, commit int) float64 {
	t.Helper()
	out, err := exec.Command("git", "-C", b.repo.Dir, "show", b.at(commit)+":ms").Output()
	require.NoError(t, err)
	ms, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return math.NaN()
	}
	return ms
}

// asks are the commits of a question, by their levels of build.
func asks(b *bisectSearch, q bisection.Question) map[string]int {
	of := map[string]int{goodLevel: bisection.GoodEnd, badLevel: len(b.commits) - 1}
	if q.Kind != bisection.Ends {
		of[candidateLevel] = q.Commit
	}
	if q.Kind == bisection.Pair {
		of[beforeLevel] = q.Before
	}
	return of
}

// simulated is what comes of a question where a metric is what the commits say, scatters by
// 3 %, and by 5 % more from block to block.
func simulated(t *testing.T, b *bisectSearch, r *rand.Rand, q bisection.Question) bisection.Finding {
	t.Helper()
	m := knownMetric(b.metric)
	x := commitRun{betweenFlags: &b.betweenFlags, kind: q.Kind, test: q.Test, envs: map[string]string{}}
	table := analyze.Table{Metric: m}
	var is []float64
	for _, level := range []string{goodLevel, badLevel, candidateLevel, beforeLevel} { // in one order, for one seed
		commit, asked := asks(b, q)[level]
		if !asked {
			continue
		}
		v := takes(t, b, commit)
		if math.IsNaN(v) {
			return bisection.Finding{Verdict: bisection.Skipped}
		}
		x.envs[level], is = "oci/crun/build-"+level, append(is, v)
		table.Cells = append(table.Cells, analyze.Cell{Env: x.envs[level]})
	}
	res := &analyze.Result{Workloads: []analyze.Workload{{ID: "hello", Tables: []analyze.Table{table}}}}
	for n := 1; ; n++ {
		block := 0.05 * r.NormFloat64()
		for i := range is {
			c := &res.Workloads[0].Tables[0].Cells[i]
			c.ByBlock = append(c.ByBlock, 1e6*is[i]*math.Exp(block+0.03*r.NormFloat64()))
		}
		last := n == bisection.MostBlocks
		if !last && !slices.Contains(bisection.Looks, n) {
			continue
		}
		res.Run.Blocks = n
		require.NoError(t, x.judge(res, last))
		if x.finding.Decided(q.Kind) || last {
			return x.finding
		}
	}
}

// builtAs is what comes of a question where the sizes of the programs are a million times
// what the commits say.
func builtAs(t *testing.T, b *bisectSearch, q bisection.Question) bisection.Finding {
	t.Helper()
	var builds []record.Build
	for level, commit := range asks(b, q) {
		v := takes(t, b, commit)
		if math.IsNaN(v) {
			return bisection.Finding{Verdict: bisection.Skipped}
		}
		builds = append(builds, record.Build{Level: level, Bytes: int64(1e6*v + 0.5)})
	}
	f, why := sized(q.Kind, builds)
	if why != "" {
		t.Errorf("%+v: %s", q, why)
	}
	return f
}
