package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/history"
)

// kind is a kind of result, and what writes it in a format.
type kind struct {
	name    string
	formats []string
	write   func(w io.Writer, format string, opts Options) error
}

// made keeps the kinds: the tests here look at the same ones.
var made []kind

// kinds are all kinds of results, each with all that it can show.
func kinds(t *testing.T) []kind {
	t.Helper()
	if made != nil {
		return made
	}
	var out []kind
	add := func(name string, formats []string, write func(w io.Writer, format string, opts Options) error) {
		out = append(out, kind{name, formats, write})
	}
	view := func(name string, res *analyze.Result, set func(*Options)) {
		add(name, Formats(), func(w io.Writer, format string, opts Options) error {
			set(&opts)
			return Write(w, format, res, opts)
		})
	}
	whole := func(*Options) {}
	typical := fresh(t, recordtest.Typical())
	typical.Features = someFeatures()
	view("result", typical, whole)
	view("result of sizes and rates", result(t, pull()), whole)
	view("result of one metric", typical, func(o *Options) { o.Metric, o.Sort = "whole", "startup" })
	view("result with few blocks", result(t, few()), whole)
	view("result with claims", result(t, claimed()), whole)
	view("result with published tables", result(t, recordtest.Paper()), whole)
	view("result of ramps and open loops", protocolsResult(t, 7), whole)
	view("result of a suite", result(t, recordtest.Suite()), whole)
	view("audit", result(t, recordtest.Audited()), func(o *Options) { o.Audit = true })
	view("overhead", result(t, recordtest.Suite()), func(o *Options) { o.Overhead = AnyBaseline })
	view("published tables", result(t, recordtest.Paper()), func(o *Options) { o.Papers = true })
	c := changes(t, compare.Options{})
	require.NoError(t, gate.Judge(c, gate.Thresholds{FailAbove: 0.05}))
	for name, c := range map[string]*compare.Changes{"changes": c, "changes of a quantile": tails(t)} {
		add(name, Changes.Formats(), func(w io.Writer, format string, opts Options) error { return Changes.Write(w, format, c, opts) })
	}
	h := past(t, history.Options{Seed: 1})
	h.Judge()
	add("history", Histories.Formats(), func(w io.Writer, format string, opts Options) error { return Histories.Write(w, format, h, opts) })
	f := claimedFindings(t)
	for name, claim := range map[string]string{"findings": "", "a finding": "9b", "a finding of features": "5"} {
		add(name, FindingFormats(), func(w io.Writer, format string, opts Options) error { return WriteFindings(w, format, f, claim, opts) })
	}
	add("features", FeatureFormats(), func(w io.Writer, format string, opts Options) error {
		return WriteFeatures(w, format, someFeatures(), FeatureOptions{Options: opts})
	})
	matrix := result(t, recordtest.Matrix())
	what, err := factors.Of(matrix, factors.Options{})
	require.NoError(t, err)
	add("factors", FactorFormats(), func(w io.Writer, format string, opts Options) error {
		return WriteFactors(w, format, matrix, []*factors.Factors{what}, opts)
	})
	a := adviceFor(t, table(), serving(), advised())
	add("advice", Advice.Formats(), func(w io.Writer, format string, opts Options) error { return Advice.Write(w, format, a, opts) })
	slices.SortStableFunc(out, func(a, b kind) int { return strings.Compare(a.name, b.name) })
	made = out
	return out
}

func (k kind) text(t *testing.T, format string, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := k.write(&b, format, opts); err != nil {
		t.Fatalf("%s: %v", k.name, err)
	}
	return b.String()
}
