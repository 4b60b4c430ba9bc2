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
	if o := f.Only([]string{"sarus"}, nil); len(o.Engines) != 1 || len(o.Rows[0].Cells) != 1 || len(f.Rows[0].Cells) != 2 {
		t.Errorf("only one engine: %+v", o)
	}
	if o := f.Only(nil, []string{"vpn"}); len(o.Rows) != 0 || len(o.Engines) != 2 {
		t.Errorf("only one row: %+v", o)
	}
	if !f.Tried() || (&Features{Engines: f.Engines[1:]}).Tried() {
		t.Error("Tried is wrong")
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
