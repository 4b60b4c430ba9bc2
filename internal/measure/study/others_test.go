package study

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// others is all that a list does not name: a new engine or workload comes into
// the study everything without anybody's hand.
func TestOthers(t *testing.T) {
	cat := market()
	cat.Engines = append(cat.Engines, EngineInfo{Name: "newcomer"})
	cat.Workloads = append(cat.Workloads, WorkloadInfo{Name: "new-work"})
	s, err := Load("everything", cat)
	require.NoError(t, err)
	var engines, workloads []string
	for _, e := range s.Parts[0].Environments {
		engines = append(engines, e.Engines...)
	}
	for _, w := range s.Parts[0].Workloads {
		workloads = append(workloads, w.Name)
	}
	for _, e := range cat.Engines {
		n := len(slices.DeleteFunc(slices.Clone(engines), func(x string) bool { return x != e.Name }))
		if want := !e.Baseline && !e.Simulated || e.Name == "native"; n > 1 || want != (n == 1) {
			t.Errorf("%s is in everything %d times", e.Name, n)
		}
	}
	for _, w := range cat.Workloads {
		if n := len(slices.DeleteFunc(slices.Clone(workloads), func(x string) bool { return x != w.Name })); n != 1 {
			t.Errorf("%s is in everything %d times", w.Name, n)
		}
	}
	_, err = Read(Source{Path: "x.yaml", Data: []byte("plimsoll: 1\nname: x\nworkloads: [{name: others, parameters: {count: 3}}]\nenvironments: [others]\n")}, cat)
	if err == nil || !strings.Contains(err.Error(), "others has parameters") {
		t.Errorf("others with parameters: %v", err)
	}
}
