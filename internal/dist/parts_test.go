package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/dist/stamp"
)

// Every part of the program for this machine has a licence that is known, and
// stands in the notice and in the list of parts.
func TestParts(t *testing.T) {
	if testing.Short() {
		t.Skip("has the go command list the program's parts, and needs the page's modules: left out with -short")
	}
	parts, err := partsOf([]string{"linux/amd64"})
	require.NoError(t, err)
	at := map[string]part{}
	for _, p := range parts {
		at[p.name] = p
	}
	for name, license := range map[string]string{"std": "BSD-3-Clause", "github.com/spf13/cobra": "Apache-2.0", "gonum.org/v1/gonum": "BSD-3-Clause"} {
		if !slices.Contains(at[name].licenses, license) {
			t.Errorf("%s: %v, not %s", name, at[name].licenses, license)
		}
	}
	if _, has := at["github.com/rogpeppe/go-internal"]; has {
		t.Error("the library of the tests is taken for a part of the program")
	}
	var text, list bytes.Buffer
	require.NoError(t, notice(&text, parts))
	require.NoError(t, sbom(&list, parts, stamp.Stamp{Version: "1.2.3", Time: time.Unix(1700000000, 0)}))
	var bom struct {
		BOMFormat, SpecVersion string
		Components             []struct{ Name, Version, PURL string }
		Metadata               struct {
			Timestamp string
			Component struct{ Name, Version string }
		}
	}
	require.NoError(t, json.Unmarshal(list.Bytes(), &bom))
	if bom.BOMFormat != "CycloneDX" || bom.Metadata.Component.Version != "1.2.3" || bom.Metadata.Timestamp != "2023-11-14T22:13:20Z" {
		t.Errorf("%+v", bom.Metadata)
	}
	if len(bom.Components) != len(parts) || len(parts) < 20 {
		t.Errorf("%d components of %d parts", len(bom.Components), len(parts))
	}
	for i, c := range bom.Components {
		if c.Version == "" || c.PURL != parts[i].purl || !strings.Contains(text.String(), "\n"+c.Name+" "+c.Version+": ") {
			t.Errorf("component %+v", c)
		}
	}
}

// A licence is known by what it says, and what says nothing has none.
func TestLicences(t *testing.T) {
	const fee = "Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted"
	for text, want := range map[string][]string{
		"Permission is hereby granted, free of charge, to any\n person obtaining a copy": {"MIT"},
		fee + ", provided that the above copyright notice appear":                        {"ISC"},
		fee + ".\n\nTHE SOFTWARE IS PROVIDED":                                            {"0BSD"},
		"Redistribution and use in source and binary forms ...":                          {"BSD-2-Clause"},
		"Redistribution and use in source and binary forms ... Neither the name of":      {"BSD-3-Clause"},
		"All rights reserved.": nil,
	} {
		if got := licences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, not %v", text, got, want)
		}
	}
	p := part{name: "x"}
	if err := p.read(t.TempDir(), map[string]bool{t.TempDir(): true}); err == nil {
		t.Error("a part without a licence passes")
	}
}
