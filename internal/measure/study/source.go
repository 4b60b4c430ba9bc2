package study

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/studies"
)

// maxExtends bounds a chain of studies that extend each other.
const maxExtends = 8

// Source is the text of a study and where it came from.
type Source struct {
	// Path is what messages show.
	Path string
	Data []byte
	// dir and file are the folder on the host and the file's path in it; dir
	// is empty for a bundled study and for one that is no file.
	dir, file string
	bundled   bool
	// Files are the texts of files beside a study that was made in memory, by
	// their names.
	Files map[string][]byte
	// read are the files of the folder that were read, by their paths in it.
	read map[string][]byte
}

// Folder are the files that the study was read from, by their paths with slashes
// below its folder: its own, and once it was Read those that it refers to. None is
// of a bundled study.
func (s *Source) Folder() map[string][]byte { return maps.Clone(s.read) }

// Name is what the study's own file is called in its folder.
func (s *Source) Name() string { return s.file }

// Names lists the bundled studies.
func Names() []string {
	files, err := fs.Glob(studies.FS, "*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	return files
}

// Find gives a bundled study by its name, or the file at a path. A path has a
// slash in it or ends in .yaml or .yml. The error is an *Errors.
func Find(nameOrPath string) (Source, error) {
	if !yamlfile.IsPath(nameOrPath) {
		return bundled(nameOrPath)
	}
	data, err := yamlfile.ReadGiven(nameOrPath)
	if err != nil {
		return Source{}, yamlfile.CantRead(nameOrPath, "the study", err)
	}
	file := filepath.Base(nameOrPath)
	return Source{Path: nameOrPath, Data: data, dir: filepath.Dir(nameOrPath), file: file, read: map[string][]byte{file: data}}, nil
}

// Load finds and reads a study. The error is an *Errors.
func Load(nameOrPath string, cat *Catalogue) (*Study, error) {
	src, err := Find(nameOrPath)
	if err != nil {
		return nil, err
	}
	return Read(src, cat)
}

func bundled(name string) (Source, error) {
	data, err := studies.FS.ReadFile(name + ".yaml")
	if err != nil || !yamlfile.IsName(name) {
		return Source{}, &Errors{List: []*Error{noStudy(yamlfile.Pos{}, name)}}
	}
	return Source{Path: "studies/" + name + ".yaml", Data: data, bundled: true}, nil
}

func noStudy(at yamlfile.Pos, name string) *Error {
	return &Error{
		Path: at.Path, Line: at.Line, Column: at.Column,
		What:       "no bundled study " + yamlfile.Quote(name),
		Expected:   yamlfile.OneOf(Names()) + ", or the path of a file, such as ./my.yaml",
		Suggestion: yamlfile.Nearest(name, Names()),
	}
}

// parent finds the study that this one extends. A file must lie in the folder
// of the study that was asked for; symbolic links don't lead out of it.
func (s *Source) parent(ref yamlfile.Text, p *yamlfile.Problems) (Source, bool) {
	if !yamlfile.IsPath(ref.Text) {
		src, err := bundled(ref.Text)
		if err != nil {
			e := p.Add(ref.At, "", "")
			*e = *noStudy(ref.At, ref.Text)
		}
		return src, err == nil
	}
	const expected = "a bundled study's name, or a .yaml file in this study's folder"
	if s.dir == "" {
		p.Add(ref.At, fmt.Sprintf("extends is %s, but this study is not a file in a folder", yamlfile.Quote(ref.Text)), "a bundled study's name")
		return Source{}, false
	}
	return s.beside(ref.Word, p, "extends", expected)
}

// beside reads a file that a study refers to, by its path from the folder of
// the file with the reference. It must lie in the folder of the study that was
// asked for, or below; symbolic links don't lead out of it.
func (s *Source) beside(ref yamlfile.Word, p *yamlfile.Problems, what, expected string) (Source, bool) {
	if data, ok := s.Files[path.Clean(ref.Text)]; ok {
		return Source{Path: path.Clean(ref.Text), Data: data}, true
	}
	dir := path.Dir(filepath.ToSlash(s.file))
	if from, err := filepath.Rel(s.dir, filepath.Dir(ref.At.Path)); err == nil {
		dir = filepath.ToSlash(from) // the reference stands in a study that this one extends
	}
	rel := path.Join(dir, ref.Text)
	switch {
	case s.dir == "":
		p.Add(ref.At, fmt.Sprintf("%s is %s, but this study is not a file in a folder", what, yamlfile.Quote(ref.Text)), expected)
		return Source{}, false
	case !yamlfile.IsPath(path.Base(ref.Text)) || path.IsAbs(ref.Text) || !filepath.IsLocal(filepath.FromSlash(rel)):
		p.Add(ref.At, what+" is "+yamlfile.Quote(ref.Text), expected)
		return Source{}, false
	}
	data, err := readIn(s.dir, rel)
	if err != nil {
		p.Add(ref.At, fmt.Sprintf("can't read %s: %s", yamlfile.Quote(ref.Text), yamlfile.Reason(err)), expected)
		return Source{}, false
	}
	s.read[rel] = data
	return Source{Path: filepath.Join(s.dir, rel), Data: data, dir: s.dir, file: rel, read: s.read}, true
}

// readIn reads a regular file inside a folder.
func readIn(dir, rel string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return safepath.ReadIn(root, rel, yamlfile.MaxBytes, yamlfile.Expected)
}
