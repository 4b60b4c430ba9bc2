//go:build linux && !unit

package inbrowser_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/page/browsertest"
)

// The page of several hosts as a reader has it: its picture is drawn, nothing is wider
// than the page or a phone, and it can be used without a mouse and without a script.
func TestHostsPage(t *testing.T) {
	b := browsertest.Begin(t)
	g := hosts.NewGathering(hosts.Options{})
	every := factors.EveryOnHosts(factors.Options{Bare: true})
	var judging hosts.Judging
	for _, s := range recordtest.Fleet(6, 8) {
		s.Claims = recordtest.FleetClaims()
		r := analyzetest.Run(t, s)
		try(t, errors.Join(g.Add(r, s.ID), every.Add(s.Host.Name, r)))
		judging.Add(s.Host.Name, r)
	}
	path := filepath.Join(t.TempDir(), "hosts.html")
	f := must(os.Create(path))(t)
	try(t, errors.Join(page.WriteHosts(f, must(g.Hosts())(t), every.Result(), judging.Claims()), f.Close()))
	for _, o := range []browsertest.Options{{}, {NoScript: true, Width: 390, Height: 844}} {
		p := must(b.Open(path, o))(t)
		if look := must(p.Look("img"))(t); !look.Drawn() {
			t.Errorf("nothing is drawn: %+v", look)
		}
		if dir := os.Getenv("PLIMSOLL_LOOK"); dir != "" { // to look at it
			try(t, os.WriteFile(filepath.Join(dir, "hosts.png"), must(p.Picture("body"))(t), 0o600))
		}
		if !o.NoScript {
			browsertest.Accessible(t, p)
		}
		if wider, err := p.Wider(); err != nil || len(wider) > 0 {
			t.Errorf("wider than the page: %v %v", wider, err)
		}
		if problems, err := p.Problems(); err != nil || len(problems) > 0 {
			t.Errorf("the page has problems: %v %v", problems, err)
		}
		p.Close()
	}
}
