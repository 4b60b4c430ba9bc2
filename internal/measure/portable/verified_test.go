package portable

import (
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// A way counts as verified by the script that measures so, and the manual says the same.
func TestWays(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/portable.md")
	require.NoError(t, err)
	told := map[string]bool{} // a row may name several ways
	for line := range strings.Lines(string(manual)) {
		if cells := strings.Split(strings.Trim(line, "| \n"), " | "); len(cells) == 3 {
			for by := range strings.SplitSeq(cells[1], "; ") {
				told[cells[0]+" | "+by+" | "+cells[2]] = true
			}
		}
	}
	for _, w := range Ways {
		if row := w.Engine + " | " + w.By + " | " + w.Text(); !told[row] {
			t.Errorf("docs/portable.md lacks the row %s", row)
		}
		if (w.Verified == "") != (w.Test == "") {
			t.Errorf("%s by %s: verified by %q in the script %q", w.Engine, w.By, w.Verified, w.Test)
		}
		if w.Test == "" {
			continue
		}
		script, err := os.ReadFile("../../cli/testdata/script/" + w.Test + ".txtar")
		require.NoError(t, err)
		said := w.By + ";" // of the line that says how an engine is reached
		switch w.By {
		case byProgram:
			said = "'by its command'"
		case byTLS:
			said = "TCP with TLS'"
		case byTLSUnseen: // a script doubles its quotes
			said = "certificate not checked;"
		}
		if !strings.Contains(string(script), said) {
			t.Errorf("%s by %s: the script %s does not look for %q", w.Engine, w.By, w.Test, said)
		}
	}
}

// Somebody has measured so only on Linux, and with a daemon of the kind.
func TestJudge(t *testing.T) {
	reached := func(engine, kind, os string) Found {
		return Found{Engine: engine, Kind: kind, Facts: map[string]string{"daemon-os": os}}
	}
	command := reached(Podman, bySocket, "debian 12")
	command.Reason = "no service"
	for _, c := range []struct {
		found      Found
		system     string
		unverified string // a word of it; "" is verified
	}{
		{reached(Docker, bySocket, "Debian GNU/Linux 12"), "linux", ""},
		{command, "linux", ""},
		{reached(Docker, byTLSUnseen, "Debian GNU/Linux 12"), "linux", ""},
		{reached(Docker, byPipe, "Debian GNU/Linux 12"), "linux", "vetted"},
		{reached(Podman, bySSH, "fedora"), "linux", ""},
		{reached(Podman, byTLS, "fedora"), "linux", ""},
		{reached(Docker, bySocket, "Docker Desktop"), "linux", "Docker Desktop"},
		{reached(Docker, bySocket, "Docker Desktop"), "darwin", "darwin"},
		{reached(Docker, byPipe, "Debian GNU/Linux 12"), "windows", "windows"},
		{command, "windows", "windows"},
	} {
		f := c.found
		f.judge(c.system)
		if (f.Verified != "") != (c.unverified == "") || !strings.Contains(f.Unverified, c.unverified) || f.Verified != "" && f.Unverified != "" {
			t.Errorf("%+v from %s: verified by %q, unverified: %q", c.found, c.system, f.Verified, f.Unverified)
		}
	}
	away := Found{Engine: Docker, Kind: bySocket, Reason: "it does not answer"}
	if away.judge("linux"); away.Verified+away.Unverified != "" {
		t.Errorf("what is not reached is judged: %+v", away)
	}
}
