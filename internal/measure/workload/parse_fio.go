package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxParsed bounds what a parser looks at: no program of ours prints as much.
const maxParsed = 4 << 20

var errTooLong = fmt.Errorf("it is longer than %d bytes", maxParsed)

// parseFio reads what fio prints with --output-format=json, for a single job.
// The keys are read.… and write.…: bytes-per-second, iops, latency-mean and
// latency-p99 (ns from submission to completion). A direction in which
// nothing was done has none.
func parseFio(out []byte) (map[string]float64, error) {
	if len(out) > maxParsed {
		return nil, errTooLong
	}
	// Remarks may stand before the document.
	begin := 0
	if !bytes.HasPrefix(out, []byte("{")) {
		if begin = bytes.Index(out, []byte("\n{")); begin < 0 {
			return nil, errors.New("it holds no JSON of fio")
		}
	}
	type direction struct {
		Total     *float64 `json:"total_ios"`
		Bytes     *float64 `json:"bw_bytes"`
		IOPS      *float64 `json:"iops"`
		Completed *struct {
			Mean       *float64            `json:"mean"`
			Percentile map[string]*float64 `json:"percentile"`
		} `json:"clat_ns"`
	}
	var doc struct {
		Jobs []struct {
			Error       *int       `json:"error"`
			Read, Write *direction //nolint:tagliatelle // fio's names
		} `json:"jobs"`
	}
	if err := json.NewDecoder(bytes.NewReader(out[begin:])).Decode(&doc); err != nil {
		return nil, fmt.Errorf("reading fio's JSON: %w", err)
	}
	if len(doc.Jobs) != 1 {
		return nil, fmt.Errorf("fio tells of %d jobs, not of one", len(doc.Jobs))
	}
	job := doc.Jobs[0]
	if job.Error == nil || *job.Error != 0 {
		return nil, errors.New("fio's job had an error")
	}
	values := map[string]float64{}
	for name, d := range map[string]*direction{"read": job.Read, "write": job.Write} {
		if d == nil || d.Total == nil || d.Bytes == nil || d.IOPS == nil || d.Completed == nil {
			return nil, fmt.Errorf("fio's job has no %s with its counts", name)
		}
		if *d.Total <= 0 {
			continue
		}
		values[name+".bytes-per-second"] = *d.Bytes
		values[name+".iops"] = *d.IOPS
		if mean := d.Completed.Mean; mean != nil {
			values[name+".latency-mean"] = *mean
		}
		if p99 := d.Completed.Percentile["99.000000"]; p99 != nil {
			values[name+".latency-p99"] = *p99
		}
	}
	return checked(values)
}

// checked refuses numbers that no count or rate can be.
func checked(values map[string]float64) (map[string]float64, error) {
	for key, v := range values {
		if !(v >= 0 && v <= largest) { // NaN too
			return nil, fmt.Errorf("%s is %g", key, v)
		}
	}
	return values, nil
}
