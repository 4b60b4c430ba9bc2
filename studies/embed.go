// Package studies holds the studies that come with Plimsoll.
//
// It is opinionated: a bundled study is a file like any user's, read by the
// same reader and held to the same schema.
//
// Why it is so: docs/decisions/findings.md.
package studies

import "embed"

// FS has every bundled study as NAME.yaml, and the claims of the papers' studies
// as claims/NAME.yaml and their figures as figures/NAME.yaml.
//
//go:embed *.yaml claims/*.yaml figures/*.yaml
var FS embed.FS
