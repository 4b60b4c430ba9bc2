package study

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// A bound image runs under its own name, once, and stands for the other one in
// tables and claims.
func TestBind(t *testing.T) {
	cat := market()
	s, err := Load("baresi2024", cat)
	require.NoError(t, err)
	images := map[string]string{"ubuntu:18.04": "debian", "centos:8": "debian", "alpine:3": "busybox", "ubuntu": "debian", "centos": "debian", "alpine": "busybox"}
	require.NoError(t, s.Bind(images, cat))
	p, err := Expand(s, cat, Options{})
	require.NoError(t, err)
	found, seen := map[string]int{}, map[string]bool{}
	for _, e := range p.Environments {
		if e.Engine == "docker" && e.Levels["image"] != "" {
			found[e.Levels["image"]]++
			if i := levelsOf(e); seen[i] {
				t.Errorf("%s is there twice", e.ID)
			} else {
				seen[i] = true
			}
		}
	}
	if len(found) != 2 || found["debian"] == 0 || found["busybox"] != found["debian"] {
		t.Errorf("Docker's environments with an image: %v", found)
	}
	for _, w := range p.Workloads {
		if img := w.Params["image"]; img != "" && img != "debian" && img != "busybox" {
			t.Errorf("%s is handed %s", w.ID, img)
		}
	}
	if p.Study.Images["centos:8"] != "debian" {
		t.Errorf("the plan does not keep what was bound: %v", p.Study.Images)
	}
	if !slices.ContainsFunc(p.Remarks, func(r record.Remark) bool {
		return r.Code == "images-bound" && strings.Contains(r.Text, "centos:8 is debian")
	}) {
		t.Errorf("no remark says what was bound: %+v", p.Remarks)
	}
	column := slices.IndexFunc(p.Study.Tables[0].Images, func(c record.PaperColumn) bool { return c.Published == "centos:8" })
	if got := p.Study.Tables[0].Images[column].Levels["image"]; !slices.Equal(got, []string{"centos:8", "debian"}) {
		t.Errorf("Table 3's CentOS 8 is %v", got)
	}
	claim := slices.IndexFunc(p.Study.Claims, func(c record.Claim) bool { return c.ID == "baresi2024/6c" })
	test := p.Study.Claims[claim].Tests[2]
	if got := test.To["image"]; !slices.Contains(got, "busybox") || slices.Contains(got, "debian") {
		t.Errorf("claim 6c compares with %v", got)
	}
}

func TestBadBindings(t *testing.T) {
	cat := market()
	for pair, want := range map[string]string{
		"fedora:40=debian":  `unknown image of the study to be bound "fedora:40"`,
		"alpine:3=busybux":  `unknown image "busybux"`,
		"ubuntu=fedora:40":  "the workload pull can't be handed the image",
		"alpine:3=fedora:4": "",
	} {
		s, err := Load("baresi2024", cat)
		require.NoError(t, err)
		from, to, _ := strings.Cut(pair, "=")
		err = s.Bind(map[string]string{from: to}, cat)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// full is every study's name for itself, unless it has such a scale.
func TestScaleFull(t *testing.T) {
	s, err := Load("silva2024", market())
	require.NoError(t, err)
	if full, err := s.At("full"); err != nil || full != s {
		t.Errorf("%v, %v", full, err)
	}
	own := mustRead(t, "plimsoll: 1\nname: m\nworkloads: [hello]\nenvironments: [docker]\nscales:\n  full: {protocol: {blocks: 77}}\n")
	if full, err := own.At("full"); err != nil || full.Protocol.Blocks != 77 {
		t.Errorf("%+v, %v", full, err)
	}
}

// levelsOf writes the levels of an environment.
func levelsOf(e record.Environment) string {
	var out []string
	for f, l := range e.Levels {
		out = append(out, f+"="+l)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
