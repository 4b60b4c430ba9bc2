package export

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// writeJSON writes the long table as one array, one object a line, with the
// same columns as CSV; null is a missing cell. It streams: no row is kept.
func writeJSON(w io.Writer, r *record.Reader, opts Options) error {
	cols := columns(r.Run())
	names := lists.Map(cols, func(c column) []byte { return append(jsonText(nil, c.name), ':') })
	out := bufio.NewWriter(w)
	line := []byte("[\n")
	for row, err := range rows(r, opts.Metric) {
		if err != nil {
			return err
		}
		line = append(line, '{')
		for i, c := range cols {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, names[i]...)
			line = jsonCell(line, c.kind, c.get(row))
		}
		line = append(line, '}')
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = append(line[:0], ",\n"...)
	}
	end := "\n]\n"
	if len(line) > 0 && line[0] == '[' {
		end = "[]\n" // not one row
	}
	if _, err := out.WriteString(end); err != nil {
		return err
	}
	return out.Flush()
}

func jsonCell(b []byte, k kind, c cell) []byte {
	if !c.set {
		return append(b, "null"...)
	}
	switch k {
	case integer:
		return strconv.AppendInt(b, c.int, 10)
	case number:
		return strconv.AppendFloat(b, c.num, 'g', -1, 64)
	case boolean:
		return strconv.AppendBool(b, c.bool)
	}
	return jsonText(b, c.text)
}

// jsonText appends s as a JSON string. Text never fails to be encoded.
func jsonText(b []byte, s string) []byte {
	q, _ := json.Marshal(s)
	return append(b, q...)
}
