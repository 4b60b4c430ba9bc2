package study

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// needed are the aspects that every part of a paper's study must speak of; of
// arguments and sizes, one is enough.
var needed = []string{"program", "mechanism", "topology", "data", "image", "client", "network", "repetitions", "pause", "order", "statistic"}

// Whatever a bundled study does otherwise than its paper stands in the paper's
// protocol, with the reason.
func TestDeviations(t *testing.T) {
	cat := market()
	for _, name := range Names() {
		s, err := Load(name, cat)
		require.NoError(t, err)
		p, err := s.PaperProtocol(cat)
		require.NoError(t, err)
		if p == nil {
			if len(s.Claims) > 0 {
				t.Errorf("%s has claims and no studies/protocols/%s.yaml, expected the paper's protocol", name, name)
			}
			continue
		}
		for _, u := range p.unexplained() {
			t.Error(u)
		}
		for _, u := range unspoken(t, s, cat) {
			t.Errorf("studies/protocols/%s.yaml: %s", name, u)
		}
	}
}

// unspoken lists what a protocol does not speak of: aspects of a part, programs
// of a workload, and parameters that the study sets.
func unspoken(t *testing.T, s *Study, cat *Catalogue) []string {
	t.Helper()
	p, err := paper(s.Name, cat)
	require.NoError(t, err)
	about := func(part, workload string, aspects ...string) bool {
		return slices.ContainsFunc(p.Facts, func(f paperFact) bool {
			return slices.Contains(aspects, f.Aspect.Text) &&
				slices.ContainsFunc(f.meant(s), func(q Part) bool { return q.Name == part }) &&
				(workload == "" || len(f.Workload.names) == 0 || slices.Contains(wordsOf(f.Workload.names), workload))
		})
	}
	var out []string
	for _, part := range s.Parts {
		if strings.HasPrefix(part.Name, "why-") {
			continue
		}
		for _, a := range needed {
			if !about(part.Name, "", a) {
				out = append(out, "part "+part.Name+" has no entry for "+a+", expected one")
			}
		}
		for _, w := range part.Workloads {
			if !about(part.Name, w.Name, "program") {
				out = append(out, "workload "+w.Name+" has no entry for program, expected one")
			}
			for _, a := range w.Parameters {
				ok := slices.ContainsFunc(p.Facts, func(f paperFact) bool {
					return (f.From.Text == a.Name || slices.Contains([]string{"arguments", "sizes", "data", "image"}, f.Aspect.Text)) && slices.Contains(wordsOf(f.Workload.names), w.Name)
				})
				if !ok && a.Name != "cache" && a.Name != "rest" {
					out = append(out, "the study sets "+a.Name+" of "+w.Name+", expected an entry with from: "+a.Name)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A deviation that nobody explained is found, and so is an explanation of what
// does not differ.
func TestDeviationIsFound(t *testing.T) {
	cat := market()
	s, err := Load("silva2024", cat)
	require.NoError(t, err)
	s.Protocol.PauseNS, s.Protocol.CPUs = 1, 2
	p, err := s.PaperProtocol(cat)
	require.NoError(t, err)
	got := strings.Join(p.unexplained(), "\n")
	for _, want := range []string{"pause (2 minutes): the study has 1ns", "limits (4 threads): the study has 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for change, want := range map[string]string{
		"a command|a command": "expected no why",
		"a command|not told":  "nothing is known of the paper's",
	} {
		from, to, _ := strings.Cut(change, "|")
		text := strings.Replace(strings.Replace(minimal, "is: cli", "is: api", 1), from, to, 1)
		f, err := readPaper("p.yaml", []byte(text), cat)
		require.NoError(t, err)
		row, err := mustRead(t, "plimsoll: 1\nname: m\nworkloads: [hello]\nenvironments: [docker]\n").beside(&f.Facts[0], catalogue())
		require.NoError(t, err)
		q := PaperProtocol{Study: "m", Rows: []PaperFact{row}}
		if u := q.unexplained(); len(u) != 1 || !strings.Contains(u[0], want) {
			t.Error(u)
		}
	}
}

const minimal = `plimsoll-protocol: 1
known-from: nowhere
protocol:
  - {aspect: client, paper: a command, from: client, is: cli, why: because}
`

// What is wrong with a protocol is said with its place.
func TestBadProtocols(t *testing.T) {
	for change, want := range map[string]string{
		"aspect: client|aspect: clint":    `4:14: unknown aspect "clint"`,
		"is: cli, |":                      "nothing says what the paper had",
		"from: client, |":                 "nothing says of what",
		"from: client, is: cli, |":        "nothing says what is done here instead",
		"from: client, is: cli, why|here": "nothing says why",
		"aspect: client|aspect: topology": "nothing says of which workload",
		"aspect: client, |":               `no key "aspect"`,
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := readPaper("p.yaml", []byte(strings.Replace(minimal, from, to, 1)), market())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// Every test of every claim looks at what the paper's protocol speaks of: its
// program, its mechanism and its topology are the paper's, or are known to
// stand in.
func TestClaimsAreOfTheProtocol(t *testing.T) {
	cat := market()
	for name, claims := range bundledClaims(t) {
		p, err := paper(name, cat)
		if err != nil || p == nil {
			t.Fatalf("studies/protocols/%s.yaml: %v", name, err)
		}
		for _, c := range claims {
			for k, test := range c.Tests {
				sides := []record.ClaimTest{test}
				if test.ToWorkload != nil || test.ToMetric != "" {
					to := test
					if to.ToWorkload != nil {
						to.Workload = *to.ToWorkload
					}
					if to.ToMetric != "" {
						to.Metric = to.ToMetric
					}
					sides = append(sides, to)
				}
				for _, side := range sides {
					for _, aspect := range judged {
						for _, w := range side.Workload.Names {
							if !p.speaks(aspect, w, &side) {
								t.Errorf("studies/protocols/%s.yaml: claim %s, test %d: no entry for the %s of %s, metric %s, expected one", name, c.ID, k+1, aspect, w, side.Metric)
							}
						}
					}
				}
			}
		}
	}
}

// speaks says whether any fact of an aspect is about a workload and a metric.
func (p *paperFile) speaks(aspect, workload string, t *record.ClaimTest) bool {
	return slices.ContainsFunc(p.Facts, func(f paperFact) bool {
		of := record.WorkloadChoice{Names: wordsOf(f.Workload.names), Params: map[string][]string{}}
		for _, a := range f.Workload.params {
			of.Params[a.Key.Text] = wordsOf(a.Levels.List)
		}
		return f.Aspect.Text == aspect && covers(of, wordsOf(f.Metrics.List), &record.WorkloadChoice{Names: []string{workload}, Params: t.Workload.Params}, t.Metric)
	})
}
