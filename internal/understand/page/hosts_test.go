package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
)

// hostsDoc is the page of a fleet.
func hostsDoc(t *testing.T, specs []recordtest.Spec) string {
	t.Helper()
	g := hosts.NewGathering(hosts.Options{Metric: "startup"})
	every := factors.EveryOnHosts(factors.Options{Metric: "startup", Bare: true})
	var judging hosts.Judging
	for _, s := range specs {
		r := analyzetest.Run(t, s)
		if err := g.Add(r, s.ID); err != nil {
			t.Fatal(err)
		}
		if err := every.Add(g.LabelOf(s.ID), r); err != nil {
			t.Fatal(err)
		}
		judging.Add(g.LabelOf(s.ID), r)
	}
	h, err := g.Hosts()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteHosts(&b, h, every.Result(), judging.Claims()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHosts: the page has what holds where in sentences, each host's number in a table,
// a picture that follows the reader's theme, and says why where nothing is pooled.
func TestHosts(t *testing.T) {
	for _, n := range []int{3, 30} {
		specs := recordtest.Fleet(n, 8)
		specs[n-1].Envs, specs[0].Host.Name = specs[n-1].Envs[:2], hostile
		doc := hostsDoc(t, specs)
		inlineHandlers(t, doc)
		if len(elements(t, doc, "script")) > 0 || !strings.Contains(doc, "&lt;/script&gt;") {
			t.Error("the page has a script, or a host's name is not shown as it is")
		}
		var policy string
		for _, m := range elements(t, doc, "meta") {
			if attr(m, "http-equiv") == "Content-Security-Policy" {
				policy = attr(m, "content")
			}
		}
		sum := sha256.Sum256([]byte(text(elements(t, doc, "style")[0])))
		if !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) || strings.Contains(policy, "script") {
			t.Errorf("the policy is %q", policy)
		}
		img := elements(t, doc, "img")
		if len(img) != 1 || !strings.Contains(attr(img[0], "alt"), "crun is slower than native on all") {
			t.Fatalf("%d pictures, or one without words", len(img))
		}
		svg, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(attr(img[0], "src"), "data:image/svg+xml;base64,"))
		if err != nil || !bytes.Contains(svg, []byte("prefers-color-scheme: dark")) {
			t.Errorf("the picture does not follow the theme: %v", err)
		}
		for text, want := range map[string]bool{
			"say too little of the spread between hosts":      n < 5,
			"Machines in general":                             n >= 5,
			"n/a: this host has no such environment":          true,
			"<th scope=\"row\">node2</th>":                    true,
			"Times of two machines stand side by side":        true,
			"=\"metric-1-2\"":                                 true,
			"between them: --format csv has all":              false,
			"<th scope=\"row\">node17</th>":                   n == 30,
			"Medians, side by side":                           true,
			"runc / native, host by host":                     true,
			"on machines in general ×":                        n >= 5,
			"Paule &amp; Mandel":                              n >= 5,
			"<a href=\"#metric-1\">":                          true,
			"This page loads nothing from anywhere.</footer>": true,
		} {
			if strings.Contains(doc, text) != want {
				t.Errorf("%d hosts: %q is there: %v", n, text, !want)
			}
		}
	}
}

// Which factor depends on the host stands on the page as plimsoll factors says it; where
// nothing can be said it says why.
func TestHostsFactors(t *testing.T) {
	for want, specs := range map[string][]recordtest.Spec{
		"What depends on the host: runtime (":                  recordtest.Fleet(6, 8),
		"Nothing can be said: there is one host only.":         recordtest.Fleet(1, 8),
		"fewer than two environments have values on all hosts": func() []recordtest.Spec { s := recordtest.Fleet(30, 4); s[3].Envs = s[3].Envs[:2]; return s }(),
	} {
		doc := hostsDoc(t, specs)
		for text, there := range map[string]bool{
			want: true, "<section id=\"factors\"": true, "<a href=\"#factors\">": true, "<h3>Start-up of hello</h3>": true,
			"<th scope=\"row\">runtime</th>": len(specs) == 6,
			"… and 5 more are left out":      len(specs) == 30,
		} {
			if strings.Contains(doc, text) != there {
				t.Errorf("%d hosts: %q is there: %v", len(specs), text, !there)
			}
		}
	}
	h, err := hosts.Published("khan2026")
	var b bytes.Buffer
	if err == nil {
		err = WriteHosts(&b, h, nil, nil)
	}
	if err != nil || strings.Contains(b.String(), "id=\"factors\"") {
		t.Errorf("of published values something is said of factors, or %v", err)
	}
}

// TestHostsFindings: the page says on which hosts claims hold, and what of that is not as
// in the paper; without claims it has no such section.
func TestHostsFindings(t *testing.T) {
	specs := recordtest.Fleet(6, 12)
	for i := range specs {
		specs[i].Claims = recordtest.FleetClaims()
		specs[i].Claims[0].Differs = []record.StandIn{{Aspect: "client", Paper: "a command line", Here: "an API"}}
	}
	for text, there := range map[string]bool{
		"<section id=\"findings\"": true, "<a href=\"#findings\">": true, "<th scope=\"row\">fleet/runc</th>": true, "<td>by host</td>": true,
		"1 supported on all, 1 contradicted on all, 1 by host":                                      true,
		"Not as in the paper, and judged all the same: client, an API (the paper: a command line).": true,
		"Supported on node2 (": true,
	} {
		if strings.Contains(hostsDoc(t, specs), text) != there {
			t.Errorf("%q is there: %v", text, !there)
		}
	}
	if strings.Contains(hostsDoc(t, recordtest.Fleet(3, 8)), "id=\"findings\"") {
		t.Error("there are findings of a study that claims nothing")
	}
}

// BenchmarkHosts1M reads the runs of a hundred hosts with a million trials together,
// pools them and writes their page. Where /proc is there it reports the peak of resident
// memory and the page's size too.
func BenchmarkHosts1M(b *testing.B) {
	var dirs []string
	for i := range 100 {
		s := recordtest.Big(10_000)
		s.ID, s.Seed, s.Host.Name = fmt.Sprintf("big-%d", i), uint64(i), fmt.Sprintf("node%d", i)
		s.Host.Machine, s.Host.Boot = s.Host.Name, s.Host.Name
		dirs = append(dirs, s.Write(b))
	}
	size := 0
	b.ResetTimer()
	for b.Loop() {
		g := hosts.NewGathering(hosts.Options{})
		every := factors.EveryOnHosts(factors.Options{Bare: true})
		for _, dir := range dirs {
			r, err := record.Open(dir)
			if err != nil {
				b.Fatal(err)
			}
			res, err := evaluate.Run(r, evaluate.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := g.Add(res, dir); err != nil {
				b.Fatal(err)
			}
			if err := every.Add(g.LabelOf(dir), res); err != nil {
				b.Fatal(err)
			}
		}
		h, err := g.Hosts()
		if err != nil {
			b.Fatal(err)
		}
		var page bytes.Buffer
		if err := WriteHosts(&page, h, every.Result(), nil); err != nil {
			b.Fatal(err)
		}
		size = page.Len()
	}
	b.ReportMetric(float64(size)/1e6, "page-MB")
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		for line := range strings.Lines(string(status)) {
			var kb float64
			if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kb); err == nil {
				b.ReportMetric(kb/1024, "peak-MiB")
			}
		}
	}
}
