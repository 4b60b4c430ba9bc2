// Command dist makes what a release has beside the program: the list of parts
// with their licences, archives. build.sh puts them together (make dist), and with
// them what the command manual makes of the command line.
//
// It is opinionated: the same commit gives the same bytes, so no clock and no
// directory of the builder's machine gets into a file, and a part whose licence
// is not known ends the build.
//
// Why it is so: docs/decisions/building.md.
package main

import (
	"fmt"
	"os"

	"plimsoll/internal/dist/stamp"
)

const usage = `usage: dist notice TARGET...      the licences of all parts (TARGET: linux/amd64)
       dist sbom TARGET...        the parts as CycloneDX JSON
       dist archive FILE DIR      DIR as FILE.tar.gz or FILE.zip
Stamped by VERSION and SOURCE_DATE_EPOCH.`

func main() {
	if err := dist(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func dist(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s", usage)
	}
	s, err := stamp.Read()
	if err != nil {
		return err
	}
	switch {
	case args[0] == "archive" && len(args) == 3:
		return archive(args[1], args[2], s.Time)
	case args[0] == "notice" || args[0] == "sbom":
		parts, err := partsOf(args[1:])
		if err != nil {
			return err
		}
		if args[0] == "notice" {
			return notice(os.Stdout, parts)
		}
		return sbom(os.Stdout, parts, s)
	}
	return fmt.Errorf("%s", usage)
}
