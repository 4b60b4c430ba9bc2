package harmless

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// A shell reads what is printed as what was meant.
func TestShellLine(t *testing.T) {
	args := []string{"run", "my study's.yaml", "--small", "--engine", "docker,podman", "--until", "2%", "--image", "a=b:c@d", "--part", "-x", "--where=$HOME `id`", "--of=", "--a b=c", "", "*", "~", "x\ny", "50%\t'\\n é\u200b", "--of=a\x1b[1m"}
	line := ShellLine(args)
	if begin := "run 'my study'\\''s.yaml' --small --engine docker,podman --until 2% --image a=b:c@d --part '-x' "; !strings.HasPrefix(line, begin) {
		t.Errorf("%s does not begin with %s", line, begin)
	}
	if Text(line) != line {
		t.Errorf("%q is printed in another way", line)
	}
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
	require.NoError(t, err)
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, args) {
		t.Errorf("%s\nis read as %q\nnot as     %q", line, got, args)
	}
}

// The words of a line are whole, whatever stands in them, and are the line again.
func TestShellWords(t *testing.T) {
	args := []string{"run", "my study's.yaml", "--of=a  b", "", "a \"b\" c", `back\ slash`}
	line := ShellLine(args)
	words := ShellWords(line)
	if len(words) != len(args) || strings.Join(words, " ") != line {
		t.Errorf("%q", words)
	}
	if words := ShellWords(`a\ b "c d"  'e f'g`); !slices.Equal(words, []string{`a\ b`, `"c d"`, `'e f'g`}) {
		t.Errorf("%q", words)
	}
}
