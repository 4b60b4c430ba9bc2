package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/common/safepath"
)

// FeaturesFile is the name of a feature table in a run's directory.
const FeaturesFile = "features.json"

// FeaturesSchema is the version of the feature table's format.
const FeaturesSchema = 1

// FeatureValue says whether an engine has a feature.
type FeatureValue string

// The values of a feature. No only where the engine refused or lacks it;
// Untried where this machine can't tell.
const (
	FeatureYes     FeatureValue = "yes"
	FeaturePartial FeatureValue = "partial"
	FeatureNo      FeatureValue = "no"
	FeatureUntried FeatureValue = "untried"
)

// Features is what was found by trying each feature of each engine on one
// machine.
type Features struct {
	Schema  int             `json:"schema"`
	Tool    Tool            `json:"tool"`
	Host    Host            `json:"host"`
	Engines []FeatureEngine `json:"engines"`
	Rows    []FeatureRow    `json:"rows"`
}

// FeatureEngine is a column of the table.
type FeatureEngine struct {
	Name    string            `json:"name"`
	Version string            `json:"version,omitempty"`
	Facts   map[string]string `json:"facts,omitempty"`
	// Missing says why the engine can't be used here; Fix what would help.
	Missing string `json:"missing,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// FeatureRow is one feature of all engines.
type FeatureRow struct {
	Group   string `json:"group"`
	Feature string `json:"feature"` // as published, where it is
	ID      string `json:"id"`
	// Means says what was tried: the meaning that the values have here.
	Means string                 `json:"means,omitempty"`
	Cells map[string]FeatureCell `json:"cells"` // by engine
}

// FeatureCell is one engine's feature.
type FeatureCell struct {
	Value    FeatureValue      `json:"value"`
	Evidence []FeatureEvidence `json:"evidence,omitempty"`
	// Why is a sentence: what was seen, or why it could not be tried.
	Why string `json:"why,omitempty"`
	// Lacking is what this machine lacks to try the rest of the feature, as a clause: "there is
	// no GPU". Of such a cell only what was seen is known.
	Lacking string `json:"lacking,omitempty"`
	// Published is the value that was published, never one of ours; empty
	// where none was.
	Published string `json:"published,omitempty"`
}

// Differs says whether a value found here is another than the published one.
func (c FeatureCell) Differs() bool {
	return c.Published != "" && c.Value != FeatureUntried && string(c.Value) != c.Published && !c.LeavesOpen(c.Published)
}

// LeavesOpen says whether what the machine lacks keeps the cell from telling anything of a
// published value. A part that was seen is one where a no was published, too; whether there is
// more than a part, or nothing where nothing was seen, can't be told.
func (c FeatureCell) LeavesOpen(published string) bool {
	switch {
	case c.Lacking == "":
		return false
	case c.Value == FeaturePartial:
		return published != string(FeatureNo)
	}
	return c.Value == FeatureNo
}

// FeatureEvidence is one command of an attempt. Without a command the output is what
// Plimsoll itself observed, as the bytes that left a registry.
type FeatureEvidence struct {
	Command []string `json:"command,omitempty"`
	Output  string   `json:"output"` // both streams, trimmed
	Status  int      `json:"status"`
}

// Tried says whether any engine of the table could be tried.
func (f *Features) Tried() bool {
	return slices.ContainsFunc(f.Engines, func(e FeatureEngine) bool { return e.Missing == "" })
}

// Only is the table narrowed to these engines and rows; empty is all of them.
func (f *Features) Only(engines, rows []string) *Features {
	t := *f
	t.Engines = slices.DeleteFunc(slices.Clone(f.Engines), func(e FeatureEngine) bool { return len(engines) > 0 && !slices.Contains(engines, e.Name) })
	t.Rows = slices.DeleteFunc(slices.Clone(f.Rows), func(r FeatureRow) bool { return len(rows) > 0 && !slices.Contains(rows, r.ID) })
	for i, r := range t.Rows {
		t.Rows[i].Cells = map[string]FeatureCell{}
		for _, e := range t.Engines {
			if c, ok := r.Cells[e.Name]; ok {
				t.Rows[i].Cells[e.Name] = c
			}
		}
	}
	return &t
}

// Row finds a row by its id.
func (f *Features) Row(id string) (FeatureRow, bool) {
	for _, r := range f.Rows {
		if r.ID == id {
			return r, true
		}
	}
	return FeatureRow{}, false
}

// Cell finds a cell; where there is none it is untried.
func (f *Features) Cell(id, engine string) FeatureCell {
	if r, ok := f.Row(id); ok {
		if c, ok := r.Cells[engine]; ok {
			return c
		}
	}
	return FeatureCell{Value: FeatureUntried, Why: "no attempt was recorded"}
}

// ReadFeatures reads a feature table from a file, or from the directory that
// holds one. An error that wraps fs.ErrNotExist says that there is none.
func ReadFeatures(path string) (*Features, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FeaturesFile)
	}
	data, err := safepath.ReadRegular(path, mostOfFile, "a feature table")
	if err != nil {
		return nil, fmt.Errorf("reading the feature table: %w", err)
	}
	f := &Features{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("reading the feature table %s: %w", path, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("reading the feature table %s: %w", path, err)
	}
	return f, nil
}

func (f *Features) check() error {
	if err := knownSchema(f.Schema, FeaturesSchema, "features -o FILE"); err != nil {
		return err
	}
	for _, r := range f.Rows {
		for e, c := range r.Cells {
			switch c.Value {
			case FeatureYes, FeaturePartial, FeatureNo, FeatureUntried:
			default:
				return fmt.Errorf("row %s, engine %s: the value is %q, expected yes, partial, no or untried", r.ID, e, c.Value)
			}
		}
	}
	return nil
}

// WriteFeatures writes a feature table to a file, or into a directory.
func WriteFeatures(path string, f *Features) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FeaturesFile)
	}
	if err := writeBeside(path, f); err != nil {
		return fmt.Errorf("writing the feature table: %w", err)
	}
	return nil
}

// writeBeside writes a file as JSON whose place the user named.
func writeBeside(path string, x any) error {
	data, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	dir, name, err := safepath.OpenParent(path, safepath.Caller(os.Getenv))
	if err != nil {
		return err
	}
	return errors.Join(dir.WriteFile(name, append(data, '\n'), 0o644), dir.Close())
}

// knownSchema says what is wrong with the schema of a file that lies beside a record: command
// is what writes one.
func knownSchema(is, newest int, command string) error {
	switch {
	case is == 0:
		return fmt.Errorf("it has no schema: `plimsoll %s` writes one", command)
	case is > newest:
		return fmt.Errorf("its schema is %d, and this plimsoll knows up to %d: use a newer plimsoll", is, newest)
	}
	return nil
}
