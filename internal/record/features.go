package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FeaturesFile is the name under which a run directory may hold Features.
const FeaturesFile = "features.json"

// FeaturesSchema is the version of Features as JSON.
const FeaturesSchema = 1

// Features is a feature table that was filled by trying.
type Features struct {
	Schema  int             `json:"schema"`
	Host    Host            `json:"host"`
	Engines []FeatureEngine `json:"engines"`
	Rows    []FeatureRow    `json:"rows"`
}

// FeatureEngine is a column.
type FeatureEngine struct {
	Name    string            `json:"name"`
	Version string            `json:"version,omitempty"`
	Facts   map[string]string `json:"facts,omitempty"`
}

// FeatureRow is a feature with a cell for each engine, by its name.
type FeatureRow struct {
	ID      string                 `json:"id"`
	Group   string                 `json:"group"`
	Feature string                 `json:"feature"`
	Cells   map[string]FeatureCell `json:"cells"`
}

// FeatureCell is what came of trying.
type FeatureCell struct {
	Value FeatureValue `json:"value"`
	// Why says in a sentence what the value rests on, or why nothing was tried.
	Why      string            `json:"why,omitempty"`
	Evidence []FeatureEvidence `json:"evidence,omitempty"`
	// Published is what the published table has in this cell, or empty.
	Published string `json:"published,omitempty"`
}

// FeatureValue is one of four.
type FeatureValue string

// The values of a cell.
const (
	FeatureYes     FeatureValue = "yes"
	FeaturePartial FeatureValue = "partial"
	FeatureNo      FeatureValue = "no"
	FeatureUntried FeatureValue = "untried" // this machine cannot tell
)

// FeatureEvidence is one command of an attempt.
type FeatureEvidence struct {
	Command []string `json:"command"`
	Output  string   `json:"output,omitempty"` // trimmed
	Status  int      `json:"status"`
}

// maxFeatures bounds the file of a feature table: 40 rows of a dozen engines
// with their evidence have some 200 kB.
const maxFeatures = 32 << 20

// ReadFeatures reads a feature table.
func ReadFeatures(path string) (*Features, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the feature table: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFeatures+1))
	if err != nil {
		return nil, fmt.Errorf("reading the feature table %s: %w", path, err)
	}
	if len(data) > maxFeatures {
		return nil, fmt.Errorf("reading the feature table %s: it is larger than 32 MiB", path)
	}
	out := &Features{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("reading the feature table %s: %w", path, err)
	}
	switch {
	case out.Schema > FeaturesSchema:
		return nil, fmt.Errorf("reading the feature table %s: it has schema %d, and this plimsoll reads at most %d", path, out.Schema, FeaturesSchema)
	case out.Schema < 1:
		return nil, fmt.Errorf("reading the feature table %s: it has no schema: it is no feature table", path)
	}
	return out, nil
}

// Features is the feature table that the run's directory holds, nil where
// there is none.
func (r *Reader) Features() (*Features, error) {
	out, err := ReadFeatures(filepath.Join(r.dir, FeaturesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return out, err
}
