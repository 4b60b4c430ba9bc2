package export

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// Partition is where a run's file lies below a partitioned folder, as Hive lays it out:
// by study, host and date, in a file named after the run, so that a run that is exported
// again replaces itself and nothing else.
func Partition(run *record.Run) string {
	host := cmp.Or(run.Host.Name, "unknown")
	return path.Join("study="+segment(run.Study.Name), "host="+segment(host), "date="+run.Started.UTC().Format(time.DateOnly), segment(run.ID)+".parquet")
}

// segment is a text as a part of a path. What is not a letter, a digit, '-', '_' or a
// '.' within is written in hexadecimal after '%', which DuckDB and Spark turn back.
func segment(s string) string {
	if s == "" {
		return "__HIVE_DEFAULT_PARTITION__" // what Hive calls a value that is not there
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// WritePartition writes a run as a file of a partitioned folder. What the path says, the
// study, is no column: readers take it from there. A column more tells machines of one
// name apart.
func WritePartition(w io.Writer, r *record.Reader, opts Options) error {
	if err := checkMetric(r.Run(), opts.Metric); err != nil {
		return err
	}
	cols := lists.Filter(columns(r.Run()), func(c column) bool { return c.name != "study" })
	cols = append(cols, column{"machine", text, func(r *row) cell { return textCell(r.run.Host.Machine) }})
	return parquetOf(w, r, cols, opts)
}
