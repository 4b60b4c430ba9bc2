package record

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func someSeries() *Series {
	return &Series{
		SeriesHead: SeriesHead{Version: SeriesVersion, Collector: "machine", IntervalNS: 1e8, Request: 5e9, Columns: []Column{
			{ID: "a", Part: "host", Unit: "ns", Counter: true, What: "a < b & c"},
			{ID: "b", Part: "host", Unit: "bytes", What: "b"},
		}},
		Rows: [][]int64{{-3, 0, NoSample}, {100, 7, 8}, {200, NoSample, NoSample}, {300, 9, -1}},
		Tail: &SeriesTail{Missed: 1, Readers: []SeriesReader{{"x", 2, 3}}, Absent: map[string]string{"y": "none"}},
	}
}

func TestSeriesComesBack(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSeries(&b, someSeries()))
	text := b.String()
	if !strings.HasPrefix(text, `{"series":1,"collector":"machine",`) || !strings.Contains(text, "\n[-3,0,null]\n") {
		t.Errorf("the file is\n%s", text)
	}
	s, err := ReadSeries(&b, "f")
	require.NoError(t, err)
	if !reflect.DeepEqual(s, someSeries()) {
		t.Errorf("it came back as %+v", s)
	}
	at, v := s.Curve("b")
	if !reflect.DeepEqual(at, []int64{100, 300}) || !reflect.DeepEqual(v, []int64{8, -1}) {
		t.Errorf("the curve of b: %v, %v", at, v)
	}
	if at, v := s.Curve("none"); at != nil || v != nil {
		t.Errorf("the curve of a column that is not there: %v, %v", at, v)
	}
	s.Rows[1] = s.Rows[1][:2]
	if err := WriteSeries(&b, s); err == nil {
		t.Error("a row of the wrong length was written")
	}
}

func TestSeriesDamage(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteSeries(&b, someSeries()))
	whole := b.String()
	lines := strings.SplitAfter(whole, "\n")
	torn, err := ReadSeries(strings.NewReader(lines[0]+lines[1]+"[100,7"), "f")
	if err != nil || len(torn.Rows) != 1 || torn.Tail != nil {
		t.Errorf("a torn line: %+v, %v", torn, err)
	}
	for what, text := range map[string]string{
		"empty":               "",
		"no head":             lines[1],
		"a newer version":     strings.Replace(whole, `"series":1`, `"series":2`, 1),
		"no version":          strings.Replace(whole, `"series":1,`, "", 1),
		"a row that is short": strings.Replace(whole, "[100,7,8]", "[100,7]", 1),
		"a row that is long":  strings.Replace(whole, "[100,7,8]", "[100,7,8,9]", 1),
		"a row without time":  strings.Replace(whole, "[100,7,8]", "[null,7,8]", 1),
		"a fraction":          strings.Replace(whole, "[100,7,8]", "[100,7.5,8]", 1),
		"rubbish":             strings.Replace(whole, "[100,7,8]", "rubbish", 1),
		"more after the tail": whole + "[400,1,1]\n",
	} {
		if s, err := ReadSeries(strings.NewReader(text), "f"); err == nil {
			t.Errorf("%s: read as %+v", what, s)
		}
	}
}

func FuzzReadSeries(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, WriteSeries(&b, someSeries()))
	f.Add(b.String())
	f.Add(`{"series":1,"columns":[{}]}` + "\n[1,null]\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadSeries(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, c := range s.Columns {
			s.Curve(c.ID)
		}
		var again bytes.Buffer
		if err := WriteSeries(&again, s); err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
	})
}
