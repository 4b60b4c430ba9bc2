package evaluate_test

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
)

// TestOwnFiles: where the own files of one environment are on a disk and those
// of another are not, the workloads that write there say so.
func TestOwnFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		files string
		root  string // of runc
		fact  string
		want  string // in the text; "" no remark
	}{
		{"disk", "own", "overlay rw,relatime", "", ""},
		{"volatile", "own", "overlay rw,relatime,volatile", "", "never synced, since the overlay is mounted volatile, in runc"},
		{"memory", "own", "overlay rw", record.FilesInMemory, "in memory in runc"},
		{"elsewhere", "bind", "overlay rw,relatime,volatile", record.FilesInMemory, ""},
		{"another word", "own", "overlay rw,nonvolatile", "", ""},
	} {
		s := recordtest.Typical()
		s.Workloads[0].Params = map[string]string{"files": c.files}
		for i := range s.Envs {
			e := &s.Envs[i]
			e.Inside = record.Inside{Kernel: "6.1", Root: "ext4 rw"}
			if e.ID == "runc" {
				e.Inside.Root = c.root
				e.Facts = map[string]string{record.OwnFiles: c.fact}
			}
		}
		var got []string
		for _, r := range analyzetest.Run(t, s).Remarks {
			if r.Code == "own-files" {
				got = append(got, r.Text)
			}
		}
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
