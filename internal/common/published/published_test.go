package published

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// The tables are as they were carried over, to the byte.
func TestChecksums(t *testing.T) {
	for _, c := range []struct{ name, text, sum string }{
		{"values.csv", valuesCSV, "661090f4d9b7a423fb886c853bbf2296bd8c0eff0139a9d252fca69898f718fe"},
		{"features.csv", featuresCSV, "d7b4974699894becba191f48e63e0c36dcb5c23ada1c68401988aa99a5f5d599"},
	} {
		sum := sha256.Sum256([]byte(c.text))
		if got := hex.EncodeToString(sum[:]); got != c.sum {
			t.Errorf("%s was changed: its SHA-256 is %s", c.name, got)
		}
	}
}

// Every cell of the table comes out of the reader as it stands there.
func TestValues(t *testing.T) {
	all := Values()
	lines := strings.Split(strings.TrimSpace(valuesCSV), "\n")
	if tables := readValues(valuesCSV); len(tables) != 804 || len(lines) != 805 {
		t.Fatalf("%d values of %d lines", len(tables), len(lines))
	}
	seen := map[string]bool{}
	for i, v := range all {
		if _, ok := SourceOf(v.Source); !ok {
			t.Errorf("line %d: source %q is not in the list", i+2, v.Source)
		}
		if math.IsNaN(v.Value) || v.Unit == "" || v.Table == "" || v.Engine == "" || v.Workload == "" || v.Metric == "" {
			t.Errorf("line %d: %+v", i+2, v)
		}
		if v.Better != record.LowerIsBetter && v.Better != record.HigherIsBetter {
			t.Errorf("line %d: better is %q", i+2, v.Better)
		}
		key := strings.Join([]string{v.Source, v.Table, v.Engine, v.Variant, v.Image, v.Workload, v.Metric}, "|")
		if seen[key] {
			t.Errorf("line %d: %s is there twice", i+2, key)
		}
		seen[key] = true
	}
	first := all[0]
	if first.Value != 871 || first.CI95 != 4 || first.SD != 29 || first.Engine != "docker" || first.Image != "ubuntu:18.04" || first.Unit != "ms" {
		t.Errorf("%+v", first)
	}
	all[0].Value = 1
	if Values()[0].Value != 871 {
		t.Error("a caller can change what was published")
	}
}

func TestFind(t *testing.T) {
	one := Find(Query{Source: "baresi2024", Table: "Table 3", Engine: "singularity", Variant: "sif", Image: "alpine:3", Metric: "start"})
	if len(one) != 1 || one[0].Value != 108 {
		t.Errorf("%+v", one)
	}
	if n := len(Find(Query{Source: "baresi2024", Table: "Table 3"})); n != 42 {
		t.Errorf("%d values in Table 3", n)
	}
	with, without := Find(Query{Table: "Table 6", Engine: "docker"}), Find(Query{Table: "Table 6", Engine: "docker", Variant: noVariant})
	if len(with) == 0 || len(without) >= len(with) {
		t.Errorf("%d with any variant, %d without one", len(with), len(without))
	}
	if n := len(Find(Query{Engine: "nonesuch"})); n != 0 {
		t.Errorf("%d values of an engine that nobody measured", n)
	}
}

func TestFeatures(t *testing.T) {
	all := Features()
	groups := []string{}
	for _, f := range all {
		if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
		for _, e := range FeatureEngines() {
			if !slices.Contains([]string{"yes", "partial", "no"}, f.Cells[e]) {
				t.Errorf("%s with %s is %q", f.Name, e, f.Cells[e])
			}
		}
	}
	if len(all) != 25 || len(groups) != 5 || len(FeatureEngines()) != 6 {
		t.Errorf("%d features in %d groups of %d engines", len(all), len(groups), len(FeatureEngines()))
	}
	if !slices.Contains(FeatureEngines(), Engine("apptainer")) || Engine("docker") != "docker" || Here(Engine("apptainer")) != "apptainer" {
		t.Error("the names of the engines")
	}
}

func TestSources(t *testing.T) {
	for _, s := range Sources() {
		if s.Title == "" || s.Venue == "" || s.Year < 2018 || len(s.Authors) == 0 {
			t.Errorf("%+v", s)
		}
		if (s.URL() == "") != (s.DOI == "") {
			t.Errorf("%s: %s", s.Key, s.URL())
		}
	}
}

// What one of the authors published as a table of a page is as it was carried over.
func TestGerdes(t *testing.T) {
	sum := sha256.Sum256([]byte(gerdesCSV))
	if got := hex.EncodeToString(sum[:]); got != "d9ea921d6dd9f04397390a5311d3275c7bbac1fc30b5c6e0914caa53e80ae026" {
		t.Errorf("gerdes2024.csv was changed: its SHA-256 is %s", got)
	}
	one := Find(Query{Source: "gerdes2024", Variant: "crun", Metric: "least-memory"})
	if len(one) != 1 || one[0].Value != 0.16 || one[0].Unit != "MB" {
		t.Errorf("%+v", one)
	}
}
