package workload

import (
	"errors"
	"fmt"
	"regexp"
)

var iorMax = regexp.MustCompile(`(?m)^Max (Write|Read): +([0-9.]+) MiB/sec`)

// parseIOR reads what IOR prints at its end (https://ior.readthedocs.io, first
// steps): "Max Write: N MiB/sec (…)" and likewise for reading, the best of its
// repetitions. The keys are write and read, in bytes/s.
func parseIOR(out []byte) (map[string]float64, error) {
	values := map[string]float64{}
	for _, m := range iorMax.FindAllSubmatch(out, 16) {
		key := map[string]string{"Write": "write", "Read": "read"}[string(m[1])]
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("it has more than one line Max %s: IOR ran more than one test", m[1])
		}
		v, err := parseNumber(string(m[2]))
		if err != nil {
			return nil, err
		}
		values[key] = v * (1 << 20)
	}
	if len(values) == 0 {
		return nil, errors.New("IOR has printed no line \"Max Write: … MiB/sec\" or \"Max Read: …\"")
	}
	return checked(values)
}

// The colon went with version 4.
var mdtestLine = regexp.MustCompile(`(?m)^ *(File|Directory) (creation|stat|read|removal) *:? +([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+)`)

// parseMdtest reads mdtest's table of rates (https://ior.readthedocs.io, mdtest):
// for files and directories the operations a second, as largest, smallest and mean
// of its iterations, and their deviation. The keys are file-creation, file-stat,
// file-read, file-removal and the same of directory: the means.
func parseMdtest(out []byte) (map[string]float64, error) {
	values := map[string]float64{}
	for _, m := range mdtestLine.FindAllSubmatch(out, 64) {
		key := map[string]string{"File": "file-", "Directory": "directory-"}[string(m[1])] + string(m[2])
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("%s is there twice: mdtest printed more than one table, of rates and of times", key)
		}
		v, err := parseNumber(string(m[5]))
		if err != nil {
			return nil, err
		}
		values[key] = v
	}
	if len(values) == 0 {
		return nil, errors.New("there is no table of mdtest's rates")
	}
	return checked(values)
}
