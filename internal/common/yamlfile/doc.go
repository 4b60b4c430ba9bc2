// Package yamlfile reads the YAML files that people write for us: studies and
// workloads.
//
// It is opinionated: a file is data and nothing else, so anchors, aliases and
// tags are refused; every error says where it is, what was expected and which
// word was probably meant; and all independent errors come at once.
package yamlfile
