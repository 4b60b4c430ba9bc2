package study

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/yamlfile"
	"plimsoll/studies"
)

// bundledClaims reads every file of claims that comes with the program.
func bundledClaims(t *testing.T) map[string][]record.Claim {
	t.Helper()
	files, err := fs.Glob(studies.FS, "claims/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string][]record.Claim{}
	for _, f := range files {
		data, err := studies.FS.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p := &yamlfile.Problems{}
		list := readClaims(Source{Path: f, Data: data}, market(), p)
		name := strings.TrimSuffix(path.Base(f), ".yaml")
		c := &checker{Problems: p, cat: market()}
		out[name] = c.claims(list, name)
		if err := p.Err(); err != nil {
			t.Errorf("%v", err)
		}
	}
	return out
}

// The claims of the five papers can be read, go by their paper's name, and are
// all there.
func TestBundledClaims(t *testing.T) {
	want := map[string]string{
		"baresi2024":   "1 2 3 4 5 6a 6b 6c 6d 6e 6f 7a 7b 7c 8a 8b 9a 9b 9c 9d 9e 9f 10a 10b 10c",
		"everarts2020": "1 2 3 4 5 6 6b 7 8",
		"abraham2020":  "1 2 3 4 5 5b 6",
		"silva2024":    "1 2 2b 3",
		"arleskog2023": "1 2 3",
	}
	all := bundledClaims(t)
	tested := 0
	for name, ids := range want {
		var got []string
		for _, c := range all[name] {
			got = append(got, strings.TrimPrefix(c.ID, name+"/"))
			if len(c.Tests) > 0 || c.Features != "" {
				tested++
			}
		}
		if s := strings.Join(got, " "); s != ids {
			t.Errorf("%s: claims %s, want %s", name, s, ids)
		}
	}
	if tested < 25 {
		t.Errorf("only %d claims have tests", tested)
	}
}
