package seen

import (
	"os"
	"path/filepath"
	"testing"
)

// A test is skipped where axe-core is not installed, but not in CI, and not for
// another reason.
func TestWithoutAxe(t *testing.T) {
	dir := t.TempDir()
	_, none := Axe(dir)
	path := filepath.Join(dir, "internal/understand/page/browsertest/node_modules/axe-core/axe.min.js")
	if err := os.MkdirAll(path, 0o700); err != nil { // no file, so that it can't be read
		t.Fatal(err)
	}
	_, broken := Axe(dir)
	if broken == nil || !Excused(none, "") || !Excused(none, "false") || Excused(none, "true") || Excused(none, "1") || Excused(broken, "") || Excused(nil, "") {
		t.Errorf("without axe-core: %v; one that can't be read: %v", none, broken)
	}
}
