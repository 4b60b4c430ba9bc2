package study

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
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
		require.NoError(t, err)
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

// The claims of the papers can be read, go by their paper's name, and are
// all there.
func TestBundledClaims(t *testing.T) {
	want := map[string]string{
		"baresi2024":   "1 2 3 4 5 6a 6b 6c 6d 6e 6f 7a 7b 7c 8a 8b 9a 9b 9c 9d 9e 9f 10a 10b 10c",
		"everarts2020": "1 2 3 4 5 6 6b 7 8",
		"abraham2020":  "1 2 3 4 5 5b 6",
		"silva2024":    "1 2 2b 3",
		"arleskog2023": "1 2 3",
		"khan2026":     "1 2 3 4 5",
		"gerdes2024":   "1 2 2b 3 4",
		"sock2018":     "1 2 3 4 5 6 7",
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

// The bundled claims are valid by the schema too, where a study has them as a list.
func TestBundledClaimsBySchema(t *testing.T) {
	check := valid(t)
	files, err := fs.Glob(studies.FS, "claims/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := studies.FS.ReadFile(f)
		require.NoError(t, err)
		_, list, ok := strings.Cut(string(data), "\nclaims:\n")
		if !ok {
			t.Errorf("%s has no claims", f)
			continue
		}
		if err := check([]byte("plimsoll: 1\nname: t\nworkloads: [hello]\nenvironments: [docker]\nclaims:\n" + list)); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// Claims stand in the study or in a file beside it; what a study says of them
// replaces what the one that it extends says.
func TestClaimsOfStudy(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const list = `
claims:
  - id: mine/1
    says: Docker starts faster than Podman.
    tests: [{of: {engine: docker}, to: {engine: podman}, workload: hello, metric: startup, ratio: "< 1"}]
`
	const head = "plimsoll: 1\nname: t\nworkloads: [hello]\nenvironments: [docker]\n"
	claims := write("claims.yaml", "plimsoll-claims: 1"+list)
	inline, file := write("inline.yaml", head+strings.TrimPrefix(list, "\n")), write("file.yaml", head+"claims: {file: claims.yaml}\n")
	write("none.yaml", head)
	over := write("over.yaml", "plimsoll: 1\nname: over\nextends: ./file.yaml\nclaims:\n  - {id: mine/2, says: Other., needs: a moon}\n")
	under := write("under.yaml", "plimsoll: 1\nname: under\nextends: ./file.yaml\n")
	want := []record.Claim{{ID: "mine/1", Says: "Docker starts faster than Podman.", Tests: []record.ClaimTest{{
		Of: map[string][]string{"engine": {"docker"}}, To: map[string][]string{"engine": {"podman"}},
		Workload: record.WorkloadChoice{Names: []string{"hello"}}, Metric: "startup", Ratio: &record.Range{Text: "< 1", Max: new(1.0), MaxOpen: true},
	}}}}
	for _, path := range []string{claims, inline, file, under} {
		got, err := Claims(path, catalogue())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	if got, err := Claims(over, catalogue()); err != nil || len(got) != 1 || got[0].ID != "mine/2" {
		t.Errorf("%+v, %v", got, err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "no claims", "quick": "no claims", "nonesuch": "no bundled study", filepath.Join(dir, "no.yaml"): "can't read",
	} {
		if _, err := Claims(path, market()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	s, err := Load(file, catalogue())
	require.NoError(t, err)
	p, err := Expand(s, catalogue(), Options{})
	if err != nil || !reflect.DeepEqual(p.Study.Claims, want) {
		t.Errorf("%+v, %v", p.Study.Claims, err)
	}
}

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		text    string
		in, out []float64
		unit    string
	}{
		{"< 1ms", []float64{0, 999_999}, []float64{1e6, 2e6}, "ns"},
		{"<= 1%", []float64{0, 1}, []float64{1.01}, "percent"},
		{"15..30MB", []float64{15e6, 30e6}, []float64{14e6, 31e6}, "bytes"},
		{"-1KiB..1.5MiB", []float64{-1024, 0, 1.5 * (1 << 20)}, []float64{-1025, 2e6}, "bytes"},
		{"> 2", []float64{2.1}, []float64{2, 1}, ""},
		{">=2", []float64{2}, []float64{1.9}, ""},
		{"1.9s..3s", []float64{2e9}, []float64{1e9, 4e9}, "ns"},
	} {
		m := valueParts.FindStringSubmatch(c.text)
		if m == nil {
			t.Errorf("%s is no range", c.text)
			continue
		}
		r, ok := rangeOf(c.text, m[1], m[2], m[3], m[4], m[5], m[6], m[7])
		if !ok || r.Unit != c.unit || r.Text != c.text {
			t.Errorf("%s: %+v", c.text, r)
		}
		for _, v := range c.in {
			if !r.Holds(v) || !r.Contains(v, v) || r.Apart(v, v) {
				t.Errorf("%v is in %s", v, c.text)
			}
		}
		for _, v := range c.out {
			if r.Holds(v) || r.Contains(v, v) || !r.Apart(v, v) {
				t.Errorf("%v is not in %s", v, c.text)
			}
		}
	}
}
