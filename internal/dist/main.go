// Command dist makes what a release has beside the program: man pages,
// completions, the list of parts with their licences, archives. build.sh puts
// them together (make dist).
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
	"strconv"
	"time"
)

const usage = `usage: dist man DIR               a man page for each command
       dist completions DIR       completions for bash, zsh, fish and PowerShell
       dist notice TARGET...      the licences of all parts (TARGET: linux/amd64)
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
	stamp, err := stamped()
	if err != nil {
		return err
	}
	switch {
	case args[0] == "man" && len(args) == 2:
		return man(args[1], stamp)
	case args[0] == "completions" && len(args) == 2:
		return completions(args[1])
	case args[0] == "archive" && len(args) == 3:
		return archive(args[1], args[2], stamp.time)
	case args[0] == "notice" || args[0] == "sbom":
		parts, err := partsOf(args[1:])
		if err != nil {
			return err
		}
		if args[0] == "notice" {
			return notice(os.Stdout, parts)
		}
		return sbom(os.Stdout, parts, stamp)
	}
	return fmt.Errorf("%s", usage)
}

// stamp is what a release is known by.
type stamp struct {
	version string
	time    time.Time
}

func stamped() (stamp, error) {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil || os.Getenv("VERSION") == "" {
		return stamp{}, fmt.Errorf("VERSION and SOURCE_DATE_EPOCH (seconds) are not both given: build.sh does")
	}
	return stamp{os.Getenv("VERSION"), time.Unix(epoch, 0).UTC()}, nil
}
