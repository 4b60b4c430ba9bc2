package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// parseFio reads what fio prints with --output-format=json, for one job or for
// several that were done one after the other, of which the fastest counts, in
// each direction. The keys are read.… and write.…: bytes-per-second, iops,
// latency-mean and latency-p99 (ns from submission to completion), all of the
// same job. A direction in which nothing was done has none.
func parseFio(out []byte) (map[string]float64, error) {
	// Remarks may stand before the document.
	begin := 0
	if !bytes.HasPrefix(out, []byte("{")) {
		if begin = bytes.Index(out, []byte("\n{")); begin < 0 {
			return nil, errors.New("it holds no JSON of fio")
		}
	}
	var doc struct {
		Jobs []fioJob `json:"jobs"`
	}
	if err := json.NewDecoder(bytes.NewReader(out[begin:])).Decode(&doc); err != nil {
		return nil, fmt.Errorf("reading fio's JSON: %w", err)
	}
	if len(doc.Jobs) == 0 {
		return nil, errors.New("fio reports 0 jobs")
	}
	values, fastest := map[string]float64{}, map[string]float64{}
	for i, job := range doc.Jobs {
		if job.Error == nil || *job.Error != 0 {
			return nil, fmt.Errorf("fio's job had an error (%d of %d)", i+1, len(doc.Jobs))
		}
		for name, d := range map[string]*fioDirection{"read": job.Read, "write": job.Write} {
			if d == nil || d.Total == nil || d.Bytes == nil || d.IOPS == nil || d.Completed == nil {
				return nil, fmt.Errorf("fio's job has no %s with its counts (%d of %d)", name, i+1, len(doc.Jobs))
			}
			if *d.Total <= 0 {
				continue
			}
			of, err := d.values(name)
			if err != nil {
				return nil, err
			}
			if best, there := fastest[name]; !there || *d.Bytes > best {
				fastest[name] = *d.Bytes
				maps.DeleteFunc(values, func(key string, _ float64) bool { return strings.HasPrefix(key, name+".") })
				maps.Copy(values, of)
			}
		}
	}
	return values, nil
}

type fioJob struct {
	Error       *int          `json:"error"`
	Read, Write *fioDirection //nolint:tagliatelle // fio's names
}

type fioDirection struct {
	Total     *float64 `json:"total_ios"`
	Bytes     *float64 `json:"bw_bytes"`
	IOPS      *float64 `json:"iops"`
	Completed *struct {
		Mean       *float64            `json:"mean"`
		Percentile map[string]*float64 `json:"percentile"`
	} `json:"clat_ns"`
}

func (d *fioDirection) values(name string) (map[string]float64, error) {
	v := map[string]float64{name + ".bytes-per-second": *d.Bytes, name + ".iops": *d.IOPS}
	if mean := d.Completed.Mean; mean != nil {
		v[name+".latency-mean"] = *mean
	}
	if p99 := d.Completed.Percentile["99.000000"]; p99 != nil {
		v[name+".latency-p99"] = *p99
	}
	return checked(v)
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
