package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"plimsoll/internal/understand/page"
)

// assets are the scripts and the style of the pages here; the charts, and what
// draws a run, are the report's own (package page).
//
//go:embed assets
var assets embed.FS

// pageRuns is the list of the runs, which its script fills.
func (s *Server) pageRuns(w http.ResponseWriter, r *http.Request) {
	s.shell(w, r, page.ShellOptions{Title: "Runs", Scripts: []string{"/assets/index.js"}})
}

// shell sends the report's page with the scripts from here.
func (s *Server) shell(w http.ResponseWriter, r *http.Request, o page.ShellOptions) {
	o.Styles = []string{"/assets/web.css"}
	o.Scripts = append([]string{"/assets/web.js"}, o.Scripts...)
	var b bytes.Buffer
	if err := page.Shell(&b, o); err != nil {
		s.log.Print("writing a page: ", err)
		refuse(w, http.StatusInternalServerError, "the page could not be made", "see what plimsoll serve printed")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	serve(w, r, b.Bytes())
}

// pageRun is the report's page, whose script fetches its data here.
func (s *Server) pageRun(w http.ResponseWriter, r *http.Request) {
	p := s.listing.find(r.PathValue("id"))
	if p == nil {
		refuse(w, http.StatusNotFound, "there is no such run", "/ lists the runs")
		return
	}
	sum := s.summary(p)
	if sum.Status == broken {
		refuse(w, http.StatusUnprocessableEntity, "this run cannot be read", sum.Problem)
		return
	}
	o := page.ShellOptions{Title: titleOf(sum), Data: "/api/runs/" + p.id, Scripts: []string{"/assets/run.js"}}
	if sum.Status == running || sum.Killed {
		o.Scripts = append(o.Scripts, "/assets/live.js")
	}
	s.shell(w, r, o)
}

func titleOf(s Summary) string {
	return cmp.Or(s.Title, s.Study) + " – " + s.Name
}

// serve sends bytes that a client may have already.
func serve(w http.ResponseWriter, r *http.Request, b []byte) {
	sum := sha256.Sum256(b)
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:9])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

var assetTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	var b []byte
	switch name {
	case "plimsoll.js":
		b = page.Script()
	case "plimsoll.css":
		b = page.Style()
	default:
		var err error
		if b, err = assets.ReadFile("assets/" + name); err != nil || !fs.ValidPath(name) || strings.Contains(name, "/") {
			refuse(w, http.StatusNotFound, "there is no such file", "/ lists the runs")
			return
		}
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	serve(w, r, b)
}
