package main

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// What the page's script is bundled from are parts; what bundles it is none.
func TestNPMParts(t *testing.T) {
	page := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(page, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	put("web/package-lock.json", `{"packages": {
		"": {"version": "1"},
		"node_modules/@a/charts": {"version": "6.0.0"},
		"node_modules/bundler": {"version": "0.25.0", "dev": true}}}`)
	if parts, err := npmParts(page); err != nil || len(parts) > 0 {
		t.Errorf("without a bundle: %v %v", parts, err)
	}
	put("dist/plimsoll.js", "")
	put("web/node_modules/@a/charts/NOTICE", "Charts")
	if _, err := npmParts(page); err == nil {
		t.Error("a package without a licence passes")
	}
	put("web/node_modules/@a/charts/LICENSE", "Permission is hereby granted, free of charge, to any person obtaining a copy")
	parts, err := npmParts(page)
	if err != nil || len(parts) != 1 {
		t.Fatalf("%v %v", parts, err)
	}
	p := parts[0]
	if p.purl != "pkg:npm/%40a/charts@6.0.0" || p.licenses[0] != "MIT" || len(p.texts) != 2 || p.texts[1].path != "NOTICE" {
		t.Errorf("%+v", p)
	}
}
