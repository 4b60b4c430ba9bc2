// Package studies holds the studies that come with Plimsoll.
//
// It is opinionated: a bundled study is a file like any user's, read by the
// same reader and held to the same schema.
//
// Why it is so: docs/decisions/findings.md.
package studies

import "embed"

// FS has every bundled study as NAME.yaml; of the papers' studies the claims as
// claims/NAME.yaml, what each paper did as protocols/NAME.yaml, and its figures
// as figures/NAME.yaml.
//
//go:embed *.yaml claims/*.yaml protocols/*.yaml figures/*.yaml
var FS embed.FS
