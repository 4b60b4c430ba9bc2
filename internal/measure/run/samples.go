package run

import (
	"bufio"
	"errors"
	"io"

	"plimsoll/internal/record"
)

// keepSeries keeps a whole protocol's series beside the trial. All metrics of
// the trial are derived from it, so that a trial whose series is lost has failed.
func (s *site) keepSeries(t *record.Trial, collector string, write func(io.Writer) error) {
	name, err := s.writeSamples(t.Seq, collector, write)
	switch {
	case err == nil:
		t.Samples = append(t.Samples, name)
	case t.OK():
		t.Failure = &record.Failure{Class: record.HarnessError, Text: "its series could not be kept: " + err.Error()}
	default:
		t.Remarks = append(t.Remarks, "its series could not be kept: "+err.Error())
	}
}

// keepSamples keeps a series beside the trial, which stands without it.
func (s *site) keepSamples(t *record.Trial, what, collector string, write func(io.Writer) error) {
	name, err := s.writeSamples(t.Seq, collector, write)
	if err != nil {
		t.Remarks = append(t.Remarks, what+" could not be kept: "+err.Error())
		return
	}
	t.Samples = append(t.Samples, name)
}

// writeSamples writes a time series and gives its name.
func (s *site) writeSamples(seq int, collector string, write func(io.Writer) error) (string, error) {
	name, err := record.SamplesName(seq, collector)
	if err != nil {
		return "", err
	}
	f, err := s.writer.CreateSamples(seq, collector)
	if err != nil {
		return "", err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	if err := errors.Join(write(b), b.Flush(), f.Close()); err != nil {
		return "", err
	}
	return name, nil
}
