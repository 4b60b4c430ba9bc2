//go:build linux

package imagestore

import (
	"context"
	"testing"

	"plimsoll/internal/measure/image"
)

// A program is found as the kernel would find it inside: over links, whole or
// relative, and never above the root.
func TestHas(t *testing.T) {
	var in tree
	for _, e := range []entry{
		{path: "/usr/bin/tool", kind: kindFile, mode: 0o755},
		{path: "/usr/bin/text", kind: kindFile, mode: 0o644},
		{path: "/bin", kind: kindLink, link: "usr/bin"},
		{path: "/usr/bin/short", kind: kindLink, link: "/bin/tool"},
		{path: "/usr/local/bin/up", kind: kindLink, link: "../../../../../bin/short"},
		{path: "/usr/bin/round", kind: kindLink, link: "round"},
		{path: "/usr/bin/gone", kind: kindLink, link: "/nowhere"},
		{path: "/usr/bin/folder", kind: kindDir, mode: 0o755},
		{path: "/opt/only", kind: kindFile, mode: 0o755},
		{path: image.WorkDir, kind: kindDir, mode: 0o755},
	} {
		in.add(e)
	}
	s := NewStore(t.TempDir(), nil, Options{})
	s.trees["made"] = &content{tree: in}
	for program, want := range map[string]bool{
		"tool": true, "short": true, "up": true, "/bin/tool": true, "/work/../opt/only": true, "../opt/only": true,
		"/bin/../opt/only": false, "text": false, "round": false, "gone": false, "folder": false, "only": false, "/opt": false, "/": false,
		"./tool": false, "bin/tool": false, "/usr/bin/tool/x": false, "tool\t": false,
	} {
		if got, err := s.Has(context.Background(), "made", program); err != nil || got != want {
			t.Errorf("Has(%q) = %v, %v, and it is %v", program, got, err, want)
		}
	}
	if _, err := s.Has(context.Background(), "nothing", "tool"); err == nil {
		t.Error("an image that there is not has programs")
	}
}
