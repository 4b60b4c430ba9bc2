package export

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"

	"plimsoll/internal/record"
)

// parquetRows is how many rows are handed over at once.
const parquetRows = 1024

// writeParquet writes the long table with the same columns as CSV, sorted by
// name, as the format's groups are; all can be null. Text is kept as a
// dictionary, so that repeating the names costs next to nothing.
func writeParquet(w io.Writer, r *record.Reader, opts Options) error {
	return parquetOf(w, r, columns(r.Run()), opts)
}

func parquetOf(w io.Writer, r *record.Reader, cols []column, opts Options) error {
	group := parquet.Group{}
	for _, c := range cols {
		group[c.name] = parquet.Optional(parquetNode(c.kind))
	}
	schema := parquet.NewSchema("trials", group)
	place := map[string]int{}
	for i, path := range schema.Columns() {
		place[path[0]] = i
	}
	out := parquet.NewGenericWriter[any](w, schema, parquet.Compression(&snappy.Codec{}))
	buf := make([]parquet.Row, 0, parquetRows)
	flush := func() error {
		_, err := out.WriteRows(buf)
		buf = buf[:0]
		return err
	}
	for row, err := range rows(r, opts.Metric) {
		if err != nil {
			return err
		}
		values := make(parquet.Row, len(cols))
		for _, c := range cols {
			i := place[c.name]
			values[i] = parquetValue(c.kind, c.get(row)).Level(0, 0, i)
			if !values[i].IsNull() {
				values[i] = values[i].Level(0, 1, i)
			}
		}
		if buf = append(buf, values); len(buf) == parquetRows {
			if err := flush(); err != nil {
				return fmt.Errorf("writing Parquet: %w", err)
			}
		}
	}
	err := flush()
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}

func parquetNode(k kind) parquet.Node {
	switch k {
	case integer:
		return parquet.Int(64)
	case number:
		return parquet.Leaf(parquet.DoubleType)
	case boolean:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
}

func parquetValue(k kind, c cell) parquet.Value {
	if !c.set {
		return parquet.NullValue()
	}
	switch k {
	case integer:
		return parquet.Int64Value(c.int)
	case number:
		return parquet.DoubleValue(c.num)
	case boolean:
		return parquet.BooleanValue(c.bool)
	}
	return parquet.ByteArrayValue([]byte(c.text))
}
