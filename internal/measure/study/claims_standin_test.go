package study

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// No claim of any paper is supported or contradicted by a program, a mechanism
// or a topology that the paper did not have, whatever the numbers are: each is
// judged by a run that supports it, and by runs in which everything is changed
// at random.
func TestStandInsDecideNothing(t *testing.T) {
	cat := market()
	partly, untested, whole := 0, 0, 0
	for study, claims := range bundledClaims(t) {
		require.NoError(t, standIns(claims, cat))
		for _, c := range claims {
			if len(c.Tests) == 0 {
				continue
			}
			stand := c.StandIns
			if len(stand) == 0 {
				whole++ // TestEncodedClaims
				continue
			}
			c.StandIns = nil
			w := worldOf(t, study, c)
			truth := w.solve(t)
			w.spec.Claims[0].StandIns = stand
			f := w.judge(t, truth, 0.0002)
			if f.Verdict == analyze.ClaimNotTested {
				untested++
			} else {
				partly++
			}
			onlyOwn(t, &f, stand)
			rng := rand.New(rand.NewPCG(3, 4))
			for range 2 {
				for _, k := range w.cells {
					truth[k] += 4 * (rng.Float64() - 0.5)
				}
				g := w.judge(t, truth, 0.0002)
				onlyOwn(t, &g, stand)
			}
		}
	}
	if partly < 2 || untested < 5 || whole < 5 {
		t.Errorf("%d claims are judged in part, %d not at all and %d as a whole", partly, untested, whole)
	}
}

// onlyOwn demands that a verdict rests on what the paper had.
func onlyOwn(t *testing.T, f *analyze.Finding, stand []record.StandIn) {
	t.Helper()
	for _, p := range f.Pairs {
		for _, s := range []*analyze.ClaimSide{&p.A, p.B} {
			if s == nil {
				continue
			}
			at := slices.IndexFunc(stand, func(x record.StandIn) bool {
				name, params := named(s.Workload)
				return covers(x.Workload, x.Metrics, &record.WorkloadChoice{Names: []string{name}, Params: params}, s.Metric) &&
					(x.Of == nil || slices.Contains(x.Of[whenEngine], s.Engine))
			})
			if at >= 0 {
				t.Errorf("%s is %s by %s, and the paper had %s", f.ID, f.Verdict, p.Title(), stand[at].Paper)
			}
		}
	}
	decided := f.Verdict == analyze.ClaimSupported || f.Verdict == analyze.ClaimContradicted
	switch {
	case decided && len(f.Pairs) == 0:
		t.Errorf("%s is %s by no pair", f.ID, f.Verdict)
	case f.Instead == nil:
	case decided && !f.Partly:
		t.Errorf("%s is %s as a whole, and for a part of it something stands in", f.ID, f.Verdict)
	case f.Verdict == analyze.ClaimNotTested && !strings.HasPrefix(f.Reason, "Needs "):
		t.Errorf("%s is not tested, and does not say what it needs: %s", f.ID, f.Reason)
	case len(f.Without) == 0:
		t.Errorf("%s does not say what is missing", f.ID)
	}
}

// What differs from a paper and decides nothing is with every claim whose tests
// look at it, and with no other.
func TestDifferencesAreTold(t *testing.T) {
	cat := market()
	got := map[string][]string{}
	for _, claims := range bundledClaims(t) {
		require.NoError(t, standIns(claims, cat))
		for _, c := range claims {
			for _, d := range c.Differs {
				if d.Aspect == "" || d.Paper == "" || d.Here == "" {
					t.Errorf("%s: %+v", c.ID, d)
				}
				got[c.ID] = append(got[c.ID], d.Aspect+": "+d.Here)
			}
		}
	}
	const successor, pipe, api = "engine: Apptainer, its successor", "instrument: a word through a pipe", "client: api"
	for id, want := range map[string][]string{
		"baresi2024/6a": {successor, pipe, api}, "baresi2024/6b": {successor, pipe, api}, "baresi2024/6f": {api}, "baresi2024/9a": {successor, api}, "baresi2024/4": {successor},
		"abraham2020/1": {successor, api}, "gerdes2024/1": {"client: containerd's own API, and ctr"}, "sock2018/1": nil, "arleskog2023/1": nil, "silva2024/1": nil,
	} {
		for _, w := range []string{successor, pipe, api, "client: containerd's own API, and ctr"} {
			if slices.Contains(got[id], w) != slices.Contains(want, w) {
				t.Errorf("%s is told %q, expected %q and no other", id, got[id], want)
			}
		}
	}
}

// A server that is asked from its own container is another thing than one that is asked
// from elsewhere: a claim on either says which it is.
func TestClaimsNameTheirTopology(t *testing.T) {
	cat := market()
	asked := 0
	for _, claims := range bundledClaims(t) {
		for _, c := range claims {
			for _, test := range c.Tests {
				for _, w := range test.Workload.Names {
					var words []string
					switch {
					case strings.HasSuffix(w, "-loopback"):
						words = []string{"loopback"}
					case cat.workload(w+"-loopback") != nil:
						words = []string{"between two", "another container"}
					default:
						continue
					}
					asked++
					if !slices.ContainsFunc(words, func(s string) bool { return strings.Contains(c.Says, s) }) {
						t.Errorf("%s is tested by %s and says %q, expected %q in it", c.ID, w, c.Says, words)
					}
				}
			}
		}
	}
	if asked < 6 {
		t.Errorf("%d tests are of a server and its client", asked)
	}
}

// named takes an id of these tests apart.
func named(id string) (name string, params map[string][]string) {
	parts := strings.Split(id, "/")
	params = map[string][]string{}
	for _, p := range parts[1:] {
		k, v, _ := strings.Cut(p, "=")
		params[k] = []string{v}
	}
	return parts[0], params
}

// A row of a published table says by what it is measured here, where that is
// not what the paper had, and its own note stays.
func TestNotesOfStandIns(t *testing.T) {
	s, err := Load("baresi2024", market())
	require.NoError(t, err)
	notes := map[string]string{}
	for _, table := range s.Tables {
		for _, r := range table.Rows {
			notes[r.Published] = r.Note
		}
	}
	for row, want := range map[string]string{
		"osbench/create-files/difference-vs-native": "OSBench",
		"blogbench/read/difference-vs-native":       "BlogBench",
		"pybench/difference-vs-native":              "another suite",
	} {
		if !strings.Contains(notes[row], want) {
			t.Errorf("%s: the note is %q, expected %q in it", row, notes[row], want)
		}
	}
	for _, row := range []string{"7zip/difference-vs-native", "nginx/difference-vs-native", "lifecycle-single/start", "sqlite/1-thread/difference-vs-native"} {
		if notes[row] != "" {
			t.Errorf("%s: nothing stands in, and the note is %q", row, notes[row])
		}
	}
}
