package main

import (
	"io"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"plimsoll/internal/dist/stamp"
)

// sbom writes the parts as CycloneDX JSON. It has no serial number: that would
// differ from one build to the next.
func sbom(w io.Writer, parts []part, s stamp.Stamp) error {
	bom := cdx.NewBOM()
	product := component("plimsoll", s.Version, "pkg:golang/plimsoll@"+s.Version, []string{"Apache-2.0"})
	product.Type = cdx.ComponentTypeApplication
	bom.Metadata = &cdx.Metadata{Timestamp: s.Time.Format("2006-01-02T15:04:05Z"), Component: &product}
	var all []cdx.Component
	var refs []string
	for _, p := range parts {
		all, refs = append(all, component(p.name, p.version, p.purl, p.licenses)), append(refs, p.purl)
	}
	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func component(name, version, purl string, ids []string) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: name, Version: version, BOMRef: purl, PackageURL: purl}
	if len(ids) == 1 {
		c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: ids[0]}}}
	} else {
		c.Licenses = &cdx.Licenses{{Expression: strings.Join(ids, " AND ")}}
	}
	return c
}
