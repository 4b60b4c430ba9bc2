package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/view"
)

// script stands for the bundle, which a test must not need.
var script = []byte(`window.plimsoll={a:"<b>",c:1&&2};`)

func written(t *testing.T, d *view.Data, script []byte) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b, d, style, script))
	return b.String()
}

// elements parses a document, refuses what no browser should have to mend, and
// gives all elements of a name.
func elements(t *testing.T, doc, name string) []*html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(doc))
	require.NoError(t, err)
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

func attr(n *html.Node, name string) string {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return ""
	}
	return n.Attr[i].Val
}

func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// TestTagsAreEven walks the tokens: each element that is opened is closed, in
// order.
func TestTagsAreEven(t *testing.T) {
	void := []string{"meta", "link", "img", "input", "br"}
	z := html.NewTokenizer(strings.NewReader(written(t, made(), script)))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("never closed: %v", open)
			}
			return
		case html.StartTagToken:
			if name, _ := z.TagName(); !slices.Contains(void, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// TestSections: what can be read without the script is there, in its order.
func TestSections(t *testing.T) {
	var ids []string
	doc := written(t, made(), script)
	for _, n := range elements(t, doc, "section") {
		ids = append(ids, attr(n, "id"))
	}
	if want := []string{"answer", "ranking", "run", "repeat"}; !slices.Equal(ids, want) {
		t.Errorf("sections %v, want %v", ids, want)
	}
	seen := map[string]bool{}
	root, _ := html.Parse(strings.NewReader(doc))
	for n := range root.Descendants() {
		if id := attr(n, "id"); id != "" {
			if seen[id] {
				t.Errorf("two elements have the id %q", id)
			}
			seen[id] = true
		}
	}
	for _, a := range elements(t, doc, "a") {
		if to, ok := strings.CutPrefix(attr(a, "href"), "#"); ok && !seen[to] {
			t.Errorf("a link leads to #%s, which is not there", to)
		}
	}
}

// TestPolicy: the hashes are those of the bytes that a browser sees, and nothing
// else may run or load.
func TestPolicy(t *testing.T) {
	scripts := [][]byte{script}
	if s := Script(); s != nil {
		scripts = append(scripts, s)
	}
	for _, s := range scripts {
		doc := written(t, made(), s)
		var policy string
		for _, m := range elements(t, doc, "meta") {
			if attr(m, "http-equiv") == "Content-Security-Policy" {
				policy = attr(m, "content")
			}
		}
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("the policy is %q", policy)
		}
		var inline int
		for _, e := range slices.Concat(elements(t, doc, "script"), elements(t, doc, "style")) {
			if ty := attr(e, "type"); ty == "application/json" || ty == "application/octet-stream" {
				continue
			}
			inline++
			sum := sha256.Sum256([]byte(text(e)))
			if h := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(policy, e.Data+"-src 'sha256-"+h+"'") {
				t.Errorf("the policy has no hash of the page's %s", e.Data)
			}
			if attr(e, "src") != "" {
				t.Errorf("the page loads %s", attr(e, "src"))
			}
		}
		if inline != 2 {
			t.Errorf("the page has %d scripts and styles, want one of each", inline)
		}
		inlineHandlers(t, doc)
	}
}

// inlineHandlers finds attributes that the policy would refuse, and addresses
// that would be loaded.
func inlineHandlers(t *testing.T, doc string) {
	t.Helper()
	root, _ := html.Parse(strings.NewReader(doc))
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("<%s> has the attribute %s", n.Data, a.Key)
			}
			if a.Key == "src" && !strings.HasPrefix(a.Val, "data:") || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s> refers to %q", n.Data, a.Val)
			}
		}
	}
}

// TestHostile: texts from outside are texts.
func TestHostile(t *testing.T) {
	for _, s := range [][]byte{script, nil} {
		doc := written(t, madeHostile(), s)
		if bytes.Contains([]byte(doc), []byte("\x1b")) || strings.Contains(doc, "\u202e") || strings.Contains(doc, "\xff") {
			t.Error("a control character or a broken one came through")
		}
		inlineHandlers(t, doc)
		if imgs := elements(t, doc, "img"); len(imgs) > 0 && !strings.HasPrefix(attr(imgs[0], "src"), "data:") {
			t.Error("a text became an img")
		}
		for _, e := range elements(t, doc, "script") {
			if strings.Contains(text(e), "alert") {
				t.Errorf("a text is in a script: %.80q", text(e))
			}
		}
		if n := strings.Count(doc, "&lt;/script&gt;"); n < 20 {
			t.Errorf("the text is shown %d times: the test does not look where it is", n)
		}
	}
	var b bytes.Buffer
	require.NoError(t, Shell(&b, ShellOptions{Title: hostile, Data: "/api/x", Scripts: []string{"/assets/web.js"}}))
	for _, e := range elements(t, b.String(), "script") {
		if strings.Contains(text(e), "alert") {
			t.Error("a title is in a script of the shell")
		}
	}
}

// TestData: what is packed is the data.
func TestData(t *testing.T) {
	d := madeHostile()
	for _, e := range elements(t, written(t, d, script), "script") {
		if attr(e, "id") != "data" {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(text(e))
		require.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		var got view.Data
		require.NoError(t, json.NewDecoder(z).Decode(&got))
		// JSON itself makes broken characters whole, once.
		var want view.Data
		a, _ := json.Marshal(d)
		require.NoError(t, json.Unmarshal(a, &want))
		a, _ = json.Marshal(want)
		b, _ := json.Marshal(got)
		if !bytes.Equal(a, b) {
			t.Errorf("the data came back changed: %d bytes, want %d", len(b), len(a))
		}
		return
	}
	t.Error("the page has no data")
}

// TestWithoutScript: a program without the bundle writes a page that says so.
func TestWithoutScript(t *testing.T) {
	doc := written(t, made(), nil)
	if strings.Contains(doc, "octet-stream") || strings.Contains(doc, "script-src") {
		t.Error("there are data or a rule for a script that is not there")
	}
	if !strings.Contains(doc, "built without its charts") {
		t.Error("the page does not say what is missing")
	}
	if err := write(&bytes.Buffer{}, made(), style, []byte("x</script>")); err == nil {
		t.Error("a script that ends its own element was taken")
	}
	bad := made()
	bad.Trust[0].Level = "fine"
	if err := write(&bytes.Buffer{}, bad, style, nil); err == nil {
		t.Error("a level of trust that is none was taken")
	}
}

// TestGolden holds the part that is read without the script.
func TestGolden(t *testing.T) {
	doc := regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(written(t, made(), nil), "<style></style>")
	doc = regexp.MustCompile(`sha256-.*?=|data:image/svg[^"]*`).ReplaceAllString(doc, "X")
	golden.Check(t, "testdata/static.html", doc)
}

// TestShell: a server's page loads what it names, in order, and nothing inline.
func TestShell(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, Shell(&b, ShellOptions{Title: "Runs", Data: "/api/runs/1", Styles: []string{"/assets/web.css"}, Scripts: []string{"/assets/web.js"}}))
	doc := b.String()
	var loads []string
	for _, e := range slices.Concat(elements(t, doc, "link"), elements(t, doc, "script")) {
		if attr(e, "type") == "application/json" {
			continue
		}
		if strings.TrimSpace(text(e)) != "" {
			t.Errorf("the shell has an inline %s", e.Data)
		}
		loads = append(loads, attr(e, "href")+attr(e, "src"))
	}
	if want := []string{"/assets/plimsoll.css", "/assets/web.css", "/assets/plimsoll.js", "/assets/web.js"}; !slices.Equal(loads, want) {
		t.Errorf("it loads %v, want %v", loads, want)
	}
	if src := attr(elements(t, doc, "body")[0], "data-src"); src != "/api/runs/1" {
		t.Errorf("data-src is %q", src)
	}
	if len(Style()) == 0 {
		t.Error("there is no style")
	}
}

// TestModules runs the tests of the page's own modules.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the tests of the page's modules need it")
	}
	files, err := filepath.Glob("web/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q: %v", files, err)
	}
	for _, file := range files { // by itself: node --test would start one for each beside its own
		cmd := exec.Command(node, filepath.Base(file))
		cmd.Dir = "web"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
