package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"plimsoll/internal/record"
)

// Version and Commit are stamped by the build.
var (
	Version = "0.1.0-dev"
	Commit  = ""
)

// tool says which program this is.
func tool() record.Tool {
	t := record.Tool{Version: Version, Commit: Commit, Go: runtime.Version()}
	if bi, ok := debug.ReadBuildInfo(); ok && t.Commit == "" {
		for _, s := range bi.Settings {
			if s.Key == "vcs.revision" {
				t.Commit = s.Value
			}
		}
	}
	return t
}

// versionLine is the version in one line.
func versionLine() string {
	t := tool()
	s := "plimsoll " + t.Version
	if t.Commit != "" {
		s += fmt.Sprintf(" (%.12s)", t.Commit)
	}
	return s + fmt.Sprintf(", record format %d, %s, %s/%s", record.FormatVersion, t.Go, runtime.GOOS, runtime.GOARCH)
}

type versionJSON struct {
	record.Tool
	Format   int    `json:"record_format"`
	Platform string `json:"platform"`
}

func versionCommand(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program and of the record format",
		Args:    cobra.NoArgs,
		Example: "  plimsoll version\n  plimsoll version --format json",
		RunE: func(*cobra.Command, []string) error {
			t := tool()
			t.Probe = probeDigest()
			if format == "json" {
				return printJSON[versionJSON](w.Stdout, versionJSON{t, record.FormatVersion, runtime.GOOS + "/" + runtime.GOARCH})
			}
			fmt.Fprintln(w.Stdout, versionLine())
			return nil
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

// printJSON writes v as indented JSON. Its callers name the type, whose fields a test holds.
func printJSON[T any](w io.Writer, v T) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
