package imagestore

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tpccColumn is a column of TPC-C, by what is in it: a number up to most, an
// amount, or a text of lo to hi letters and digits.
type tpccColumn struct {
	name   string
	most   int64
	amount bool
	lo, hi int
}

func whole(name string, most int64) tpccColumn { return tpccColumn{name: name, most: most} }
func amount(name string) tpccColumn            { return tpccColumn{name: name, amount: true} }
func text(name string, lo, hi int) tpccColumn  { return tpccColumn{name: name, lo: lo, hi: hi} }
func at(name string) tpccColumn                { return text(name, 19, 19) }
func address(prefix string) (columns []tpccColumn) {
	return []tpccColumn{text(prefix+"street_1", 10, 20), text(prefix+"street_2", 10, 20), text(prefix+"city", 10, 20),
		text(prefix+"state", 2, 2), text(prefix+"zip", 9, 9)}
}

// tpccTables are the nine tables of TPC-C (clause 1.3), with how many rows each
// has for one warehouse (clause 4.3.3).
var tpccTables = []struct {
	name    string
	rows    float64
	columns []tpccColumn
}{
	{"warehouse", 1, join([]tpccColumn{whole("w_id", 100), text("w_name", 6, 10)}, address("w_"), []tpccColumn{amount("w_tax"), amount("w_ytd")})},
	{"district", 10, join([]tpccColumn{whole("d_id", 10), whole("d_w_id", 100), text("d_name", 6, 10)}, address("d_"),
		[]tpccColumn{amount("d_tax"), amount("d_ytd"), whole("d_next_o_id", 3000)})},
	{"customer", 30000, join([]tpccColumn{whole("c_id", 3000), whole("c_d_id", 10), whole("c_w_id", 100), text("c_first", 8, 16), text("c_middle", 2, 2),
		text("c_last", 8, 16)}, address("c_"), []tpccColumn{text("c_phone", 16, 16), at("c_since"), text("c_credit", 2, 2), amount("c_credit_lim"),
		amount("c_discount"), amount("c_balance"), amount("c_ytd_payment"), whole("c_payment_cnt", 9), whole("c_delivery_cnt", 9), text("c_data", 300, 500)})},
	{"history", 30000, []tpccColumn{whole("h_c_id", 3000), whole("h_c_d_id", 10), whole("h_c_w_id", 100), whole("h_d_id", 10), whole("h_w_id", 100),
		at("h_date"), amount("h_amount"), text("h_data", 12, 24)}},
	{"new_orders", 9000, []tpccColumn{whole("no_o_id", 3000), whole("no_d_id", 10), whole("no_w_id", 100)}},
	{"orders", 30000, []tpccColumn{whole("o_id", 3000), whole("o_d_id", 10), whole("o_w_id", 100), whole("o_c_id", 3000), at("o_entry_d"),
		whole("o_carrier_id", 10), whole("o_ol_cnt", 15), whole("o_all_local", 1)}},
	{"order_line", 300000, []tpccColumn{whole("ol_o_id", 3000), whole("ol_d_id", 10), whole("ol_w_id", 100), whole("ol_number", 15), whole("ol_i_id", 100000),
		whole("ol_supply_w_id", 100), at("ol_delivery_d"), whole("ol_quantity", 10), amount("ol_amount"), text("ol_dist_info", 24, 24)}},
	{"item", 100000, []tpccColumn{whole("i_id", 100000), whole("i_im_id", 10000), text("i_name", 14, 24), amount("i_price"), text("i_data", 26, 50)}},
	{"stock", 100000, join([]tpccColumn{whole("s_i_id", 100000), whole("s_w_id", 100), whole("s_quantity", 100)}, districts(),
		[]tpccColumn{amount("s_ytd"), whole("s_order_cnt", 100), whole("s_remote_cnt", 100), text("s_data", 26, 50)})},
}

func join(lists ...[]tpccColumn) (out []tpccColumn) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func districts() (out []tpccColumn) {
	for i := range 10 {
		out = append(out, text(fmt.Sprintf("s_dist_%02d", i+1), 24, 24))
	}
	return out
}

// letters are what texts and small files are made of.
const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// lettersOf draws a text.
func lettersOf(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return b
}

// tpccOf writes the database with so many warehouses; a part of one has its part
// of every table's rows, at least one of each. The same number gives the same bytes.
func tpccOf(warehouses float64) []byte {
	var tables []sqliteTable
	for i, t := range tpccTables {
		r := rand.New(rand.NewPCG(uint64(i), 2020)) //nolint:gosec // what is drawn is no secret
		var names []string
		for _, c := range t.columns {
			names = append(names, c.name)
		}
		tables = append(tables, sqliteTable{
			name: t.name, sql: "CREATE TABLE " + t.name + "(" + strings.Join(names, ",") + ")", rows: max(1, int(t.rows*warehouses)),
			row: func(int) []any {
				out := make([]any, len(t.columns))
				for k, c := range t.columns {
					switch {
					case c.amount:
						out[k] = float64(r.IntN(500000)) / 100
					case c.most > 0:
						out[k] = 1 + r.Int64N(c.most)
					default:
						out[k] = string(lettersOf(r, c.lo+r.IntN(c.hi-c.lo+1)))
					}
				}
				return out
			},
		})
	}
	return sqliteDatabase(tables)
}

// tpcc writes the database so that it has a size, to within a hundredth: as many
// warehouses as that takes.
func tpcc(bytes float64) []byte {
	warehouses := bytes / 90e6
	var out []byte
	for range 4 {
		out = tpccOf(warehouses)
		off := bytes / float64(len(out))
		if off > 0.99 && off < 1.01 {
			break
		}
		warehouses *= off
	}
	return out
}
