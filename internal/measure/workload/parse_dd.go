package workload

import (
	"errors"
	"regexp"
)

// ddLine is the last line of GNU's dd: "268435456 bytes (268 MB, 256 MiB)
// copied, 0.24 s, 1.1 GB/s", with fewer brackets for few bytes.
var ddLine = regexp.MustCompile(`(?m)^([0-9]+) bytes (?:\([^()\n]*\) )?copied, ([0-9][0-9.e+-]*) s, `)

// parseDD reads how many bytes dd copied, in how many seconds, and their
// quotient in bytes a second. The rate that dd prints is not read: it has two
// digits, and its unit changes from MB/s to GB/s.
func parseDD(out []byte) (map[string]float64, error) {
	all := ddLine.FindAllSubmatch(out, 2)
	switch len(all) {
	case 0:
		return nil, errors.New(`no line "N bytes copied, T s" of dd`)
	case 1:
	default:
		return nil, errors.New("more than one line of dd")
	}
	size, err := parseNumber(string(all[0][1]))
	if err != nil {
		return nil, err
	}
	seconds, err := parseNumber(string(all[0][2]))
	if err != nil {
		return nil, err
	}
	if seconds == 0 {
		return nil, errors.New("dd took no time")
	}
	rate := size / seconds
	if rate > largest {
		return nil, errors.New("dd's rate is not one that a disk or memory has")
	}
	return map[string]float64{"bytes": size, "seconds": seconds, "rate": rate}, nil
}
