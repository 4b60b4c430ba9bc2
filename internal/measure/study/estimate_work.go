package study

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/record"
)

// lifeCycle are the workloads that do nothing but live, from the payload's image.
var lifeCycle = map[string]bool{"hello": true, "status": true, "stop": true, "exec": true, "density": true, "load": true}

// params are a workload's parameters.
type params map[string]string

// number reads a parameter; 0 where it is none.
func (p params) number(name string) float64 {
	v, err := strconv.ParseFloat(p[name], 64)
	if err != nil {
		return 0
	}
	return v
}

// size reads the parameter size, in bytes, such as 11.9MB.
func (p params) size() float64 {
	for _, u := range []struct {
		suffix string
		by     float64
	}{{"kB", 1e3}, {"MB", 1e6}, {"G", 1 << 30}, {"M", 1 << 20}} {
		if s, ok := strings.CutSuffix(p["size"], u.suffix); ok {
			v, _ := strconv.ParseFloat(s, 64) // all sizes are the catalogue's own
			return v * u.by
		}
	}
	return 0
}

// works has what a trial takes in seconds, by workload, beside the life of its
// container and beside its parameter seconds. These are fits to what small sizes
// took on two processors (an EPYC of 2023, virtual), good to a factor of two or
// so; of a workload that is not here only seconds is known.
var works = map[string]func(p params) float64{
	"7zip":              func(p params) float64 { return 0.027 * p.number("milliseconds") * max(1, p.number("passes")) },
	"fio":               func(p params) float64 { return 0.8 + p.size()/1e9 },
	"openssl":           func(p params) float64 { return p.number("seconds") }, // each half takes as long
	"page-faults":       func(p params) float64 { return p.number("bytes") * p.number("repetitions") / 1e9 },
	"ping":              pinging,
	"ping-host":         pinging,
	"ping-loopback":     pinging,
	"pull":              func(params) float64 { return 5 },
	"python":            func(p params) float64 { return 0.11 * p.number("repeats") },
	"redis":             func(p params) float64 { return 0.1 + 40e-6*p.number("requests") },
	"small-files":       func(p params) float64 { return 0.3e-3 * p.number("count") },
	"sockperf":          warmingUp,
	"sockperf-host":     warmingUp,
	"sockperf-loopback": warmingUp,
	"sqlite-read":       func(p params) float64 { return 0.1 + p.size()/1e8 },
	"sqlite-threads":    func(p params) float64 { return 0.2 + 0.6e-3*p.number("threads")*p.number("rows") },
	"sqlite-write":      func(p params) float64 { return 0.1 + p.size()/1e8 },
	"stop": func(p params) float64 {
		if p["on-term"] == "ignore" {
			return 2 // the grace
		}
		return 0
	},
	"stream":          func(p params) float64 { return p.number("bytes") * p.number("repetitions") / 1e9 },
	"stress-ng-suite": func(p params) float64 { return 0.26 * p.number("percent") },
	"sysbench-fileio": func(p params) float64 { return 0.3 + p.size()/2e8 },
	"tar-extract":     func(p params) float64 { return 0.7e-3 * p.number("count") },
}

func pinging(p params) float64 { return 0.15 + p.number("count")*p.number("interval") }

func warmingUp(params) float64 { return 2.4 }

// What a whole protocol takes beside its containers, and how many rates a search
// for the highest one tries, more or less.
const (
	rampTime = 2 * time.Second
	searches = 10
)

// trialTime is what one trial takes, ns, where a container's life takes each.
func trialTime(w *record.Workload, each float64) float64 {
	p := params(w.Params)
	switch w.Name {
	case "density":
		rest, _ := time.ParseDuration(p["rest"]) // 0 where there is none
		return each*p.number("count") + 2*float64(rest) + float64(rampTime)
	case "load":
		seconds := p.number("seconds")
		if p.number("rate") == 0 { // a search
			seconds *= searches
		}
		return each + seconds*float64(time.Second)
	}
	seconds := p.number("seconds")
	if more := works[w.Name]; more != nil {
		seconds += more(p)
	}
	return each + seconds*float64(time.Second)
}
