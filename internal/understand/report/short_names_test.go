package report

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// Two long names that have the same beginning and the same end.
const (
	longRootful  = "podman/crun/overlay/network-none/rootful/busybox"
	longRootless = "podman/crun/overlay/network-none/rootless/busybox"
)

// Wherever environments are called by short names, two of them are called by two.
func TestShortNamesDiffer(t *testing.T) {
	both := []string{longRootful, longRootless}
	for where, text := range map[string]string{
		"what else differs": strings.Join(factLines([]compare.Fact{
			{Where: "environment", Env: longRootful, Key: "only in", Base: "BASE"}, {Where: "environment", Env: longRootless, Key: "only in", Base: "BASE"},
		}), "\n"),
		"a protocol's table": func() string {
			rows := envTable(2, func(i int) string { return both[i] }).Rows
			return rows[0].Cells[0].Text + " " + rows[1].Cells[0].Text
		}(),
		"a remark": (&remarkGroup{remarks: []record.Remark{{Env: longRootful, Text: "It is so."}, {Env: longRootless, Text: "It is so."}}}).text(),
		"a ranking for a use": func() string {
			a := &advise.Advice{}
			for _, env := range both {
				a.Ranked = append(a.Ranked, advise.Ranked{Env: env, Front: true, Score: sample.Estimate{Value: 1}})
			}
			rows := adviceTable(a).Rows
			return rows[0].Cells[0].Text + " " + rows[1].Cells[0].Text
		}(),
	} {
		var names []string
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,():\n", r) }) {
			if strings.HasPrefix(word, "podman") {
				names = append(names, word)
			}
		}
		if len(names) != 2 || names[0] == names[1] {
			t.Errorf("%s: %q names %q", where, text, slices.Compact(names))
		}
	}
}
