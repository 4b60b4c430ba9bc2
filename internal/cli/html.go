package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/page"
	"plimsoll/internal/record"
	"plimsoll/internal/view"
)

// htmlFormat is the report as a page of one file.
const htmlFormat = "html"

// pageFile is the name of the report in a run's directory.
const pageFile = "report.html"

// htmlReport writes the page of one run to a file or to standard output.
func htmlReport(w World, dirs []string, f reportFlags) error {
	if len(dirs) != 1 {
		return withHint(fail(Usage, "a page is of one run, and %d are named", len(dirs)), "write one after the other, each with its own -o FILE")
	}
	if f.audit || f.overhead != "" || f.papers || f.metric != "" {
		return withHint(fail(Usage, "the page has everything in it: --audit, --overhead, --papers and --metric are for the other formats"), "plimsoll report %s --format html -o report.html", dirs[0])
	}
	if f.output == "" && w.Width() > 0 {
		return withHint(fail(Usage, "a page is not for a terminal"), "plimsoll report %s --format html -o report.html", dirs[0])
	}
	b, err := pageOf(dirs[0])
	if err != nil {
		return fail(Failed, "%w", err)
	}
	if f.output == "" {
		if _, err := w.Stdout.Write(b); err != nil {
			return fail(Failed, "writing the report: %w", err)
		}
		return nil
	}
	if err := replaceFile(f.output, b); err != nil {
		return fail(Failed, "writing the report: %w", err)
	}
	fmt.Fprintf(w.Stderr, "The report is %s: open it in a browser.\n", shortPath(f.output))
	return nil
}

// runPage writes the page into a run's directory and says where it lies. A run
// is none the worse without it.
func runPage(w World, dir string) {
	path := filepath.Join(dir, pageFile)
	b, err := pageOf(dir)
	if err == nil {
		err = replaceFile(path, b)
	}
	if err != nil {
		fmt.Fprintf(w.Stderr, "%s was not written: %v\n", shortPath(path), err)
		return
	}
	fmt.Fprintf(w.Stderr, "The report is %s: open it in a browser.\n", shortPath(path))
}

// pageOf makes the page of a run.
func pageOf(dir string) ([]byte, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	d, err := view.Build(r, view.Options{})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := page.Write(&b, d); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// replaceFile writes a file whole or not at all, so that who looks at it
// meanwhile sees the old one.
func replaceFile(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o644) // a device or a pipe stays what it is
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".plimsoll-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
