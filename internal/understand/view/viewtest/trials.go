package viewtest

import (
	"math"
	"math/rand/v2"
	"time"

	"plimsoll/internal/record"
)

// maker makes trials, one after the other. Each is valid until the next.
type maker struct {
	Spec
	rng    *rand.Rand
	run    *record.Run
	shared float64 // what all trials of a block have in common
	seq    int
	now    int64
	values map[string]float64
	events map[record.Event]int64
	host   record.Disturbance
	client record.Usage
	stored map[int]int // time series, by cell
}

// scatter is a factor around 1 of the i-th environment's shape.
func (m *maker) scatter(i, block int) float64 {
	v := math.Exp(m.shared + 0.03*m.rng.NormFloat64())
	switch i % 7 {
	case 2: // two humps
		if m.rng.IntN(2) == 0 {
			v *= 1.4
		}
	case 3: // a heavy tail
		v *= 1 + 0.02*(math.Pow(m.rng.Float64(), -0.5)-1)
	case 4: // drift
		v *= 1 + 0.15*float64(block)/float64(max(1, m.Blocks-1))
	case 5: // skewed
		v *= 0.9 + 0.1*m.rng.ExpFloat64()
	case 6: // wide
		v *= math.Exp(0.15 * m.rng.NormFloat64())
	}
	return v
}

func (m *maker) trial(block, e, w int) *record.Trial {
	env := &m.run.Environments[e]
	t := &record.Trial{Seq: m.seq, Block: block, Env: env.ID, Workload: m.run.Workloads[w].ID, Clock: env.Clock, At: began.Add(time.Duration(m.seq) * time.Second)}
	m.seq++
	m.now += int64(time.Second)
	always := m.Envs > 7 && e == 7 && w == 0
	if always || e%9 == 8 && m.rng.IntN(200) == 0 {
		class := record.Classes[(e+w)%len(record.Classes)]
		if always {
			class = record.EngineError
		}
		t.Failure = &record.Failure{Class: class, Text: "the engine said no" + m.word(": ", m.seq%3)}
		t.Output = record.OutputName(t.Seq)
		return t
	}
	at, _, startUp := engine(e)
	startUp *= m.scatter(e, block)
	if e%7 == 1 { // rounded to a tenth of a millisecond
		startUp = math.Max(1e5, math.Round(startUp/1e5)*1e5)
	}
	own := int64(0) // the container's own clock
	if env.Clock == record.ClockForeign {
		own = 77_000_000_000_000
	}
	after := func(f float64) int64 { return m.now + int64(startUp*f) }
	work := int64(120e3 * (1 + 0.1*m.rng.Float64()))
	clear(m.events)
	m.events[record.Request], m.events[record.First], m.events[record.Ready] = m.now, after(0.97)+own, after(1)
	m.events[record.Done] = after(0.97) + work + own
	m.events[record.Exit] = after(1.1) + work
	m.events[record.Removed] = m.events[record.Exit]
	if engines[at].steps {
		m.events[record.Created], m.events[record.Start], m.events[record.Started] = after(0.6), after(0.61), after(0.9)
		m.events[record.Removed] = after(1.3) + work
	}
	if engines[at].name == "cri" {
		m.events[record.Sandbox], m.events[record.Started] = after(0.3), after(1.02) // it says so later than the payload
	}
	t.Events = m.events
	clear(m.values)
	for _, metric := range m.run.Workloads[w].Metrics {
		m.values[metric.ID] = m.value(metric.ID, e, block)
	}
	t.Values = m.values
	m.client = record.Usage{UserNS: int64(startUp * 0.1), SystemNS: int64(startUp * 0.05), MaxRSS: 20 << 20}
	t.Client = &m.client
	if m.rng.IntN(500) == 0 {
		m.host = record.Disturbance{StealNS: int64(startUp * 0.05)}
		t.Host = &m.host
	}
	return t
}

// value is a metric of the workload itself.
func (m *maker) value(id string, e, block int) float64 {
	v := m.scatter(e, block) * (1 + 0.02*float64(e))
	switch id {
	case "rate":
		return math.Round(90e3 / v)
	case "time":
		return math.Round(42e6 * v)
	case "payload-cpu":
		return math.Round(1.5e6 * v)
	}
	return math.Round(400 * v)
}

const (
	// seriesEach is how many time series the cells of the first environments
	// have each.
	seriesEach = 4
	seriesEnvs = 12
)

// samples keeps the time series of a trial: a second of work after the start.
func (m *maker) samples(w *record.Writer, t *record.Trial, cell int) error {
	e := cell % m.Envs
	if m.stored == nil {
		m.stored = map[int]int{}
	}
	if e >= seriesEnvs || !t.OK() || m.stored[cell] == seriesEach {
		return nil
	}
	m.stored[cell]++
	col := func(part, id, unit string, counter bool) record.Column {
		return record.Column{ID: part + "-" + id, Part: part, Unit: unit, Counter: counter, What: id}
	}
	s := record.Series{SeriesHead: record.SeriesHead{Collector: "machine", IntervalNS: 10e6, Request: t.Events[record.Request], Columns: []record.Column{
		col("payload", "cpu", "ns", true), col("payload", "memory", "bytes", false), col("daemon", "cpu", "ns", true),
		col("host", "user", "ns", true), col("host", "system", "ns", true)}}, Tail: &record.SeriesTail{}}
	cpu, daemon, user, system := 0.0, 0.0, 1e15, 5e14
	for at := int64(-300e3); at < 1.2e9; at += 10e6 + int64(1e6*m.rng.Float64()) {
		sec := float64(at) * 1e-9
		busy := 0.9 * math.Exp(-math.Pow((sec-0.6)/0.2, 2))
		cpu += busy * 10e6 * (1 + 0.1*m.rng.NormFloat64())
		daemon += 10e6 * math.Exp(-10*max(sec, 0))
		user, system = user+8e6*(busy+0.1), system+2e6
		row := []int64{at, int64(cpu), int64(40e6 * (1 - math.Exp(-4*max(sec, 0)))), int64(daemon), int64(user/1e7) * 1e7, int64(system/1e7) * 1e7}
		if engines[min(e, len(engines)-1)].name != "docker" {
			row[3] = record.NoSample
		}
		s.Rows = append(s.Rows, row)
	}
	f, err := w.CreateSamples(t.Seq, s.Collector)
	if err != nil {
		return err
	}
	if err := record.WriteSeries(f, &s); err != nil {
		f.Close()
		return err
	}
	name, err := record.SamplesName(t.Seq, s.Collector)
	t.Samples = []string{name}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
