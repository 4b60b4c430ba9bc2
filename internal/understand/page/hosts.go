package page

import (
	"bytes"
	_ "embed" // the page's parts
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/words"
)

//go:embed web/hosts.html
var hostsSource string

var hostsPage = template.Must(template.Must(template.New("page").Parse(source)).New("hosts").Parse(hostsSource))

// maxForests bounds the pictures of a page over several hosts; beyond it there are tables.
const maxForests = 24

// hostsContent is the data of the document.
type hostsContent struct {
	Title, Scope, Policy string
	Style                template.CSS
	Hosts                *document.Table
	Remarks              *document.Table
	Tables               []hostsPart
	Factors              []factorsPart
	Findings             *findingsPart // nil where the study claims nothing
	Legend               []string
}

// hostsPart is one metric of one workload.
type hostsPart struct {
	ID, Title string
	Says      []string
	Picture   template.URL
	Alt       string
	Pooled    *document.Table
	Times     *document.Table
	Rows      []listing
}

// factorsPart is what factors do on the hosts to one metric of a group of workloads.
type factorsPart struct {
	Title  string
	Says   []string
	Table  *document.Table
	Legend []string
}

// findingsPart is on which hosts a study's claims hold.
type findingsPart struct {
	Title  string
	Table  *document.Table
	Legend []string
}

// WriteHosts writes what several hosts say together as one HTML file, which needs no
// script: sentences, a forest plot for each metric, which factor depends on the host, where
// claims hold, and every number in tables. There may be no claims: nil.
func WriteHosts(w io.Writer, h *hosts.Hosts, f []*factors.OverHosts, claims *hosts.Claims) error {
	c := hostsContent{Policy: policy(style, nil), Style: template.CSS(style)} //nolint:gosec // our own, from the program itself
	c.Title, c.Scope, c.Hosts, c.Legend = report.HostsTitle(h), words.Sentence(report.HostsScope(h)), report.HostTable(h), report.HostsLegend(h)
	if len(h.Remark) > 0 {
		c.Remarks = report.RemarkTable(h.Remark)
	}
	for i := range h.Tables {
		part, err := hostsPartOf(h, i)
		if err != nil {
			return fmt.Errorf("writing the page: %w", err)
		}
		c.Tables = append(c.Tables, part)
	}
	for _, x := range f {
		part := factorsPart{Title: words.Upper(report.HostFactorsTitle(x)), Says: report.HostFactorSentences(x), Legend: report.HostFactorsLegend(x)}
		if x.Missing == "" {
			part.Table = report.HostFactorsTable(x)
		}
		c.Factors = append(c.Factors, part)
	}
	if claims != nil {
		c.Findings = &findingsPart{report.HostClaimsTitle(claims), report.HostClaimsTable(claims), report.HostClaimsLegend()}
	}
	return hostsPage.Execute(w, c)
}

func hostsPartOf(h *hosts.Hosts, i int) (hostsPart, error) {
	t := &h.Tables[i]
	out := hostsPart{ID: fmt.Sprintf("metric-%d", i+1), Title: report.HostsTableTitle(t), Says: report.HostSentences(h, t), Times: report.TimesTable(h, t)}
	if h.Pools && len(t.Rows) > 0 {
		out.Pooled = report.PooledTable(t)
	}
	for k := range t.Rows {
		r := &t.Rows[k]
		out.Rows = append(out.Rows, listing{fmt.Sprintf("%s-%d", out.ID, k+1), words.Name(r.Env) + " / " + words.Name(r.Against), report.WholeRowTable(h, t, r)})
	}
	if i >= maxForests {
		return out, nil
	}
	var b bytes.Buffer
	switch err := plot.Hosts(&b, "svg", h, plot.Options{Workload: t.Workload, Metric: t.Metric.ID}); {
	case errors.Is(err, plot.ErrNoData):
	case err != nil:
		return out, err
	default:
		out.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())) //nolint:gosec // base64
		out.Alt = "Forest plot; the tables below have its numbers. " + strings.Join(out.Says, " ")
	}
	return out, nil
}
