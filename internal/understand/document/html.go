package document

import "plimsoll/internal/common/lists"

// PageCell is a cell as a page's template writes it.
type PageCell struct {
	Text string
	Num  bool // a number: to the right
	Head bool // it names its row
	Span int  // the columns that it takes, 0 for one
}

// PageHead are the titles of a table for a page.
func (t *Table) PageHead() []PageCell {
	return lists.Map(t.Columns, func(c Column) PageCell { return PageCell{Text: c.Title, Num: c.Right} })
}

// PageRows are the rows of a table for a page.
func (t *Table) PageRows() [][]PageCell {
	var out [][]PageCell
	for _, r := range t.Rows {
		var cells []PageCell
		for i, c := range r.Cells {
			p := PageCell{Text: c.String(), Num: t.Columns[i].Right, Head: t.Columns[i].Names}
			if c.Rest {
				p = PageCell{Text: c.Text, Span: len(t.Columns) - i}
			}
			cells = append(cells, p)
		}
		out = append(out, cells)
		for _, l := range r.Below {
			out = append(out, []PageCell{{Text: l.String(), Span: len(t.Columns)}})
		}
	}
	return out
}
