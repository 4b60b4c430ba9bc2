package plot

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/hosts"
)

func hostsOf(t *testing.T, specs []recordtest.Spec) *hosts.Hosts {
	t.Helper()
	g := hosts.NewGathering(hosts.Options{Metric: "startup"})
	for _, s := range specs {
		if err := g.Add(analyzetest.Run(t, s), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	h, err := g.Hosts()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func forestOf(t *testing.T, h *hosts.Hosts, format string, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Hosts(&b, format, h, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHosts: a forest plot has each host with its ratio at its place, all machines
// where there are five of them and not below, and all of it in words.
func TestHosts(t *testing.T) {
	for _, n := range []int{3, 6, 30} {
		specs := recordtest.Fleet(n, 20)
		specs[n-1].Envs = specs[n-1].Envs[:2] // the last host has no runc
		h := hostsOf(t, specs)
		svg := forestOf(t, h, "svg", Options{})
		if !bytes.Equal(svg, forestOf(t, h, "svg", Options{})) {
			t.Error("the same data give other bytes")
		}
		root := parse(t, svg)
		checkInside(t, "forest", root)
		var rows, pooled []*element
		for _, g := range root.all("g") {
			switch g.attrs["class"] {
			case "host":
				rows = append(rows, g)
			case "pooled":
				pooled = append(pooled, g)
			}
		}
		want := map[bool]int{true: 2}[n >= 5]
		if len(rows) != 2*n || len(pooled) != want {
			t.Errorf("%d hosts: %d rows and %d of all machines, want %d and %d", n, len(rows), len(pooled), 2*n, want)
		}
		for _, need := range []string{"it depends on the host", "n/a: this host has no such environment", "node2: ×", "runc / native"} {
			if !strings.Contains(string(svg), need) {
				t.Errorf("%d hosts: no %q", n, need)
			}
		}
		if (n < 5) != strings.Contains(string(svg), "say too little of the spread between hosts") {
			t.Errorf("%d hosts: it does not say why there is no pooled interval, or says it in vain", n)
		}
		inOrder(t, rows)
	}
	h := hostsOf(t, recordtest.Fleet(6, 10))
	golden.Check(t, "../../../docs/pictures/forest.svg", string(forestOf(t, h, "svg", Options{})))
	for _, format := range []string{"png", "pdf"} {
		if len(forestOf(t, h, format, Options{Dark: true})) == 0 {
			t.Errorf("no %s", format)
		}
	}
	if err := Hosts(&bytes.Buffer{}, "svg", h, Options{Metric: "nothing"}); !errors.Is(err, ErrNoData) || !strings.Contains(err.Error(), "hello startup") {
		t.Errorf("%v", err)
	}
	published, err := hosts.Published("khan2026")
	if err != nil {
		t.Fatal(err)
	}
	checkInside(t, "published", parse(t, forestOf(t, published, "svg", Options{})))
}

// inOrder: a greater ratio lies further to the right.
func inOrder(t *testing.T, rows []*element) {
	t.Helper()
	type mark struct{ value, x float64 }
	by := map[string][]mark{}
	for _, g := range rows {
		v, err := strconv.ParseFloat(g.attrs["data-value"], 64)
		if err != nil {
			continue // it has none, and says why
		}
		dots := g.all("circle") // of the name, and of the value
		by[g.attrs["data-env"]] = append(by[g.attrs["data-env"]], mark{v, dots[len(dots)-1].num(t, "cx")})
	}
	for env, marks := range by {
		slices.SortFunc(marks, func(a, b mark) int { return cmp.Compare(a.value, b.value) })
		for i := 1; i < len(marks); i++ {
			if marks[i].x < marks[i-1].x-0.01 || math.IsNaN(marks[i].x) {
				t.Errorf("%s: × %v lies at %v, and × %v at %v", env, marks[i].value, marks[i].x, marks[i-1].value, marks[i-1].x)
			}
		}
	}
	if len(by) == 0 {
		t.Error("no host has a value")
	}
}
