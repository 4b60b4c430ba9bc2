package study

import "plimsoll/internal/common/yamlfile"

// Error is one thing that is wrong with a study.
type Error = yamlfile.Error

// Errors is all of them: whatever this package says against a study is of this
// type.
type Errors = yamlfile.Errors
