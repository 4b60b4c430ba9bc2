package run

import (
	"bufio"
	"errors"
	"io"

	"plimsoll/internal/record"
)

// writeSamples keeps a time series beside the trial and gives its name.
func (r *runner) writeSamples(seq int, collector string, write func(io.Writer) error) (string, error) {
	name, err := record.SamplesName(seq, collector)
	if err != nil {
		return "", err
	}
	f, err := r.writer.CreateSamples(seq, collector)
	if err != nil {
		return "", err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	if err := errors.Join(write(b), b.Flush(), f.Close()); err != nil {
		return "", err
	}
	return name, nil
}
