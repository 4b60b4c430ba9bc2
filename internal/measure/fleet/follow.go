package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"plimsoll/internal/measure/child"
)

// silence is after how long without a word a connection counts as lost.
const silence = 30 * time.Second

// errTorn says that files have not arrived as they were sent.
var errTorn = errors.New("some of the record has not arrived as it was sent")

// Follow fetches the record into a folder, as it grows, until the run has ended
// and all of it is there; log is where what the run prints goes. An error that
// IsLost is of the connection alone: Follow it again.
func (h *Host) Follow(ctx context.Context, record *os.Root, log *os.File) (*Over, error) {
	have, err := haves(record)
	if err != nil {
		return nil, err
	}
	have[logFile] = logged(log)
	ask, err := json.Marshal(have)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	p, err := child.Start(ctx, child.Command{Argv: h.argv("--", h.Host, h.script("echo "+marker+"; "+h.program(VerbSend))),
		Env: asksNobody(), Stdin: bytes.NewReader(ask), Stdout: w, Leaves: true})
	if err != nil {
		return nil, err
	}
	go func() {
		<-p.Ended()
		_ = w.Close() // it never fails
	}()
	var over *Over
	from := bufio.NewReaderSize(heard{r, quiet}, maxLine)
	if err = begun(from); err == nil {
		over, err = receive(from, record, log)
	}
	_ = r.CloseWithError(io.ErrClosedPipe) // what comes behind the end is not waited for
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if over == nil && !ended {
		cancel()
	}
	out, failed := p.Wait()
	switch {
	case over != nil:
		return over, err
	case ended && failed != nil && ctx.Err() == nil:
		return nil, h.failed("following the run", out, failed)
	case ended:
		return nil, &Error{Host: h.Name, What: "the connection is lost", Lost: true, Err: err}
	}
	return nil, &Error{Host: h.Name, What: "fetching the record: " + err.Error(), Err: err}
}

// begun reads on behind the marker: what a login prints comes before it.
func begun(r *bufio.Reader) error {
	for n := 0; n < maxGreeting; {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if bytes.HasSuffix(line, []byte(marker+"\n")) { // a greeting may end without a line break
			return nil
		}
		n += len(line)
	}
	return errors.New("its shell prints without an end")
}

// heard puts the alarm off with each thing that comes.
type heard struct {
	io.Reader
	alarm *time.Timer
}

func (h heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if n > 0 {
		h.alarm.Reset(silence)
	}
	return n, err
}

// logged is what we have of the log.
func logged(log *os.File) have {
	info, err := log.Stat()
	if err != nil {
		return have{}
	}
	s, err := digest(io.NewSectionReader(log, 0, info.Size()))
	if err != nil {
		return have{}
	}
	return have{info.Size(), s}
}

// receive writes what comes until the run is over. Files that are not what they
// should be are removed, so that the next time they come as a whole.
func receive(r *bufio.Reader, record *os.Root, log *os.File) (*Over, error) {
	var torn error
	for n := 0; ; n++ {
		f, err := next(r)
		switch {
		case err != nil:
			return nil, err
		case f.Over != nil:
			return f.Over, torn
		case f.Alive:
		case f.File == logFile:
			err = takeLog(log, f, r)
		case f.File == "" || stays(f.File):
			err = fmt.Errorf("the file %q is nothing of a record's", f.File)
		case f.Sum != "":
			if got, serr := sum(record, f.File, f.At); serr != nil || got != f.Sum {
				torn, err = errTorn, record.Remove(f.File)
			}
		default:
			err = take(record, f, r)
		}
		if err != nil {
			return nil, err
		}
	}
}

func takeLog(log *os.File, f frame, r io.Reader) error {
	if f.Anew {
		if err := log.Truncate(0); err != nil {
			return err
		}
	}
	return f.copy(io.NewOffsetWriter(log, f.At), r)
}
