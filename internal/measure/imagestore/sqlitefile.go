package imagestore

import (
	"encoding/binary"
	"math"
	"slices"
)

// A SQLite database, written as https://www.sqlite.org/fileformat2.html has it:
// tables with rowids and without indices, no row larger than a page. It is made
// here so that the same bytes come out on every machine, which has no SQLite to
// make it with or another version.

const sqlitePage = 4096

// sqliteTable is a table to be written; its rows are cells that next gives one
// after the other.
type sqliteTable struct {
	name, sql string
	rows      int
	row       func(i int) []any // int64, float64 or string
}

type sqliteFile struct{ pages [][]byte }

// sqliteDatabase writes the tables, all of whose definitions fit one page.
func sqliteDatabase(tables []sqliteTable) []byte {
	f := &sqliteFile{pages: [][]byte{make([]byte, sqlitePage)}}
	var schema [][]byte
	for i, t := range tables {
		root := f.table(t)
		schema = append(schema, sqliteCell(int64(i+1), []any{"table", t.name, t.name, int64(root), t.sql}))
	}
	first := f.pages[0]
	copy(first, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(first[16:], sqlitePage)
	copy(first[18:], []byte{1, 1, 0, 64, 32, 32})
	for at, v := range map[int]uint32{24: 1, 28: uint32(len(f.pages)), 40: 1, 44: 4, 56: 1, 92: 1, 96: 3040001} { //nolint:gosec // far fewer pages
		binary.BigEndian.PutUint32(first[at:], v)
	}
	sqliteFill(first, 100, 0x0d, schema)
	return slices.Concat(f.pages...)
}

// child is a page of a tree and the highest rowid in it.
type sqliteChild struct {
	page int
	key  int64
}

// table writes a table's tree from its leaves upwards, and gives its root.
func (f *sqliteFile) table(t sqliteTable) int {
	var level []sqliteChild
	var cells [][]byte
	used := 8
	flush := func(last int64) {
		page := make([]byte, sqlitePage)
		sqliteFill(page, 0, 0x0d, cells)
		f.pages = append(f.pages, page)
		level = append(level, sqliteChild{len(f.pages), last})
		cells, used = nil, 8
	}
	for i := range t.rows {
		c := sqliteCell(int64(i+1), t.row(i))
		if used+len(c)+2 > sqlitePage {
			flush(int64(i))
		}
		cells, used = append(cells, c), used+len(c)+2
	}
	flush(int64(t.rows))
	for len(level) > 1 {
		var up []sqliteChild
		for group := range slices.Chunk(level, 250) { // an entry takes at most 15 bytes
			last := group[len(group)-1]
			var entries [][]byte
			for _, c := range group[:len(group)-1] {
				entries = append(entries, sqliteVarint(binary.BigEndian.AppendUint32(nil, uint32(c.page)), uint64(c.key))) //nolint:gosec // both are counts
			}
			page := make([]byte, sqlitePage)
			binary.BigEndian.PutUint32(page[8:], uint32(last.page)) //nolint:gosec // a count
			sqliteFill(page, 0, 0x05, entries)
			f.pages = append(f.pages, page)
			up = append(up, sqliteChild{len(f.pages), last.key})
		}
		level = up
	}
	return level[0].page
}

// sqliteFill puts cells into a page whose header begins at an offset.
func sqliteFill(page []byte, at int, kind byte, cells [][]byte) {
	pointers, end := at+8, sqlitePage
	if kind == 0x05 {
		pointers += 4
	}
	page[at] = kind
	binary.BigEndian.PutUint16(page[at+3:], uint16(len(cells))) //nolint:gosec // below a page
	for i, c := range cells {
		end -= len(c)
		copy(page[end:], c)
		binary.BigEndian.PutUint16(page[pointers+2*i:], uint16(end)) //nolint:gosec // below a page
	}
	binary.BigEndian.PutUint16(page[at+5:], uint16(end)) //nolint:gosec // a page at most
}

// sqliteCell is a row in a leaf.
func sqliteCell(rowid int64, values []any) []byte {
	var types, body []byte
	for _, v := range values {
		switch v := v.(type) {
		case string:
			types = sqliteVarint(types, uint64(2*len(v)+13)) //nolint:gosec // short
			body = append(body, v...)
		case float64:
			types, body = append(types, 7), binary.BigEndian.AppendUint64(body, math.Float64bits(v))
		case int64:
			switch {
			case v == int64(int8(v)):
				types, body = append(types, 1), append(body, byte(v))
			case v == int64(int16(v)):
				types, body = append(types, 2), binary.BigEndian.AppendUint16(body, uint16(v)) //nolint:gosec // two's complement
			default:
				types, body = append(types, 4), binary.BigEndian.AppendUint32(body, uint32(v)) //nolint:gosec // two's complement
			}
		}
	}
	head := sqliteVarint(nil, uint64(len(types)+1)) // fewer than 127 columns
	payload := slices.Concat(head, types, body)
	cell := sqliteVarint(nil, uint64(len(payload)))
	cell = sqliteVarint(cell, uint64(rowid)) //nolint:gosec // above 0
	return append(cell, payload...)
}

// sqliteVarint appends a number of at most 56 bits: seven bits a byte, the
// highest first.
func sqliteVarint(to []byte, v uint64) []byte {
	n := 1
	for x := v >> 7; x > 0; x >>= 7 {
		n++
	}
	for i := n - 1; i >= 0; i-- {
		b := byte(v>>(7*i)) & 0x7f
		if i > 0 {
			b |= 0x80
		}
		to = append(to, b)
	}
	return to
}
