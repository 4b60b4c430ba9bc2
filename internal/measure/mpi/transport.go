package mpi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Verbose are settings by which Open MPI says on standard error which way its
// messages take. It does so while it starts, before anything is measured.
var Verbose = []string{"OMPI_MCA_pml_base_verbose=10", "OMPI_MCA_btl_base_verbose=10"}

// Seen is what the ranks of one trial said of themselves.
type Seen struct {
	Ranks   int      `json:"ranks"`
	Nodes   int      `json:"nodes"`
	Hosts   []string `json:"hosts"`
	Library string   `json:"library"`
	ABI     string   `json:"abi"`
	// Variables are the library's own, by name, as they are in force.
	Variables map[string]string `json:"variables"`
	// Files are those that the ranks have the library from, as they see them;
	// GLIBC and Elsewhere are told where the library was named by its path: rank
	// 0's C library, and what it has loaded from beside that place.
	Files     []File   `json:"library_files"`
	GLIBC     string   `json:"glibc"`
	Elsewhere []string `json:"elsewhere"`
}

// File is a file inside.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// maxSaid bounds what is read of one line.
const maxSaid = 1 << 20

// ParseSeen finds in what the ranks printed the one line of rank 0's; false where
// another program ran, which prints none.
func ParseSeen(out []byte) (s Seen, ok bool, err error) {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, `{"test":`) || len(line) > maxSaid {
			continue
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return Seen{}, false, fmt.Errorf("what the MPI program printed is no JSON: %w", err)
		}
		if s.Ranks < 1 || s.Ranks != len(s.Hosts) || s.Nodes < 1 || s.Nodes > s.Ranks {
			return Seen{}, false, fmt.Errorf("the MPI program speaks of %d ranks on %d nodes, and names %d hosts", s.Ranks, s.Nodes, len(s.Hosts))
		}
		return s, true, nil
	}
	return Seen{}, false, nil
}

var (
	usingBTL    = regexp.MustCompile(`mca: bml: Using (\w+) btl (?:for|to) `)
	selectedPML = regexp.MustCompile(`(?m)select: component (\w+) selected|\bselected (\w+) best priority`)
)

// Transport says by which way messages went: Open MPI's point-to-point layer, the
// transports below it that were chosen for other ranks, and how shared memory
// copies from one process to another ("none": through a buffer, twice). It is one
// line, the same for the same way; "" where nobody tells.
func Transport(stderr []byte, s Seen) string {
	var parts []string
	var pml string
	for _, m := range selectedPML.FindAllSubmatch(stderr, 4096) {
		pml = string(m[1]) + string(m[2])
	}
	if pml != "" {
		parts = append(parts, pml)
	}
	seen := map[string]bool{}
	for _, m := range usingBTL.FindAllSubmatch(stderr, 1<<16) {
		if name := string(m[1]); name != "self" { // a rank to itself
			seen[name] = true
		}
	}
	if ways := slices.Sorted(maps.Keys(seen)); len(ways) > 0 {
		parts = append(parts, strings.Join(ways, "+"))
	}
	for _, name := range []string{"vader", "sm"} {
		if how := s.Variables["btl_"+name+"_single_copy_mechanism"]; how != "" && seen[name] {
			parts = append(parts, how)
		}
	}
	return strings.Join(parts, " ")
}
