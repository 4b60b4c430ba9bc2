//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Of more hosts than a terminal has lines those are drawn that have not ended, and how many
// are left out; what is drawn is drawn over from its first line.
func TestHostsProgressFits(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("node%02d", i))
	}
	var out bytes.Buffer
	w := World{Stderr: &out, Getenv: os.Getenv, ErrHeight: func() int { return 10 }}
	p := newHostsProgress(w, "bar", names)
	for i := range names {
		p.Of(i).Step("connecting")
	}
	for i := range 45 {
		p.Of(i).End()
	}
	all := strings.Split(out.String(), "\r\x1b[")
	last := strings.Split(strings.TrimSuffix(all[len(all)-1], "\n"), "\n")
	if len(last) != 9 || !strings.HasPrefix(last[0], "9A") || !strings.Contains(last[8], "and 42 hosts more") {
		t.Fatalf("%q", last)
	}
	for i := 45; i < 50; i++ {
		if !strings.Contains(strings.Join(last, "\n"), names[i]+" connecting") {
			t.Errorf("%s is not drawn: %q", names[i], last)
		}
	}
}
