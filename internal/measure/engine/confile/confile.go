// Package confile reads the configuration files of engines, lays one over another, and
// says in words what stands in one.
//
// It is opinionated: a file of which a run shall be is read whole before anything is
// measured, a mistake in it is told with its line, and where it is laid over one of
// ours, what keeps a private daemon apart from the user's can't be overruled.
package confile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"plimsoll/internal/common/bounded"
)

// most is the size in bytes beyond which a file is none.
const most = 1 << 20

// Read reads a file, unless it is too large to be one.
func Read(r io.Reader) ([]byte, error) {
	return bounded.Read(r, most, "it is larger than any configuration: expected at most 1 MiB")
}

// Parse reads a file of this name: JSON by its extension, else TOML. The error names
// path and line.
func Parse(name, path string, data []byte) (map[string]any, error) {
	all := map[string]any{}
	if filepath.Ext(name) == ".json" {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber() // 65536 is not to become 6.5536e+04
		err := d.Decode(&all)
		if err == nil {
			if _, more := d.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("something follows the object")
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: expected a JSON object, as a %s is: %w", path, lineAt(data, d.InputOffset(), err), name, err)
		}
		return all, nil
	}
	err := toml.Unmarshal(data, &all)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		return nil, fmt.Errorf("%s:%d:%d: expected TOML, as a %s is: %w", path, line, column, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: expected TOML, as a %s is: %w", path, name, err)
	}
	return all, nil
}

// lineAt is the line in which reading JSON has ended.
func lineAt(data []byte, offset int64, err error) int {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.Is(err, io.ErrUnexpectedEOF):
		offset = int64(len(bytes.TrimRight(data, "\n")))
	}
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// Write is the file of a name with these settings.
func Write(name string, all map[string]any) ([]byte, error) {
	if filepath.Ext(name) == ".json" {
		return json.MarshalIndent(all, "", "  ")
	}
	return toml.Marshal(all)
}

// A Setting is a value of a file that has no tables below it.
type Setting struct {
	Key   []string // from the top
	Value any
}

// Name is the key with dots between its parts.
func (s Setting) Name() string { return strings.Join(s.Key, ".") }

// String is one setting in words.
func (s Setting) String() string {
	if text, ok := s.Value.(string); ok {
		return s.Name() + "=" + text
	}
	b, err := json.Marshal(s.Value)
	if err != nil { // a value of TOML alone, such as a date
		return fmt.Sprintf("%s=%v", s.Name(), s.Value)
	}
	return s.Name() + "=" + string(b)
}

// Settings are those of a file, in the order of their keys.
func Settings(all map[string]any) (out []Setting) {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		below, ok := all[k].(map[string]any)
		if !ok {
			out = append(out, Setting{[]string{k}, all[k]})
			continue
		}
		for _, s := range Settings(below) {
			out = append(out, Setting{append([]string{k}, s.Key...), s.Value})
		}
	}
	return out
}

// At is the value of a key, nil where there is none.
func At(all map[string]any, key ...string) any {
	for i, k := range key {
		v := all[k]
		if i == len(key)-1 {
			return v
		}
		all, _ = v.(map[string]any)
	}
	return nil
}

// Lay lays the settings of a file over those of another: tables become one, all else
// takes the place of what was there.
func Lay(base, over map[string]any) {
	for k, v := range over {
		below, table := v.(map[string]any)
		there, both := base[k].(map[string]any)
		if table && !both {
			there = map[string]any{}
			base[k] = there
		}
		if table {
			Lay(there, below)
			continue
		}
		base[k] = v
	}
}

// Lacks is the first setting of a file that another has not, or has otherwise; nil
// where it has all.
func Lacks(has, wanted map[string]any) *Setting {
	for _, s := range Settings(wanted) {
		there := Setting{s.Key, At(has, s.Key...)}
		if there.Value == nil || there.String() != s.String() {
			return &s
		}
	}
	return nil
}
