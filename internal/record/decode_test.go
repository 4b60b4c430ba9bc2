package record

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// agree checks that the decoder and encoding/json say the same of a line.
func agree(t *testing.T, d *decoder, line string) {
	t.Helper()
	var got Trial
	err := d.decode([]byte(line), &got)
	want := Trial{Seq: -1}
	wantErr := json.Unmarshal([]byte(line), &want)
	if wantErr == nil {
		if want.Seq == -1 {
			wantErr = errNoSeq
		} else {
			wantErr = checkSeq(want.Seq)
		}
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s\ndecoder: %v\nencoding/json: %v", line, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\ndecoder: %+v\nencoding/json: %+v", line, got, want)
	}
}

func TestDecoderAgrees(t *testing.T) {
	d := newDecoder()
	trials := []*Trial{someTrial(0), someTrial(123456), {Seq: 1}, {Seq: 2, Failure: &Failure{Class: Crash, Text: "ä\n"}},
		{Seq: 3, Warmup: true, Events: map[Event]int64{Request: -5}, Values: map[string]float64{"a": 1e-9, "b": -2.5e300}, Quiet: 77, Running: new(1.25), Output: "x"},
		{Seq: 4, Env: "über", Params: map[string]string{"a": "b"}, Remarks: []string{"r"}, At: time.Now()}}
	for _, tr := range trials {
		line, err := json.Marshal(tr)
		require.NoError(t, err)
		agree(t, d, string(line))
	}
	// The usual line takes the quick way.
	line, _ := json.Marshal(someTrial(7))
	d.b, d.i = line, 0
	if !d.trial(&Trial{Seq: -1}) {
		t.Error("an ordinary trial is not decoded quickly")
	}
	for _, line := range odd {
		agree(t, d, line)
	}
}

var odd = []string{
	`{}`, `{"seq":}`, `{"seq":01}`, `{"seq":1}x`, `{"seq":1,}`, `{"seq":1`, `{"SEQ":5}`, `{"seq":1.0}`, `{"seq":1e2}`, `{"seq":-0}`,
	`{"seq":99999999999999999999}`, `{"seq":1,"seq":2}`, `{"seq":null}`, `null`, `[]`, `7`, `"x"`, ``,
	`{"seq":1,"events":{}}`, `{"seq":1,"events":{"request":1,"request":2}}`, `{"seq":1,"events":{"a":1},"events":{"b":2}}`,
	`{"seq":1,"events":null}`, `{"seq":1,"events":{"a":1.5}}`, `{"seq":1,"steps":[]}`, `{"seq":1,"steps":[{"name":"a"}]}`,
	`{"seq":1,"steps":[{"name":"a"},]}`, `{"seq":1,"values":{"a":1.}}`, `{"seq":1,"values":{"a":+1}}`, `{"seq":1,"values":{"a":1e999}}`,
	`{"seq":1,"at":"2026-01-02T03:04:05Z"}`, `{"seq":1,"at":"yesterday"}`, `{"seq":1,"at":"2026-01-02T03:04:05+01:00"}`,
	`{"seq":1,"env":"a\u0062"}`, `{"seq":1,"env":"a` + "\x7f" + `"}`, `{"seq":1,"env":"a` + "\xff" + `"}`, `{"seq":1,"warmup":false}`,
	`{"seq":1,"exit":3000000000}`, `{"seq":1,"client":{"user_ns":1},"client":{"system_ns":2}}`, `{"seq":1,"client":{"more":1}}`,
	`{"seq":1,"host":{}}`, `{"seq":1, "env":"a"}`, `{"seq":1,"future":{"a":[1,2,{"b":null}]}}`, `{"seq":-1}`,
}

func FuzzDecoder(f *testing.F) {
	for _, line := range odd {
		f.Add(line)
	}
	line, _ := json.Marshal(someTrial(3))
	f.Add(string(line))
	f.Fuzz(func(t *testing.T, line string) { agree(t, newDecoder(), line) })
}

// BenchmarkDecode is one line of a million.
func BenchmarkDecode(b *testing.B) {
	line, _ := json.Marshal(someTrial(3))
	d := newDecoder()
	var t Trial
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		require.NoError(b, d.decode(line, &t))
	}
}
