package house

import (
	"errors"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// phrases are not English as people write it, each with what stands there instead. They are
// looked for in what users read: the program's texts and the documentation.
var phrases = map[string]string{
	`(?m)(?:^|(?:^|[^e ]|[^r]e|[^e]re)\s)(?:is|are|was) no (?:number|size|time|port|host|run|line|file|directory|program|name|path|value|setting|list|version|reference|revision|range|factor|engine|terminal|matter|word|digest|option|share|socket|cgroup|folder|store|target)\b`: `"is not a …"`,
	`\bis no more\b`:                        `"no longer exists"`,
	`\bof ours\b`:                           `"created by this run", "Plimsoll's"`,
	`\b[Bb]eside\b`:                         `"next to", "besides", "compared with"`,
	`\b[Ww]hoever\b`:                        `"anyone who", or the one who is meant`,
	`\bis told by\b`:                        `"is reported by"`,
	`\bsays so\b`:                           `what it reports`,
	`\bwhat it says of\b`:                   `what it reports`,
	`\b(?:that there are|which is there)\b`: `"available", "existing", "supported"`,
	`\b(?:to be had|(?:can't|cannot|not) be had)\b`: `"available", "not supported"`,
	`\blets go of\b`:                `"releases"`,
	`\b(?:tells|told) of\b`:         `"reports", "lists"`,
	`\btells no\b`:                  `"reports no"`,
	`\bin vain\b`:                   `what did not come`,
	`\blacking nothing\b`:           `"fully isolated"`,
	`\bgiving back its memory\b`:    `"process exit"`,
	`\bon its way into\b`:           `"system call entry and exit"`,
	`\bwas to be measured\b`:        `"nothing to measure"`,
	`\bthat is found here\b`:        `"command not found"`,
	`\bsomebody else's\b`:           `"someone else's"`,
	`\bby what (?:is|was|it|its)\b`: `the thing by its name`,
}

// TestPlainEnglish: no text that a user reads has a phrase that was translated rather than written.
func TestPlainEnglish(t *testing.T) {
	found := map[string]*regexp.Regexp{}
	for p := range phrases {
		found[p] = regexp.MustCompile(p)
	}
	judge := func(where, text string) {
		for p, re := range found {
			if m := re.FindString(text); m != "" {
				t.Errorf("%s: %q; write %s: %.120s", where, m, phrases[p], text[max(0, re.FindStringIndex(text)[0]-40):])
			}
		}
	}
	texts := 0
	for _, s := range sources(t) {
		if _, kit := s.below("internal/measure/engine/enginetest"); kit || strings.HasSuffix(filepath.Dir(s.path), "test") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
				texts++
				judge(s.fset.Position(l.Pos()).String(), text)
			}
			return true
		})
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			texts++
			judge(path+":"+strconv.Itoa(i+1), line)
		}
		return err
	})
	readme, rerr := os.ReadFile(filepath.Join(root, "README.md"))
	judge("README.md", string(readme))
	if err = errors.Join(err, rerr); err != nil || texts < 10000 {
		t.Errorf("%d texts were read, %v: the test looks in the wrong place", texts, err)
	}
}
