package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// SeriesVersion is the version of the format of a file below samples/.
const SeriesVersion = 1

// NoSample stands in a row where there is no value: the kernel has none, it
// could not be read, or it was not this sample's turn to read it.
const NoSample = math.MinInt64

// Series is a time series of one collector in one trial: one file below samples/. Its first
// line is the head, then comes one line for each row, then the tail.
type Series struct {
	SeriesHead
	// Rows are in the order of time. The first number of a row is its time, ns
	// after Request (before it: negative); the others are the columns' values.
	Rows [][]int64
	// Tail is nil where the file was cut off.
	Tail *SeriesTail
}

// SeriesHead says what the rows mean.
type SeriesHead struct {
	Version   int    `json:"series"`
	Collector string `json:"collector"`
	// IntervalNS is the time between two rows as it was asked for.
	IntervalNS int64 `json:"interval_ns"`
	// Request is the event that times count from, ns of CLOCK_MONOTONIC.
	Request int64    `json:"request"`
	Columns []Column `json:"columns"`
}

// Column is one quantity of a time series.
type Column struct {
	ID   string `json:"id"`
	Part string `json:"part"` // payload, monitor, daemon, client, host, own
	Unit string `json:"unit"` // ns, bytes, count, µJ
	// Counter: it only grows, and what counts is by how much; else it is a
	// level, such as the memory in use.
	Counter bool   `json:"counter,omitempty"`
	What    string `json:"what"`
}

// SeriesTail says what the sampling itself was like.
type SeriesTail struct {
	// Missed is the number of rows that came too late to be taken at all.
	Missed int64 `json:"missed,omitempty"`
	// Readers is what each kind of reading cost.
	Readers []SeriesReader `json:"readers,omitempty"`
	// Absent says by reader what this machine or this container has not;
	// Failed what it has and what could not be read.
	Absent map[string]string `json:"absent,omitempty"`
	Failed map[string]string `json:"failed,omitempty"`
}

// SeriesReader is the cost of one kind of reading.
type SeriesReader struct {
	Name   string `json:"name"`
	Reads  int64  `json:"reads"`
	CostNS int64  `json:"cost_ns"`
}

// Column gives the place of a column in a row, -1 where there is none.
func (s *Series) Column(id string) int {
	i := slices.IndexFunc(s.Columns, func(c Column) bool { return c.ID == id })
	if i < 0 {
		return -1
	}
	return i + 1
}

// Curve gives one column's times (ns after the request) and values, without
// the rows that have none. A column that is missing has no values.
func (s *Series) Curve(id string) (at, values []int64) {
	i := s.Column(id)
	if i < 0 {
		return nil, nil
	}
	for _, row := range s.Rows {
		if row[i] != NoSample {
			at, values = append(at, row[0]), append(values, row[i])
		}
	}
	return at, values
}

// WriteSeries writes a series as lines of JSON: the head is an object, a row
// an array with null for NoSample, the tail an object.
func WriteSeries(w io.Writer, s *Series) error {
	b := bufio.NewWriterSize(w, 64<<10)
	err := s.write(b)
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing samples: %w", err)
	}
	return nil
}

func (s *Series) write(b *bufio.Writer) error {
	head := s.SeriesHead
	head.Version = SeriesVersion
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head); err != nil {
		return err
	}
	var line []byte
	for n, row := range s.Rows {
		if len(row) != len(s.Columns)+1 {
			return fmt.Errorf("row %d has %d numbers, not 1 + %d", n, len(row), len(s.Columns))
		}
		line = append(line[:0], '[')
		for i, v := range row {
			if i > 0 {
				line = append(line, ',')
			}
			if v == NoSample {
				line = append(line, "null"...)
			} else {
				line = strconv.AppendInt(line, v, 10)
			}
		}
		if _, err := b.Write(append(line, ']', '\n')); err != nil {
			return err
		}
	}
	if s.Tail == nil {
		return nil
	}
	return enc.Encode(s.Tail)
}

// ReadSeries reads what WriteSeries wrote; name is for messages. A torn last
// line is left out. Samples of a newer version are refused.
func ReadSeries(r io.Reader, name string) (*Series, error) {
	sc := newLineScanner(r, name)
	s := &Series{}
	for sc.next() {
		switch {
		case sc.number == 1:
			if err := json.Unmarshal(sc.line, &s.SeriesHead); err != nil {
				return nil, sc.damage(err)
			}
			if s.Version < 1 || s.Version > SeriesVersion {
				return nil, fmt.Errorf("%s has samples of version %d; this plimsoll reads versions up to %d", name, s.Version, SeriesVersion)
			}
		case s.Tail != nil:
			return nil, sc.damage(errors.New("a line follows the end of the series"))
		case sc.line[0] == '{':
			s.Tail = &SeriesTail{}
			if err := json.Unmarshal(sc.line, s.Tail); err != nil {
				return nil, sc.damage(err)
			}
		default:
			row, err := parseRow(sc.line, len(s.Columns)+1)
			if err != nil {
				return nil, sc.damage(err)
			}
			s.Rows = append(s.Rows, row)
		}
	}
	if sc.err != nil {
		return nil, sc.err
	}
	if s.Version == 0 {
		return nil, fmt.Errorf("%s holds no samples: its first line is missing", name)
	}
	return s, nil
}

func parseRow(line []byte, n int) ([]int64, error) {
	var values []*int64
	if err := json.Unmarshal(line, &values); err != nil {
		return nil, err
	}
	if len(values) != n {
		return nil, fmt.Errorf("the row has %d numbers, not %d", len(values), n)
	}
	if values[0] == nil {
		return nil, errors.New("the row has no time")
	}
	row := make([]int64, n)
	for i, v := range values {
		if row[i] = NoSample; v != nil {
			row[i] = *v
		}
	}
	return row, nil
}
