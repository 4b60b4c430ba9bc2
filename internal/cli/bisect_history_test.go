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
	"plimsoll/internal/understand/analyze/bisection"
)

// TestBisectHistory: of 200 commits of a Git repository, half of them on side branches, the
// search names the one that is slower: on the main branch, on a side branch, and the merge of
// that one where the main branch alone is followed. The times are simulated.
func TestBisectHistory(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine: ", err)
	}
	for _, c := range []struct {
		slow        string
		firstParent bool
		commits     int
		want        string
	}{
		{"main 7.3", false, 200, "main 7.3"},
		{"side 4.6", false, 200, "side 4.6"},
		{"side 4.6", true, 110, "merge 4"},
	} {
		b := &bisectSearch{state: &bisectState{Good: "v1", Bad: "main",
			Asked: bisectAsked{Repo: importedHistory(t, c.slow), Alpha: 0.05, FirstParent: c.firstParent}}}
		require.NoError(t, b.begin(t.Context()))
		if len(b.commits) != c.commits {
			t.Fatalf("%d commits, not %d", len(b.commits), c.commits)
		}
		r := rand.New(rand.NewPCG(19, 200))
		asked := 0
		for q, more := b.search.Next(); more; q, more = b.search.Next() {
			b.search.Answer(q, simulated(t, b, r, q))
			asked++
		}
		o := b.search.Outcome()
		if o.Result != bisection.Found || b.commits[o.Commits[0]].Subject != c.want || asked > 16 {
			t.Errorf("%s is slower: %s %v after %d questions, not %s", c.slow, o.Result, o.Commits, asked, c.want)
		}
	}
}

// importedHistory makes a repository in which ten times a branch of nine commits lies beside
// ten of the main one, and is merged. The start of each commit takes 25 ms and a little, and
// 1 ms more if the slow one is behind it: its file ms says so, or that it can't be built.
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

// simulated is what comes of a question where starts take what the commits say, scatter by
// 3 %, and by 5 % more from block to block.
func simulated(t *testing.T, b *bisectSearch, r *rand.Rand, q bisection.Question) bisection.Finding {
	t.Helper()
	takes := func(commit int) float64 {
		out, err := exec.Command("git", "-C", b.repo.Dir, "show", b.at(commit)+":ms").Output()
		require.NoError(t, err)
		ms, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return math.NaN() // it is broken
		}
		return ms
	}
	good, bad, commit, before := takes(bisection.GoodEnd), takes(len(b.commits)-1), 0.0, 0.0
	if q.Kind != bisection.Ends {
		commit = takes(q.Commit)
	}
	if q.Kind == bisection.Pair {
		before = takes(q.Before)
	}
	if math.IsNaN(commit) {
		return bisection.Finding{Verdict: bisection.Skipped}
	}
	var v bisection.Values
	for n := 1; ; n++ {
		block := 0.05 * r.NormFloat64()
		add := func(to []float64, ms float64) []float64 {
			return append(to, 1e6*ms*math.Exp(block+0.03*r.NormFloat64()))
		}
		v.Good, v.Bad = add(v.Good, good), add(v.Bad, bad)
		if q.Kind != bisection.Ends {
			v.Commit = add(v.Commit, commit)
		}
		if q.Kind == bisection.Pair {
			v.Before = add(v.Before, before)
		}
		last := n == bisection.MostBlocks
		if !last && !slices.Contains(bisection.Looks, n) {
			continue
		}
		if f := q.Test.Look(q.Kind, v, last); f.Decided(q.Kind) || last {
			return f
		}
	}
}
