package record

import (
	"fmt"
	"slices"
	"strings"
)

// Build is a build of a program of an engine's: what a level of the factor build
// stands for. Which file that is, the user has said and no study says. It may be a
// configuration of the program as well, or of the machine's own one.
type Build struct {
	Program string `json:"program"` // the name by which engines look for it
	Level   string `json:"level"`
	Path    string `json:"path"`    // when the run began
	Version string `json:"version"` // by its own word
	SHA256  string `json:"sha256"`  // of the file
	// BuildID is what its linker wrote into it, GNU's or else Go's; empty where none did.
	BuildID string `json:"build_id,omitempty"`
	Bytes   int64  `json:"bytes"` // the file's size
	// Socket is where the program, a daemon, ran already when the run began: it is used as
	// it is. Path is then the file that its process was executed from.
	Socket string `json:"socket,omitempty"`
	// Files are the configuration files that it reads in this level, each once.
	Files []BuildFile `json:"files,omitempty"`
	// Variables are those of its environment in this level, K=V.
	Variables []string `json:"variables,omitempty"`
}

// BuildFile is a configuration file of a build.
type BuildFile struct {
	Name   string `json:"name"` // what kind it is, such as daemon.json
	Path   string `json:"path"` // when the run began
	SHA256 string `json:"sha256"`
}

// Name is how a user binds it, without the path.
func (b Build) Name() string { return b.Program + ":" + b.Level }

// String is one line about it, for the facts of an environment.
func (b Build) String() string {
	text := fmt.Sprintf("%s %s, sha256 %.12s", b.Program, b.Version, b.SHA256)
	if b.Socket != "" {
		text += ", at " + b.Socket
	}
	for _, f := range b.Files {
		text += fmt.Sprintf(", %s sha256 %.12s", f.Name, f.SHA256)
	}
	if len(b.Variables) > 0 {
		text += ", " + strings.Join(b.Variables, " ")
	}
	return text
}

// Configured says whether it is one of a configuration.
func (b Build) Configured() bool { return len(b.Files)+len(b.Variables) > 0 }

// File is the configuration file of a name; nil where it has none.
func (b Build) File(name string) *BuildFile {
	if i := slices.IndexFunc(b.Files, func(f BuildFile) bool { return f.Name == name }); i >= 0 {
		return &b.Files[i]
	}
	return nil
}
