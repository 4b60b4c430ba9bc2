package workload

import (
	"errors"
	"fmt"
	"regexp"
)

var (
	wrkRequests = regexp.MustCompile(`(?m)^Requests/sec: +([0-9.]+)$`)
	wrkTransfer = regexp.MustCompile(`(?m)^Transfer/sec: +([0-9.]+)([KMGT]?)B$`)
	wrkQuantile = regexp.MustCompile(`(?m)^ +(50|75|90|99)% +([0-9.]+)(us|ms|s|m)$`)
	wrkErrors   = regexp.MustCompile(`(?m)^ +(Socket errors: .*|Non-2xx or 3xx responses: .*)$`)
)

var (
	wrkPrefix = map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
	wrkTime   = map[string]float64{"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}
)

// parseWrk reads what wrk --latency prints: requests each second, transfer in
// bytes each second, and p50, p75, p90 and p99 of the latency in ns. A run in
// which a request failed has no numbers: they would be of other work.
func parseWrk(out []byte) (map[string]float64, error) {
	if m := wrkErrors.FindSubmatch(out); m != nil {
		return nil, fmt.Errorf("requests failed: %.80s", m[1])
	}
	values := map[string]float64{}
	if m := wrkRequests.FindSubmatch(out); m != nil {
		v, err := parseNumber(string(m[1]))
		if err != nil {
			return nil, err
		}
		if v == 0 {
			return nil, errors.New("no request was answered")
		}
		values["requests"] = v
	}
	if m := wrkTransfer.FindSubmatch(out); m != nil {
		v, err := parseNumber(string(m[1]))
		if err != nil {
			return nil, err
		}
		values["transfer"] = v * wrkPrefix[string(m[2])]
	}
	for _, m := range wrkQuantile.FindAllSubmatch(out, 8) {
		v, err := parseNumber(string(m[2]))
		if err != nil {
			return nil, err
		}
		values["p"+string(m[1])] = v * wrkTime[string(m[3])]
	}
	return values, nil
}
