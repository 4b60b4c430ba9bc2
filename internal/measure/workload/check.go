package workload

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// filesParameter is the parameter whose levels say where WorkDir lies.
const filesParameter = "files"

// A checker finds what is wrong with a workload beyond its form.
type checker struct {
	*yamlfile.Problems
	f *document
}

// check does so but for the combinations of levels.
func check(f *document, file string, p *yamlfile.Problems, top yamlfile.Pos) *checker {
	c := &checker{p, f}
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".yaml"), ".yml")
	if n := f.Name; n.At.Given() && n.Text != base {
		c.Add(n.At, fmt.Sprintf("name is %s", yamlfile.Quote(n.Text)), fmt.Sprintf("%s, as the file is called", yamlfile.Quote(base)))
	}
	if l := f.Limit; l.At.Given() && (l.NS < int64(time.Second) || l.NS > int64(24*time.Hour)) {
		c.Add(l.At, fmt.Sprintf("limit is %s", time.Duration(l.NS)), "from 1s to 24h")
	}
	for i := range f.Parameters {
		c.parameter(&f.Parameters[i])
	}
	c.when(f.Small, "small")
	for _, a := range f.Small {
		if len(a.Levels.List) > 1 {
			c.Add(a.Levels.List[1].At, fmt.Sprintf("small %s has %d levels", a.Key.Text, len(a.Levels.List)), "one")
		}
	}
	c.roles(top)
	for i := range f.Metrics {
		c.metric(&f.Metrics[i])
	}
	for _, l := range f.Lacks {
		if _, err := regexp.Compile(l.Says.Text); l.Says.At.Given() && err != nil {
			c.Add(l.Says.At, "says is not a regular expression: "+err.Error(), "one that RE2 understands")
		}
	}
	for i := range f.Takes {
		c.takes(&f.Takes[i])
	}
	c.diskOf()
	c.launch()
	return c
}

func (c *checker) parameter(p *parameter) {
	name := p.name.Text
	if strings.Contains(name, ".") {
		c.Add(p.name.At, "the name of a parameter is "+yamlfile.Quote(name), "a name without a dot")
	}
	// The parameters whose levels the program itself understands.
	if valid, ok := map[string][]string{
		filesParameter:     {string(FilesBind), string(FilesOwn), string(FilesVolume), string(FilesTmpfs)},
		startedByParameter: {startedByRun, startedByExec},
		perParameter:       {perRank, perNode},
	}[name]; ok {
		for _, l := range p.Levels.List {
			if !slices.Contains(valid, l.Text) {
				c.Unknown(l.At, name, l.Text, valid)
			}
		}
	}
	r := p.Number
	if !r.at.Given() {
		return
	}
	if r.Min.N > r.Max.N {
		c.Add(r.Max.At, fmt.Sprintf("max is %d", r.Max.N), fmt.Sprintf("at least min, which is %d", r.Min.N))
	}
	for _, l := range p.Levels.List {
		if !(Number{r.Min.N, r.Max.N}).Has(l.Text) {
			c.Add(l.At, fmt.Sprintf("level %s of %s", yamlfile.Quote(l.Text), name), fmt.Sprintf("a whole number from %d to %d", r.Min.N, r.Max.N))
		}
	}
}

// when checks that levels by parameter are of this workload.
func (c *checker) when(s yamlfile.Settings, what string) {
	names := c.f.parameterNames()
	for _, a := range s {
		p := c.f.parameter(a.Key.Text)
		if p == nil {
			if len(names) == 0 {
				c.Add(a.Key.At, fmt.Sprintf("%s has a parameter %s", what, yamlfile.Quote(a.Key.Text)), "none: the workload has no parameters")
			} else {
				c.Unknown(a.Key.At, "parameter", a.Key.Text, names)
			}
			continue
		}
		valid := texts(p.Levels.List)
		for _, l := range a.Levels.List {
			if !slices.Contains(valid, l.Text) && !(p.Number.at.Given() && Number{p.Number.Min.N, p.Number.Max.N}.Has(l.Text)) {
				c.Unknown(l.At, a.Key.Text, l.Text, valid)
			}
		}
	}
}

// reserved are ids that other things have.
func reserved(id string) bool {
	_, ok := record.MetricByID(id)
	return ok || id == MetricRanksDone || slices.ContainsFunc(standard, func(m record.Metric) bool { return m.ID == id })
}

func (c *checker) metric(m *metric) {
	id := m.ID.Text
	if reserved(id) {
		c.Add(m.ID.At, fmt.Sprintf("metric %s", yamlfile.Quote(id)), "another id: every workload has a metric of this name already")
	}
	if known, ok := knownMetric(id); ok && (known.Unit != m.Unit.Text || string(known.Better) != m.Better.Text) && m.Unit.At.Given() && m.Better.At.Given() {
		c.Add(m.Unit.At, fmt.Sprintf("metric %s is in %s, %s is better", id, m.Unit.Text, m.Better.Text),
			fmt.Sprintf("%s, %s is better, as in the catalogue, or another id", known.Unit, known.Better))
	}
	ways := 0
	for _, at := range []yamlfile.Pos{m.JSON.At, m.Regexp.At, m.Parser.At} {
		if at.Given() {
			ways++
		}
	}
	if ways != 1 {
		c.Add(m.at, fmt.Sprintf("metric %s comes out of the output in %d ways", id, ways), "one of json, regexp and parser")
	}
	if m.JSON.At.Given() {
		if _, err := splitPath(m.JSON.Text); err != nil {
			c.Add(m.JSON.At, err.Error(), "keys with dots between")
		}
	}
	if m.Regexp.At.Given() {
		if re, err := regexp.Compile(m.Regexp.Text); err != nil {
			c.Add(m.Regexp.At, err.Error(), "a regular expression (RE2)")
		} else if re.NumSubexp() != 1 {
			c.Add(m.Regexp.At, fmt.Sprintf("the regular expression has %d groups", re.NumSubexp()), "one, the number; (?:…) groups without counting")
		}
	}
	if m.Parser.At.Given() && parsers[m.Parser.Text] == nil {
		c.Unknown(m.Parser.At, "parser", m.Parser.Text, Parsers())
	}
	if m.Parser.At.Given() != m.Key.At.Given() {
		c.Add(m.at, fmt.Sprintf("metric %s has only one of parser and key", id), "both: key says which of the parser's numbers it is")
	}
	if m.Role.At.Given() && c.f.Roles == nil {
		c.Add(m.Role.At, "role is "+yamlfile.Quote(m.Role.Text), "no such line: the workload has only one role")
	} else if m.Role.At.Given() {
		var names []string
		for _, r := range c.f.Roles {
			names = append(names, r.name.Text)
		}
		if !slices.Contains(names, m.Role.Text) {
			c.Unknown(m.Role.At, "role", m.Role.Text, names)
		}
	}
	c.when(m.When, "when")
}

// maxChoices bounds how many combinations of levels are tried.
const maxChoices = 5000

// levels tries every combination of levels: with each, there must be a program
// to run, and each metric once.
func (c *checker) levels(top yamlfile.Pos) {
	if c.Any() {
		return
	}
	var names []string
	var lists [][]string
	n := 1
	for _, p := range c.f.Parameters {
		list := texts(p.Levels.List)
		if p.Number.at.Given() {
			list = append(list, strconv.FormatInt(p.Number.Min.N, 10), strconv.FormatInt(p.Number.Max.N, 10))
		}
		names, lists = append(names, p.name.Text), append(lists, list)
		if n *= len(list); n > maxChoices {
			c.Add(p.name.At, fmt.Sprintf("the parameters have more than %d combinations", maxChoices), "fewer levels (number: {min: …, max: …} admits many)")
			return
		}
	}
	for k := range n {
		chosen := map[string]string{}
		for i, list := range lists {
			chosen[names[i]] = list[k%len(list)]
			k /= len(list)
		}
		if what := c.choice(chosen); what != "" {
			if len(names) > 0 {
				what += " (with " + describe(chosen, names) + ")"
			}
			c.Add(top, what, "")
			return
		}
	}
}

func (c *checker) choice(chosen map[string]string) string {
	p, err := c.f.plan(chosen)
	if err != nil {
		return err.Error()
	}
	seen := map[string]bool{}
	for _, x := range p.Metrics {
		if seen[x.Metric.ID] {
			return fmt.Sprintf("metric %s is there twice", x.Metric.ID)
		}
		seen[x.Metric.ID] = true
	}
	return ""
}

func describe(chosen map[string]string, names []string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = n + " " + chosen[n]
	}
	return strings.Join(parts, ", ")
}
