package manpages

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// shells lists the shells with the file that each looks for.
var shells = []struct {
	file string
	gen  func(root *cobra.Command, w io.Writer) error
}{
	{"plimsoll.bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"_plimsoll", (*cobra.Command).GenZshCompletion},
	{"plimsoll.fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"plimsoll.ps1", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

// Completions writes a file for each shell into dir; root makes a tree for each.
func Completions(dir string, root func() *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range shells {
		var b bytes.Buffer
		if err := s.gen(root(), &b); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.file), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
