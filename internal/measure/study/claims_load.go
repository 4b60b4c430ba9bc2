package study

import (
	"path/filepath"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
	"plimsoll/studies"
)

// Claims gives the claims of a study by its name or path, or of a file that
// holds nothing but claims. The error is an *Errors.
func Claims(nameOrPath string, cat *Catalogue) ([]record.Claim, error) {
	path, name := nameOrPath, strings.TrimSuffix(filepath.Base(nameOrPath), filepath.Ext(nameOrPath))
	var data []byte
	var err error
	if yamlfile.IsPath(nameOrPath) {
		if data, err = yamlfile.ReadGiven(nameOrPath); err != nil {
			return nil, yamlfile.CantRead(nameOrPath, "the claims", err)
		}
		if !isClaimsFile(data) {
			data = nil
		}
	} else {
		name, path = nameOrPath, "studies/claims/"+nameOrPath+".yaml"
		if yamlfile.IsName(nameOrPath) {
			data, _ = studies.FS.ReadFile("claims/" + nameOrPath + ".yaml") // without one it is a study
		}
	}
	if data == nil {
		s, err := Load(nameOrPath, cat)
		if err != nil {
			return nil, err
		}
		if len(s.Claims) == 0 {
			return nil, yamlfile.Fail(nameOrPath, "the study has no claims", `a study with a key "claims"`)
		}
		return s.Claims, nil
	}
	p := &yamlfile.Problems{}
	list := readClaims(Source{Path: path, Data: data}, cat, p)
	c := &checker{Problems: p, cat: cat}
	out := c.claims(list, name)
	if p.Any() {
		return nil, p.Err()
	}
	return out, standIns(out, cat)
}

// isClaimsFile tells a file of claims from a study by a line that begins with
// its first key.
func isClaimsFile(data []byte) bool {
	return strings.Contains("\n"+string(data), "\n"+claimsFormat.Key+":")
}
