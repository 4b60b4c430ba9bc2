package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"

	"plimsoll/internal/common/published"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// content is the data of the document.
type content struct {
	Title   string
	Version string
	Policy  string
	Style   template.CSS
	Script  template.JS
	// Bare: the program was built without the script.
	Bare   bool
	Data   template.HTML
	Papers []paper
	Static *static
	// Of a server's page: where the data are, and what is loaded.
	Source          string
	Styles, Scripts []string
}

// paper is a published study, as the script names it.
type paper struct {
	Key     string   `json:"key"`
	Authors []string `json:"authors"`
	Title   string   `json:"title"`
	Venue   string   `json:"venue"`
	Year    int      `json:"year"`
	URL     string   `json:"url,omitempty"`
}

func papers() []paper {
	out := []paper{}
	for _, s := range published.Sources() {
		out = append(out, paper{s.Key, s.Authors, s.Title, s.Venue, s.Year, s.URL()})
	}
	return out
}

// Write writes the report of a run as one HTML file.
func Write(w io.Writer, d *view.Data) error { return write(w, d, style, Script()) }

func write(w io.Writer, d *view.Data, style, script []byte) error {
	c := content{
		Title: title(d), Version: words.Clean(d.Run.Tool.Version), Policy: policy(style, script),
		Style: template.CSS(style), Bare: script == nil, Papers: papers(),
	}
	var err error
	if c.Static, err = newStatic(d); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	if script != nil {
		if bytes.Contains(script, []byte("</script")) || bytes.Contains(script, []byte("<!--")) {
			return errors.New("writing the page: its script would end its own element; bundle it again with make page")
		}
		c.Script = template.JS(script) //nolint:gosec // our own bundle, from the program itself
		packed, err := pack(d)
		if err != nil {
			return fmt.Errorf("writing the page: %w", err)
		}
		c.Data = template.HTML(packed) //nolint:gosec // base64
	}
	return parsed.Execute(w, c)
}

// pack is the data as JSON, compressed, in base64: no text of theirs can end
// the element that they stand in.
func pack(d *view.Data) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := errors.Join(json.NewEncoder(z).Encode(d), z.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func title(d *view.Data) string {
	if t := words.Clean(d.Run.Title); t != "" {
		return t
	}
	return words.Clean(d.Run.Study)
}

// ShellOptions are for Shell.
type ShellOptions struct {
	Title string
	// Data is the address of the data as JSON; empty: the scripts see to it.
	Data string
	// Styles and Scripts are addresses of further ones, loaded after the page's.
	Styles, Scripts []string
}

// Shell writes the same document for a server: without data, and with its style
// and script at /assets/plimsoll.css and /assets/plimsoll.js. The server sets
// the policy.
func Shell(w io.Writer, o ShellOptions) error {
	return parsed.Execute(w, content{
		Title: words.Clean(o.Title), Papers: papers(), Source: o.Data, Bare: Script() == nil,
		Styles:  append([]string{"/assets/plimsoll.css"}, o.Styles...),
		Scripts: append([]string{"/assets/plimsoll.js"}, o.Scripts...),
	})
}
