package build

import (
	"fmt"
	"path/filepath"
	"reflect"

	"plimsoll/internal/common/yamlfile"
)

var format = yamlfile.Format{Noun: "file of builds", Plural: "files of builds", Key: "plimsoll-builds", Version: 1}

type document struct {
	Format yamlfile.Count                                `key:"plimsoll-builds" jsonschema:"required,minimum=1,maximum=1"`
	Builds yamlfile.Keyed[yamlfile.Keyed[yamlfile.Text]] `key:"builds" jsonschema:"required"`
}

// Read reads bindings from the text of a file; path is for messages, and the paths
// in it are taken from its folder. The error is a *yamlfile.Errors with everything
// that is wrong, or one of Parse.
func Read(path string, data []byte) ([]Asked, error) {
	p := &yamlfile.Problems{}
	root := format.Parse(path, data, p)
	if root == nil {
		return nil, p.Err()
	}
	d := &yamlfile.Decoder{Path: path, Problems: p}
	if !format.Is(d, root) {
		return nil, p.Err()
	}
	var f document
	d.Value(root, reflect.ValueOf(&f).Elem(), yamlfile.Field{Key: "the file of builds"})
	if p.Any() {
		return nil, p.Err()
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []Asked
	for _, program := range f.Builds {
		for _, level := range program.Value {
			at := fmt.Sprintf("%s:%d:%d", path, level.Key.At.Line, level.Key.At.Column)
			a, err := Parse(program.Key.Text+":"+level.Key.Text+"="+level.Value.Text, at, dir)
			if err != nil {
				return nil, err
			}
			out = append(out, a)
		}
	}
	return out, nil
}
