package record

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
