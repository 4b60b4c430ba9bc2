package build

import (
	"fmt"
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/engine"
)

var format = yamlfile.Format{Noun: "file of builds", Plural: "files of builds", Key: "plimsoll-builds", Version: 1}

type document struct {
	Format yamlfile.Count                        `key:"plimsoll-builds" jsonschema:"required,minimum=1,maximum=1"`
	Builds yamlfile.Keyed[yamlfile.Keyed[level]] `key:"builds" jsonschema:"required"`
}

// bound is what a level stands for: a program, if it is not the one on the PATH, with a
// configuration.
type bound struct {
	Program yamlfile.Text                 `key:"program"`
	Files   yamlfile.Keyed[yamlfile.Text] `key:"files"`
	Env     yamlfile.Keyed[yamlfile.Text] `key:"env"`
}

// level may be written short, as the path of a program.
type level struct{ bound }

// Read reads one from a node.
func (l *level) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	if n.Kind == yaml.ScalarNode {
		l.Program.Read(d, n, f)
		return
	}
	d.Mapping(n, reflect.ValueOf(&l.bound).Elem(), f)
	for _, x := range l.Files {
		if named.FindString(x.Key.Text+"=") == "" || variable.MatchString(x.Key.Text) {
			d.Add(x.Key.At, yamlfile.Quote(x.Key.Text)+" is not the name of a configuration file", "one such as daemon.json, with a path")
		}
	}
	for _, x := range l.Env {
		if !variable.MatchString(x.Key.Text) {
			d.Add(x.Key.At, yamlfile.Quote(x.Key.Text)+" is not the name of a variable", "capital letters, digits and _")
		}
	}
}

// words are the bindings of a level, without its name.
func (l level) words() (out []string) {
	if l.Program.Text != "" {
		path := l.Program.Text
		if named.MatchString(path) {
			path = "./" + path // it is no file and no variable here
		}
		out = append(out, path)
	}
	for _, f := range l.Files {
		out = append(out, f.Key.Text+"="+f.Value.Text)
	}
	for _, v := range l.Env {
		out = append(out, v.Key.Text+"="+v.Value.Text)
	}
	return out
}

// Read reads bindings from the text of a file; path is for messages, and the paths
// in it are taken from its folder. The error is a *yamlfile.Errors with everything
// that is wrong, or one of Parse.
func Read(path string, data []byte) ([]Asked, error) {
	d := &yamlfile.Decoder{Path: path, Problems: &yamlfile.Problems{}}
	var f document
	format.Decode(d, data, &f, "the file of builds")
	if d.Any() {
		return nil, d.Err()
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []Asked
	for _, program := range f.Builds {
		for _, level := range program.Value {
			at := fmt.Sprintf("%s:%d:%d", path, level.Key.At.Line, level.Key.At.Column)
			words := level.Value.words()
			if len(words) == 0 {
				if !engine.IsBuild(level.Key.Text) {
					return nil, notNamed(at, level.Key.Text)
				}
				out = append(out, Asked{Program: program.Key.Text, Level: level.Key.Text, Where: at})
			}
			for _, w := range words {
				a, err := Parse(program.Key.Text+":"+level.Key.Text+"="+w, at, dir)
				if err != nil {
					return nil, err
				}
				out = append(out, a)
			}
		}
	}
	return out, nil
}
