package workload

import (
	"fmt"
	"maps"
	"slices"
)

// A parser reads all that one kind of output says: numbers by key, such as
// "read.iops". It may get anything, and answers with an error where the output
// is not what it knows; it keeps no number that it is not sure of.
type parser func(output []byte) (map[string]float64, error)

// parsers are the named parsers of workload files. To add one is to add a line
// here, a file parse_NAME.go and its golden output below testdata/output.
var parsers = map[string]parser{
	"dd":        parseDD,
	"fio":       parseFio,
	"imb":       parseIMB,
	"ior":       parseIOR,
	"mdtest":    parseMdtest,
	"mpibench":  parseMPIBench,
	"osu":       parseOSU,
	"ping":      parsePing,
	"stress-ng": parseStressNG,
	"wrk":       parseWrk,
}

// maxParsed bounds what a parser looks at: no program of ours prints as much.
const maxParsed = 4 << 20

// parse reads output by the parser of a name.
func parse(name string, out []byte) (map[string]float64, error) {
	if len(out) > maxParsed {
		return nil, fmt.Errorf("it is longer than %d bytes", maxParsed)
	}
	return parsers[name](out)
}

// Parsers lists the names of the parsers.
func Parsers() []string { return slices.Sorted(maps.Keys(parsers)) }
