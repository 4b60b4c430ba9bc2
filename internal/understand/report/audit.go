package report

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// namespaceLetters are the kinds of namespaces in the order of the table.
var namespaceLetters = []struct{ kind, letter, name string }{
	{"mnt", "m", "mount"}, {"pid", "p", "pid"}, {"net", "n", "network"}, {"ipc", "i", "ipc"},
	{"uts", "u", "uts"}, {"user", "U", "user"}, {"cgroup", "c", "cgroup"}, {"time", "t", "time"},
}

// inTable are the properties that the table of isolation shows.
var inTable = []string{"uid", "uid-map", "gid-map", "capabilities", "seccomp-mode", "no-new-privs", "root", "kernel", "clock"}

// isolationGrid is the isolation vector, one environment a row.
func isolationGrid(res *analyze.Result) *grid {
	g := &grid{cols: []col{{title: "environment"}, {title: "own ns"}, {title: "user"}, {title: "caps", right: true},
		{title: "seccomp"}, {title: "nnp"}, {title: "root"}, {title: "kernel"}}}
	for _, e := range res.Audit.Environments {
		r := row{cells: []string{nameOf(e.Env)}}
		if len(e.Isolation) == 0 {
			r.note, r.noteAt, r.style = "nothing was seen from inside", 1, "dim"
			g.rows = append(g.rows, r)
			continue
		}
		in := e.Isolation
		fs, _, _ := strings.Cut(in["root"], " ")
		r.cells = append(r.cells, namespaces(in), userMap(in),
			word("capabilities", in), word("seccomp-mode", in), word("no-new-privs", in), orUnknown(clean(fs)), kernelOf(e, res.Run.Host.Kernel))
		g.rows = append(g.rows, r)
	}
	return g
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
			return clean(uid + " = " + f[1])
		}
	}
	return clean(uid)
}

func kernelOf(e audit.Environment, host string) string {
	k := e.Isolation["kernel"]
	switch {
	case k == "":
		k = "?"
	case k == host:
		k = "host's"
	default:
		k = clean(k)
	}
	if e.Isolation["clock"] == "foreign" {
		k += ", own clock"
	}
	return k
}

func word(key string, in map[string]string) string {
	return orUnknown(clean(audit.Words(key, in[key])))
}

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
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
	for _, p := range a.Properties {
		if p.Kind == audit.Isolation && (strings.HasPrefix(p.Key, "ns.") || slices.Contains(inTable, p.Key)) {
			continue
		}
		d := difference{key: clean(p.Key)}
		for i := range a.Environments {
			e := &a.Environments[i]
			v := e.Configuration[p.Key]
			if p.Kind == audit.Isolation {
				v = e.Isolation[p.Key]
			}
			if v != "" {
				d.add(clean(audit.Words(p.Key, v)), nameOf(e.Env))
			}
		}
		switch {
		case p.Kind == audit.Configuration && !audit.Comparable(p.Key):
			// An engine's own word; the format json has it.
		case len(d.values) == 1 && len(d.values[0].envs) == 1:
			// Known of one only, so there is nothing to be said.
		case len(d.values) == 1:
			alike = append(alike, d.key+" "+d.values[0].value)
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
	values []valueOf
}

type valueOf struct {
	value string
	envs  []string
}

func (d *difference) add(value, env string) {
	i := slices.IndexFunc(d.values, func(v valueOf) bool { return v.value == value })
	if i < 0 {
		d.values = append(d.values, valueOf{value: value})
		i = len(d.values) - 1
	}
	d.values[i].envs = append(d.values[i].envs, env)
}

// text names who has the value, as far as a page has room.
func (v valueOf) text() string {
	const most = 8
	if n := len(v.envs); n > most+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(v.envs[:most], ", "), n-most)
	}
	return strings.Join(v.envs, ", ")
}

// comparisons are the pairs that are about more than one factor, as sentences,
// and how many pairs there are in all.
func comparisons(res *analyze.Result) (unequal []string, all int) {
	for _, p := range res.Audit.Pairs {
		if len(p.Beyond) == 0 {
			continue
		}
		texts := audit.Describe(p.Beyond)
		for i := range texts {
			texts[i] = clean(texts[i])
		}
		about := "the same, twice"
		if len(p.Factors) > 0 {
			about = "by " + clean(p.Factors[0])
		}
		unequal = append(unequal, fmt.Sprintf("%s and %s, %s: %s", clean(p.A), clean(p.B), about, strings.Join(texts, "; ")))
	}
	return unequal, len(res.Audit.Pairs)
}

// comparedText says what the list below it is.
func comparedText(unequal, all int) string {
	if all == 0 {
		return "No two environments differ in one factor only."
	}
	s := fmt.Sprintf("%s of one factor (of two engines: of the two environments most alike)", Plural(all, "comparison"))
	if unequal == 0 {
		return s + "; none differs in anything else that is known of both."
	}
	return fmt.Sprintf("%s; %d differ in more than that factor and what it brings with it:", s, unequal)
}
