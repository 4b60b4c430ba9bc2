package cli

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/page"
)

// htmlFormat is the report as a page of one file.
const htmlFormat = "html"

// pageFile is the name of the report in a run's directory.
const pageFile = "report.html"

// htmlReport writes the page of one run to a file or to standard output.
func htmlReport(w World, dirs []string, f reportFlags) error {
	if len(dirs) != 1 {
		return withHint(fail(Usage, "a page shows one run, and %d are named", len(dirs)), "write one after the other, each with its own -o FILE")
	}
	if f.audit || f.overhead != "" || f.papers || f.over != "" || f.metric != "" {
		return withHint(fail(Usage, "the page has everything in it: --audit, --overhead, --papers, --over and --metric are for the other formats"), "plimsoll report %s --format html -o report.html", dirs[0])
	}
	if f.output == "" && w.Width() > 0 {
		return withHint(fail(Usage, "a page can't go to a terminal"), "plimsoll report %s --format html -o report.html", dirs[0])
	}
	d, err := f.view(dirs[0])
	if err != nil {
		return err
	}
	var b bytes.Buffer // whole, before any of it is written
	err = page.Write(&b, d)
	if err == nil {
		err = writeTo(w, f.output, func(out io.Writer) error { _, err := b.WriteTo(out); return err })
	}
	if err != nil {
		return fail(Failed, "writing the report: %w", err)
	}
	if f.output != "" {
		fmt.Fprintf(w.Stderr, "The report is %s: open it in a browser.\n", shortPath(f.output))
	}
	return nil
}

// runPage writes the page into a run's directory and says where it lies. A run
// is none the worse without it. The directory may belong to the trusted users,
// by number.
func runPage(w World, dir string, res *analyze.Result, trusted ...int) {
	path := filepath.Join(dir, pageFile)
	d, err := viewOf(dir, res)
	if err == nil {
		err = writeBy(callerOf(w, trusted...), path, func(out io.Writer) error { return page.Write(out, d) })
	}
	if err != nil {
		fmt.Fprintf(w.Stderr, "%s was not written: %v\n", shortPath(path), err)
		return
	}
	fmt.Fprintf(w.Stderr, "The report is %s: open it in a browser.\n", shortPath(path))
}
