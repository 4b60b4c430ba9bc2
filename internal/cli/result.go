package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/view"
)

// openRun opens a run, or says where the run is that was probably meant.
func openRun(dir string) (*record.Reader, error) {
	r, err := record.Open(dir)
	if err == nil {
		return r, nil
	}
	err = fail(Failed, "%w", err)
	if hint := meant(dir); hint != "" {
		return nil, withHint(err, "%s", hint)
	}
	return nil, err
}

// meant guesses which run was meant by what is none; "" where there is nothing
// to go by.
func meant(dir string) string {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if near := nearRun(dir); near != "" {
			return "did you mean " + near + "?"
		}
		return "plimsoll run makes one, and says where it is"
	case err != nil:
		return ""
	case !info.IsDir():
		if parent := filepath.Dir(dir); holdsRun(parent) {
			return "it belongs to the run " + parent + ": give that directory"
		}
		return ""
	case holdsRun(dir): // it is damaged, and the error says how
		return ""
	}
	if runs, _, err := record.Find([]string{dir}); err == nil && len(runs) > 0 {
		if n := countHosts(runs); n > 1 {
			return fmt.Sprintf("it holds runs of %d hosts: plimsoll report %s, and findings, advise, compare and factors too, read them together; any other command takes the run of one", n, shortPath(dir))
		}
		s := "it holds " + runs[len(runs)-1]
		if len(runs) > 1 {
			s = fmt.Sprintf("it holds %d runs, %s the last by name; plimsoll history %s goes through all", len(runs), runs[len(runs)-1], dir)
		}
		return s
	}
	return ""
}

// countHosts is of how many hosts runs are; those that can't be read are left out.
func countHosts(runs []string) int {
	var machines []record.Host
	var dirs []string
	for _, dir := range runs {
		if r, err := record.Open(dir); err == nil {
			machines, dirs = append(machines, r.Run().Host), append(dirs, dir)
		}
	}
	_, n := hosts.Told(machines, dirs)
	return n
}

func holdsRun(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, record.RunFile))
	return err == nil
}

// nearRun is the run beside where dir should be whose name is nearest to it.
func nearRun(dir string) string {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if holdsRun(filepath.Join(filepath.Dir(dir), e.Name())) {
			names = append(names, e.Name())
		}
	}
	near := yamlfile.Nearest(filepath.Base(dir), names)
	if near == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(dir), near)
}

// whichRun asks for the directory of a run where none was given, and names the
// newest one here.
func whichRun(command string) error {
	found, _ := filepath.Glob("plimsoll-run-*") // the pattern is well-formed
	found = slices.DeleteFunc(found, func(d string) bool { return !holdsRun(d) })
	err := fail(Usage, "%s of which run? no directory is given", command)
	if len(found) == 0 {
		return withHint(err, "plimsoll run makes one, and says where it is")
	}
	slices.SortFunc(found, func(a, b string) int { return strings.Compare(b, a) })
	return withHint(err, "the newest one here is %s", found[0])
}

// readResult analyses the run in a directory.
func readResult(dir string) (*analyze.Result, error) { return readWith(dir, evaluate.Options{}) }

func readWith(dir string, o evaluate.Options) (*analyze.Result, error) {
	r, err := openRun(dir)
	if err != nil {
		return nil, err
	}
	res, err := evaluate.Run(r, o)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	return res, nil
}

// viewOf gives what pages and pictures draw of the run in a directory, from its
// analysis where there is one already.
func viewOf(dir string, res *analyze.Result) (*view.Data, error) {
	r, err := openRun(dir)
	if err != nil {
		return nil, err
	}
	d, err := view.Build(r, view.Options{Result: res})
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	return d, nil
}

// nothingYet says why a result is empty and what to do, "" where it is not.
func nothingYet(res *analyze.Result, dir string) string {
	switch {
	case res.Run.Trials > 0 || res.Run.Imported != nil:
		return ""
	case res.Run.Status == "running":
		return fmt.Sprintf("%s holds no trial yet: if it is being measured, look again soon; if it was cut off, plimsoll run --resume %s continues", dir, dir)
	}
	return fmt.Sprintf("%s holds no trial: plimsoll run --resume %s measures it", dir, dir)
}

// chosen gives an error of a comparison its status, and a wrong word the
// nearest one that there is.
func chosen(err error) error {
	var choice *analyze.ChoiceError
	if !errors.As(err, &choice) {
		return fail(Failed, "%w", err)
	}
	e := fail(Usage, "%w", err)
	if near := yamlfile.Nearest(choice.Word, choice.Known); near != "" {
		return withHint(e, "did you mean %q?", near)
	}
	return e
}
