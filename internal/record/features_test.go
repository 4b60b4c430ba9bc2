package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func TestFeaturesComeBack(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadFeatures(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory without a table: %v", err)
	}
	f := &Features{
		Schema: FeaturesSchema, Engines: []FeatureEngine{{Name: "docker", Version: "1"}, {Name: "sarus", Missing: "not installed", Fix: "install it"}},
		Rows: []FeatureRow{{ID: "rootless", Group: "Security", Feature: "Rootless executions", Means: "m", Cells: map[string]FeatureCell{
			"docker": {Value: FeatureNo, Why: "w", Published: "yes", Evidence: []FeatureEvidence{{Command: []string{"docker", "run"}, Output: "o", Status: 1}}},
			"podman": {Value: FeaturePartial, Why: "w", Lacking: "there is no GPU", Published: "yes"},
			"sarus":  {Value: FeatureUntried, Published: "no"},
		}}},
	}
	file := filepath.Join(t.TempDir(), "f.json")
	for _, at := range []string{dir, file} {
		require.NoError(t, WriteFeatures(at, f))
		got, err := ReadFeatures(at)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%s: %+v %v", at, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, FeaturesFile)); err != nil {
		t.Error(err)
	}
	if !f.Cell("rootless", "docker").Differs() || f.Cell("rootless", "sarus").Differs() || f.Cell("nothing", "docker").Value != FeatureUntried {
		t.Error("Differs or Cell is wrong")
	}
	if o := f.Only([]string{"sarus"}, nil); len(o.Engines) != 1 || len(o.Rows[0].Cells) != 1 || len(f.Rows[0].Cells) != 3 {
		t.Errorf("only one engine: %+v", o)
	}
	if o := f.Only(nil, []string{"vpn"}); len(o.Rows) != 0 || len(o.Engines) != 2 {
		t.Errorf("only one row: %+v", o)
	}
	if !f.Tried() || (&Features{Engines: f.Engines[1:]}).Tried() {
		t.Error("Tried is wrong")
	}
}

// What a machine lacks leaves open what it keeps from being tried, and nothing that was seen.
func TestFeaturesForWantOf(t *testing.T) {
	const lack = "there is no GPU"
	for _, c := range []struct {
		value     FeatureValue
		lacking   string
		published string
		open      bool
		differs   bool
	}{
		{FeaturePartial, lack, "yes", true, false},
		{FeaturePartial, lack, "partial", true, false}, // it may be a yes
		{FeaturePartial, lack, "no", false, true},      // a part was seen
		{FeatureNo, lack, "yes", true, false},
		{FeatureNo, lack, "no", true, false},
		{FeatureYes, lack, "no", false, true},
		{FeatureYes, lack, "yes", false, false},
		{FeatureUntried, lack, "yes", false, false}, // nothing was seen: it counts nowhere
		{FeaturePartial, "", "yes", false, true},
		{FeaturePartial, "", "partial", false, false},
		{FeatureNo, "", "yes", false, true},
	} {
		cell := FeatureCell{Value: c.value, Lacking: c.lacking, Published: c.published}
		if cell.LeavesOpen(c.published) != c.open || cell.Differs() != c.differs {
			t.Errorf("%s, lacking %q, published %s: open %v, differs %v", c.value, c.lacking, c.published, cell.LeavesOpen(c.published), cell.Differs())
		}
	}
}

// A table that was written before cells said what the machine lacks is read as it was.
func TestFeaturesOfOld(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"schema": 1, "engines": [{"name": "docker"}], "rows": [{"id": "gpus", "cells": {"docker": {"value": "partial", "why": "there is no GPU here", "published": "yes"}}}]}`), 0o644))
	f, err := ReadFeatures(file)
	require.NoError(t, err)
	if c := f.Cell("gpus", "docker"); c.Lacking != "" || c.LeavesOpen("yes") || !c.Differs() {
		t.Errorf("%+v", c)
	}
}

func TestFeaturesThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{`:             "unexpected end",
		`{"rows": []}`:  "no schema",
		`{"schema": 9}`: "newer plimsoll",
		`{"schema": 1, "rows": [{"id": "vpn", "cells": {"docker": {"value": "maybe"}}}]}`: `row vpn, engine docker: the value is "maybe", expected yes`,
	} {
		file := filepath.Join(t.TempDir(), "f.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		if _, err := ReadFeatures(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
