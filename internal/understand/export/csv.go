package export

import (
	"io"
	"strconv"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// writeCSV writes the long table with a line of names. An empty cell is a
// missing one; numbers have the shortest form that reads back as the same.
func writeCSV(w io.Writer, r *record.Reader, opts Options) error {
	cols := columns(r.Run())
	out := opts.CSV.NewWriter(w)
	line := lists.Map(cols, func(c column) string { return clean(c.name) })
	if err := out.Write(line); err != nil {
		return err
	}
	for row, err := range rows(r, opts.Metric) {
		if err != nil {
			return err
		}
		for i, c := range cols {
			line[i] = csvCell(c.kind, c.get(row))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func csvCell(k kind, c cell) string {
	if !c.set {
		return ""
	}
	switch k {
	case integer:
		return strconv.FormatInt(c.int, 10)
	case number:
		return strconv.FormatFloat(c.num, 'g', -1, 64)
	case boolean:
		return strconv.FormatBool(c.bool)
	}
	return clean(c.text)
}
