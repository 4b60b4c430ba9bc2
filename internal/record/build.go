package record

import "fmt"

// Build is a build of a program of an engine's: what a level of the factor build
// stands for. Which file that is, the user has said and no study says.
type Build struct {
	Program string `json:"program"` // the name by which engines look for it
	Level   string `json:"level"`
	Path    string `json:"path"`    // when the run began
	Version string `json:"version"` // by its own word
	SHA256  string `json:"sha256"`  // of the file
	// BuildID is what its linker wrote into it, GNU's or else Go's; empty where none did.
	BuildID string `json:"build_id,omitempty"`
	Bytes   int64  `json:"bytes"` // the file's size
}

// Name is how a user binds it, without the path.
func (b Build) Name() string { return b.Program + ":" + b.Level }

// String is one line about it, for the facts of an environment.
func (b Build) String() string {
	return fmt.Sprintf("%s %s, sha256 %.12s", b.Program, b.Version, b.SHA256)
}
