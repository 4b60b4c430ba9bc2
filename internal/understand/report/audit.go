package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// namespaceLetters are the kinds of namespaces in the order of the table.
var namespaceLetters = []struct{ kind, letter, name string }{
	{"mnt", "m", "mount"}, {"pid", "p", "pid"}, {"net", "n", "network"}, {"ipc", "i", "ipc"},
	{"uts", "u", "uts"}, {"user", "U", "user"}, {"cgroup", "c", "cgroup"}, {"time", "t", "time"},
}

// inTable are the properties that the table of isolation shows.
var inTable = []string{"uid", "uid-map", "gid-map", "capabilities", "seccomp-mode", "no-new-privs", "root", "kernel", "clock"}

var auditFormats = kindOf("the equivalence audit", auditDocument,
	format[*analyze.Result]{"csv", asCSV(auditCSV)},
	jsonOf(func(res *analyze.Result) *audit.Audit { return res.Audit }),
)

func auditDocument(d *document.Document, res *analyze.Result, _ Options) {
	d.Heading(1, "Equivalence audit of "+headline(res))
	d.Heading(2, "Isolation, as the payload saw it")
	d.Add(isolationTable(res))
	d.Legend(isolationLegend())
	alike, differ := termsOf(res)
	if len(alike) > 0 {
		d.Heading(2, "The same wherever it is known")
		d.Led("   ", strings.Join(alike, ", "), document.Plain)
	}
	if len(differ) > 0 {
		d.Heading(2, "What differs")
		addDifferences(d, differ)
	}
	unequal, all := comparisons(res)
	d.Heading(2, "Comparisons")
	d.Para(comparedText(len(unequal), all))
	d.List(" - ", document.Items(unequal))
}

// addDifferences is a table, of which a page of fixed width has no room for the
// names of those that have a value.
func addDifferences(d *document.Document, all []difference) {
	t := &document.Table{Columns: document.Columns("property", "value", "environments")}
	for _, x := range all {
		if d.Medium == document.Text {
			d.Para(words.Cut(x.key, d.Width))
		}
		for value, envs := range x.values.All() {
			if d.Medium == document.Text {
				d.Led("   "+words.Cut(value, d.Width/3)+"  ", someOf(envs), document.Plain)
			}
			t.Row(x.key, value, strings.Join(envs, ", "))
		}
	}
	if d.Medium == document.Markdown {
		d.Add(t)
	}
}

// isolationTable is the isolation vector, one environment a row.
func isolationTable(res *analyze.Result) *document.Table {
	t := &document.Table{Columns: document.Columns("environment", "own ns", "user", "caps", "seccomp", "nnp", "root", "kernel"), Parts: true}
	t.Columns[3].Right = true
	names := words.Rows(lists.Map(res.Audit.Environments, func(e audit.Environment) string { return e.Env }))
	for i, e := range res.Audit.Environments {
		in := e.Isolation
		if len(in) == 0 {
			t.Rows = append(t.Rows, document.Row{Tone: document.Dim, Cells: []document.Cell{{Text: names[i]}, {Text: "nothing was seen from inside", Rest: true}}})
			continue
		}
		fs, _, _ := strings.Cut(in["root"], " ")
		t.Row(names[i], namespaces(in), userMap(in), word("capabilities", in), word("seccomp-mode", in), word("no-new-privs", in),
			cmp.Or(words.Clean(fs), "?"), kernelOf(e, res.Run.Host.Kernel))
	}
	return t
}

// namespaces shows a letter for each that is the container's own.
func namespaces(in map[string]string) string {
	var b strings.Builder
	for _, n := range namespaceLetters {
		switch in["ns."+n.kind] {
		case "own":
			b.WriteString(n.letter)
		case "host":
			b.WriteString("-")
		default:
			b.WriteString("?")
		}
	}
	return b.String()
}

// userMap says who the user inside is outside.
func userMap(in map[string]string) string {
	uid, _, _ := strings.Cut(in["uid"], ":")
	if uid == "" {
		return "?"
	}
	for line := range strings.SplitSeq(in["uid-map"], ";") {
		if f := strings.Fields(line); len(f) == 3 && f[0] == uid {
			return words.Clean(uid + " = " + f[1])
		}
	}
	return words.Clean(uid)
}

func kernelOf(e audit.Environment, host string) string {
	k := e.Isolation["kernel"]
	switch {
	case k == "":
		k = "?"
	case k == host:
		k = "host's"
	default:
		k = words.Clean(k)
	}
	if e.Isolation["clock"] == "foreign" {
		k += ", own clock"
	}
	return k
}

func word(key string, in map[string]string) string {
	return cmp.Or(words.Clean(audit.Words(key, in[key])), "?")
}

// isolationLegend explains the table.
func isolationLegend() string {
	var parts []string
	for _, n := range namespaceLetters {
		parts = append(parts, n.letter+" "+n.name)
	}
	return "own ns: namespaces of its own, " + strings.Join(parts, ", ") + "; - is the host's, ? not known. user: who the user inside is outside. " +
		"caps: the number of effective capabilities. nnp: no_new_privs. root: its file system. kernel: the host's, or the release of a guest's."
}

// alike are the properties that have one value wherever they are known, differ
// those that have several, each with its values and who has them.
func termsOf(res *analyze.Result) (alike []string, differ []difference) {
	a := res.Audit
	envs := make([]string, len(a.Environments))
	for i := range envs {
		envs[i] = a.Environments[i].Env
	}
	name := shortNames(envs)
	for _, p := range a.Properties {
		if p.Kind == audit.Isolation && (strings.HasPrefix(p.Key, "ns.") || slices.Contains(inTable, p.Key)) {
			continue
		}
		d := difference{key: words.Clean(p.Key)}
		known, value := 0, ""
		for i := range a.Environments {
			e := &a.Environments[i]
			v := e.Configuration[p.Key]
			if p.Kind == audit.Isolation {
				v = e.Isolation[p.Key]
			}
			if v != "" {
				known, value = known+1, words.Clean(audit.Words(p.Key, v))
				d.values.Add(value, name(e.Env))
			}
		}
		switch {
		case p.Kind == audit.Configuration && !audit.Comparable(p.Key):
			// An engine's own word; the format json has it.
		case known == 1:
			// Known of one only, so there is nothing to be said.
		case d.values.Len() == 1:
			alike = append(alike, d.key+" "+value)
		default:
			differ = append(differ, d)
		}
	}
	return alike, differ
}

// difference is a property with its values, each with the environments that
// have it, in the run's order.
type difference struct {
	key    string
	values analyze.Grouped[string, string]
}

// someOf names who has a value, as far as a page has room.
func someOf(envs []string) string {
	const most = 8
	if n := len(envs); n > most+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(envs[:most], ", "), n-most)
	}
	return strings.Join(envs, ", ")
}

// comparisons are the pairs that are about more than one factor, as sentences,
// and how many pairs there are in all.
func comparisons(res *analyze.Result) (unequal []string, all int) {
	for _, p := range res.Audit.Pairs {
		if len(p.Beyond) == 0 {
			continue
		}
		texts := lists.Map(audit.Describe(p.Beyond), words.Clean)
		about := "the same, twice"
		if len(p.Factors) > 0 {
			about = "by " + words.Clean(p.Factors[0])
		}
		unequal = append(unequal, fmt.Sprintf("%s and %s, %s: %s", words.Clean(p.A), words.Clean(p.B), about, strings.Join(texts, "; ")))
	}
	return unequal, len(res.Audit.Pairs)
}

// comparedText says what the list below it is.
func comparedText(unequal, all int) string {
	if all == 0 {
		return "No two environments differ in one factor only."
	}
	s := fmt.Sprintf("%s of one factor (for two engines: of the two most similar environments)", words.Plural(all, "comparison"))
	if unequal == 0 {
		return s + "; none differs in anything else known of both."
	}
	return fmt.Sprintf("%s; %d differ in more than that factor and what it brings with it:", s, unequal)
}

// auditCSV has a row for each environment and property, and one for each
// difference of a comparison that no factor brings with it.
func auditCSV(res *analyze.Result, _ Options) [][]string {
	rows := [][]string{{"run", "kind", "environment", "against", "factors", "property", "value", "value_against"}}
	for _, e := range res.Audit.Environments {
		for _, p := range res.Audit.Properties {
			v := e.Configuration[p.Key]
			if p.Kind == audit.Isolation {
				v = e.Isolation[p.Key]
			}
			if v != "" {
				rows = append(rows, []string{words.Clean(res.Run.ID), p.Kind, words.Clean(e.Env), "", "", words.Clean(p.Key), words.Clean(v), ""})
			}
		}
	}
	for _, p := range res.Audit.Pairs {
		for _, d := range p.Beyond {
			rows = append(rows, []string{words.Clean(res.Run.ID), "difference", words.Clean(p.A), words.Clean(p.B), words.Clean(strings.Join(p.Factors, ";")), words.Clean(d.Key), words.Clean(d.A), words.Clean(d.B)})
		}
	}
	return rows
}
