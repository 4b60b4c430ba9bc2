package record

import (
	"encoding/json"
	"strconv"
	"time"
)

// decoder reads lines of trials.jsonl. Nearly all of them it understands
// itself, some ten times as fast as encoding/json; whatever looks unusual
// (an unknown field, an escape, null, a float in an odd form) it leaves to
// encoding/json, whole, so that both always agree.
//
// What a decoded trial points to are the decoder's parts, which are used again
// for the next one.
type decoder struct {
	b       []byte
	i       int
	strings map[string]string
	*parts
}

// parts is what a trial points to.
type parts struct {
	events    map[Event]int64
	values    map[string]float64
	steps     []Step
	exit      int
	client    Usage
	host      Disturbance
	throttled int64 // that host points to
	running   float64
}

func newParts() *parts { return &parts{events: map[Event]int64{}, values: map[string]float64{}} }

func newDecoder() *decoder {
	return &decoder{strings: map[string]string{}, parts: newParts()}
}

// decode fills t from a line.
func (d *decoder) decode(line []byte, t *Trial) error {
	*t = Trial{Seq: -1}
	d.b, d.i = line, 0
	if d.trial(t) {
		return checkSeq(t.Seq)
	}
	*t = Trial{Seq: -1}
	if err := json.Unmarshal(line, t); err != nil {
		return err
	}
	if t.Seq == -1 {
		return errNoSeq
	}
	return checkSeq(t.Seq)
}

// The functions below return false for whatever they do not understand.

func (d *decoder) trial(t *Trial) bool {
	ok := d.object(func(key string) bool {
		var ok bool
		switch key {
		case "seq":
			t.Seq, ok = d.small()
		case "block":
			t.Block, ok = d.small()
		case "warmup":
			t.Warmup, ok = d.boolean()
		case "env":
			t.Env, ok = d.text()
		case "workload":
			t.Workload, ok = d.text()
		case "clock":
			var s string
			s, ok = d.text()
			t.Clock = Clock(s)
		case "inside":
			t.Inside, ok = d.text()
		case "output":
			t.Output, ok = d.text()
		case "quiet_ns":
			t.Quiet, ok = d.integer()
		case "running":
			d.running, ok = d.float()
			t.Running = &d.running
		case "at":
			t.At, ok = d.time()
		case "exit":
			d.exit, ok = d.small()
			t.Exit = &d.exit
		case "events":
			ok = t.Events == nil && d.eventMap()
			t.Events = d.events
		case "values":
			ok = t.Values == nil && d.valueMap()
			t.Values = d.values
		case "steps":
			ok = t.Steps == nil && d.stepList()
			t.Steps = d.steps
		case "client":
			ok = t.Client == nil && d.usage()
			t.Client = &d.client
		case "host":
			ok = t.Host == nil && d.disturbance()
			t.Host = &d.host
		}
		return ok
	})
	return ok && d.i == len(d.b) && t.Seq >= 0
}

func (d *decoder) eventMap() bool {
	clear(d.events)
	return d.object(func(key string) bool {
		v, ok := d.integer()
		d.events[Event(key)] = v
		return ok
	})
}

func (d *decoder) valueMap() bool {
	clear(d.values)
	return d.object(func(key string) bool {
		v, ok := d.float()
		d.values[key] = v
		return ok
	})
}

func (d *decoder) stepList() bool {
	d.steps = d.steps[:0]
	if !d.byte('[') {
		return false
	}
	for {
		var s Step
		if !d.object(func(key string) bool {
			var ok bool
			switch key {
			case "name":
				s.Name, ok = d.text()
			case "at":
				s.At, ok = d.integer()
			}
			return ok
		}) {
			return false
		}
		d.steps = append(d.steps, s)
		if !d.byte(',') {
			return d.byte(']')
		}
	}
}

func (d *decoder) usage() bool {
	d.client = Usage{}
	return d.integers(func(key string) *int64 {
		switch key {
		case "user_ns":
			return &d.client.UserNS
		case "system_ns":
			return &d.client.SystemNS
		case "max_rss_bytes":
			return &d.client.MaxRSS
		}
		return nil
	})
}

func (d *decoder) disturbance() bool {
	d.host = Disturbance{}
	return d.integers(func(key string) *int64 {
		switch key {
		case "steal_ns":
			return &d.host.StealNS
		case "throttled_ns":
			d.host.ThrottledNS = &d.throttled
			return d.host.ThrottledNS
		case "cpu_pressure_ns":
			return &d.host.CPUPressureNS
		case "memory_pressure_ns":
			return &d.host.MemoryPressureNS
		case "io_pressure_ns":
			return &d.host.IOPressureNS
		}
		return nil
	})
}

func (d *decoder) integers(field func(key string) *int64) bool {
	return d.object(func(key string) bool {
		p := field(key)
		if p == nil {
			return false
		}
		var ok bool
		*p, ok = d.integer()
		return ok
	})
}

// object reads {"key":value,…}, the value by each. We write no blanks.
func (d *decoder) object(each func(key string) bool) bool {
	if !d.byte('{') {
		return false
	}
	if d.byte('}') {
		return true
	}
	for {
		key, ok := d.text()
		if !ok || !d.byte(':') || !each(key) {
			return false
		}
		if !d.byte(',') {
			return d.byte('}')
		}
	}
}

func (d *decoder) byte(c byte) bool {
	if d.i < len(d.b) && d.b[d.i] == c {
		d.i++
		return true
	}
	return false
}

// raw is what stands between two quotes: printable ASCII, no escapes.
func (d *decoder) raw() ([]byte, bool) {
	if !d.byte('"') {
		return nil, false
	}
	for from := d.i; d.i < len(d.b); d.i++ {
		switch c := d.b[d.i]; {
		case c == '"':
			d.i++
			return d.b[from : d.i-1], true
		case c == '\\' || c < ' ' || c > '~':
			return nil, false
		}
	}
	return nil, false
}

// maxStrings bounds the strings that are kept to be used again.
const maxStrings = 10_000

func (d *decoder) text() (string, bool) {
	raw, ok := d.raw()
	if !ok {
		return "", false
	}
	if s, ok := d.strings[string(raw)]; ok {
		return s, true
	}
	s := string(raw)
	if len(d.strings) < maxStrings {
		d.strings[s] = s
	}
	return s, true
}

func (d *decoder) time() (time.Time, bool) {
	from := d.i
	if _, ok := d.raw(); !ok {
		return time.Time{}, false
	}
	var t time.Time
	return t, t.UnmarshalJSON(d.b[from:d.i]) == nil
}

func (d *decoder) boolean() (bool, bool) {
	if rest := d.b[d.i:]; len(rest) >= 4 && string(rest[:4]) == "true" {
		d.i += 4
		return true, true
	}
	return false, false
}

// integer reads up to 18 digits, which cannot overflow.
func (d *decoder) integer() (int64, bool) {
	minus := d.byte('-')
	from, v := d.i, int64(0)
	for d.i < len(d.b) && d.b[d.i]-'0' <= 9 {
		v = v*10 + int64(d.b[d.i]-'0')
		d.i++
		if d.i-from > 18 {
			return 0, false
		}
	}
	n := d.i - from
	if n == 0 || n > 1 && d.b[from] == '0' {
		return 0, false
	}
	if minus {
		v = -v
	}
	return v, d.ended()
}

// small reads an int of any machine.
func (d *decoder) small() (int, bool) {
	v, ok := d.integer()
	return int(v), ok && int64(int32(v)) == v
}

func (d *decoder) float() (float64, bool) {
	from := d.i
	for d.i < len(d.b) {
		c := d.b[d.i]
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			break
		}
		d.i++
	}
	raw := d.b[from:d.i]
	if !json.Valid(raw) {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil && d.ended()
}

// ended says whether a number ends here.
func (d *decoder) ended() bool {
	return d.i < len(d.b) && (d.b[d.i] == ',' || d.b[d.i] == '}' || d.b[d.i] == ']')
}
