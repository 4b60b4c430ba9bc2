package likeness

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/record"
)

// What is unlike is refused, and kept where it is wanted all the same; what only one
// side says is no difference.
func TestLikeness(t *testing.T) {
	was := &record.Run{ID: "abcd1234", Host: record.Host{Name: "one", OS: "Debian 12", Kernel: "6.1"}, Environments: []record.Environment{
		{ID: "a", Facts: map[string]string{"version": "1", "host": "here", "note": "x"}}, {ID: "gone", Facts: map[string]string{"version": "1"}},
	}}
	now := &record.Run{ID: was.ID, Host: record.Host{Name: "one", OS: "Debian 13", CPU: "some"}, Environments: []record.Environment{
		{ID: "a", Facts: map[string]string{"version": "1", "host": "there", "note": "y"}},
	}}
	differs := append(Machines(was.Host, now.Host), Engines(was.Environments, now.Environments)...)
	if len(differs) != 1 || differs[0].Fact != "os" || Judge(was.ID, differs, false) != nil {
		t.Fatalf("%v", differs)
	}
	differs = append(differs, Engines(was.Environments, now.Environments, "host")...)
	var unlike *Error
	if err := Judge(was.ID, differs, false); !errors.As(err, &unlike) || !strings.Contains(err.Error(), "abcd1234 can't be resumed here") || !strings.HasSuffix(err.Error(), "(a host: here → there)") {
		t.Errorf("%v", err)
	}
	if err := Judge(was.ID, differs, true); err != nil {
		t.Errorf("it is wanted: %v", err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	Keep(now, was, differs[:1], at)
	Keep(now, was, differs[1:], at)
	Keep(now, was, nil, at.Add(time.Hour))
	if len(now.Earlier) != 1 || len(now.Earlier[0].Differs) != 2 || now.Earlier[0].Host.OS != "Debian 12" || now.Earlier[0].Facts["a"]["host"] != "here" || len(now.Earlier[0].Facts) != 1 {
		t.Errorf("%+v", now.Earlier)
	}
	Keep(now, was, differs[:1], at.Add(time.Hour))
	if len(now.Earlier) != 2 {
		t.Errorf("%+v", now.Earlier)
	}
}

// What an image holds must be the same, but for the probe, which each version of this
// program brings along. A record of an earlier version says it of the whole, or not at all.
func TestImages(t *testing.T) {
	image := func(tree, rest string) []record.Image {
		return []record.Image{{Name: "toolbox", Tree: tree, WithoutProbe: rest}}
	}
	now := image("sha256:t2", "sha256:c2")
	for _, c := range []struct {
		name      string
		was       []record.Image
		sameProbe bool
		want      string // of the difference; "" for none
		unlike    bool
	}{
		{"the same", now, true, "", false},
		{"another probe alone", image("sha256:t1", "sha256:c2"), false, "", false},
		{"other content", image("sha256:t1", "sha256:c1"), true, "content of the image toolbox: sha256:c1 → sha256:c2", true},
		{"other content and another probe", image("sha256:t1", "sha256:c1"), false, "content of the image toolbox: sha256:c1 → sha256:c2", true},
		{"an earlier version's, the same", image("sha256:t2", ""), true, "", false},
		{"an earlier version's, other content", image("sha256:t1", ""), true, "content of the image toolbox: sha256:t1 → sha256:t2", true},
		{"an earlier version's, another probe", image("sha256:t1", ""), false, "content of the image toolbox: sha256:t1 → sha256:t2", false},
		{"no digest", image("", ""), true, "content of the image toolbox: not recorded → sha256:c2", false},
		{"no image", nil, true, "content of the image toolbox: not recorded → sha256:c2", false},
		{"another image's", []record.Image{{Name: "busybox", Tree: "sha256:b"}}, true, "", false},
	} {
		differs, unknown := Images(c.was, now, c.sameProbe)
		got := ""
		for _, d := range differs {
			got += d.String()
		}
		if got != c.want || c.want != "" && (differs[0].Unlike != c.unlike || (len(unknown) == 1) == c.unlike) || c.want == "" && len(unknown) > 0 {
			t.Errorf("%s: %q, unlike %v, unknown %v", c.name, got, differs, unknown)
		}
	}
}
