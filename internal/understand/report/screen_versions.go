package report

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// roomForVersions is how many rows leave room for the versions on a screen of 40 lines.
const roomForVersions = 20

// packaging ends the version of a distribution's package: 20.10.24+dfsg1, 1.6.20~ds1.
var packaging = regexp.MustCompile(`[+~]d(fsg|s)[0-9.]*$`)

// versions is the line about which versions were measured, of the engines and of the
// runtimes below them: the first question of who reads somebody else's numbers. One that
// several environments have in different versions has them all.
func (s *screen) versions() {
	var of analyze.Grouped[string, string]
	add := func(name, version string) {
		version = packaging.ReplaceAllString(words.Clean(version), "")
		if name != "" && version != "" && !slices.Contains(of.Of(name), version) {
			of.Add(name, version)
		}
	}
	for _, e := range s.res.Environments {
		switch {
		case e.Baseline != "":
		case e.Facts["runtime"] == "" || e.Facts["version"] != e.Facts["runtime-version"]:
			add(words.Clean(e.Engine), e.Facts["version"])
		}
	}
	for _, e := range s.res.Environments {
		add(words.Clean(e.Facts["runtime"]), e.Facts["runtime-version"])
	}
	var parts []string
	for name, all := range of.All() {
		parts = append(parts, name+" "+strings.Join(all, " and "))
	}
	text, _ := s.fits(parts, ", ", " and %d more", 0)
	s.says("Versions", text, document.Plain)
}

// untested is the line about versions and a platform that Plimsoll was not tested with.
func (s *screen) untested() {
	for _, r := range s.res.Remarks {
		if r.Code == "untested" {
			s.says("Untested", words.Clean(r.Text), document.Plain)
		}
	}
}
