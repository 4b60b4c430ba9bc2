package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
)

//go:embed web/index.html
var source string

//go:embed web/style.css
var style []byte

// dist holds the script, where it was bundled before the program was built.
//
//go:embed all:dist
var dist embed.FS

// scriptFile is the name of the bundled script in dist.
const scriptFile = "plimsoll.js"

// parsed is the page, parsed once; it is a part of the program.
var parsed = template.Must(template.New("page").Parse(source))

// Style is the style sheet.
func Style() []byte { return style }

// Script is the script that draws, or nil where the program was built without
// it (make page makes it).
func Script() []byte {
	b, err := dist.ReadFile("dist/" + scriptFile)
	if err != nil {
		return nil
	}
	return b
}

// policy allows the page's own style and script and pictures that are in it,
// and nothing else: no network, no other script, no frame, no form.
func policy(style, script []byte) string {
	s := "default-src 'none'; style-src " + hash(style)
	if script != nil {
		s += "; script-src " + hash(script)
	}
	return s + "; img-src data: blob:; base-uri 'none'; form-action 'none'"
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
