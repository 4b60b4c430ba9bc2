package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"plimsoll/internal/cli"
)

// shells lists the shells with the file that each looks for.
var shells = []struct {
	file string
	gen  func(w io.Writer) error
}{
	{"plimsoll.bash", func(w io.Writer) error { return cli.Root(cli.World{}).GenBashCompletionV2(w, true) }},
	{"_plimsoll", func(w io.Writer) error { return cli.Root(cli.World{}).GenZshCompletion(w) }},
	{"plimsoll.fish", func(w io.Writer) error { return cli.Root(cli.World{}).GenFishCompletion(w, true) }},
	{"plimsoll.ps1", func(w io.Writer) error { return cli.Root(cli.World{}).GenPowerShellCompletionWithDesc(w) }},
}

// completions writes a file for each shell into dir.
func completions(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range shells {
		var b bytes.Buffer
		if err := s.gen(&b); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, s.file), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
