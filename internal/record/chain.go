package record

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// Sum says how far trials.jsonl had come when run.json was written: so many
// trials, the last of them with this sum. Later ones may have followed.
type Sum struct {
	Trials int    `json:"trials"`
	Last   string `json:"last"`
}

// castagnoli is the polynomial of CRC-32C (RFC 3720, appendix B.4), which
// processors compute themselves: it costs nothing beside decoding.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chain is the checksum of trials.jsonl from its start: CRC-32C over all lines
// so far, each without its own sum, newlines and blanks around it. As each line
// carries the sum up to itself, a line that was changed, lost, doubled or moved
// is seen at its place. It is a guard against accidents: whoever changes a
// record on purpose can compute it anew.
type chain struct {
	crc   uint32
	lines int
	begun bool // a line had a sum: all later ones have one
	known *Sum // what run.json says, if anything
}

// A sum is the last field of its line.
const (
	sumBegin = `,"sum":"`
	sumEnd   = `"}`
	sumHex   = 2 * crc32.Size
	sumSize  = len(sumBegin) + sumHex + len(sumEnd)
)

func sumText(crc uint32) string { return fmt.Sprintf("%08x", crc) }

// seal gives a line its sum, and the chain behind it, which counts once the
// line is written.
func (c chain) seal(line []byte) ([]byte, chain) {
	body := line[:len(line)-1] // without its brace
	c.crc = crc32.Update(c.crc, castagnoli, body)
	c.lines++
	c.begun = true
	out := make([]byte, 0, len(body)+sumSize)
	out = append(append(append(append(out, body...), sumBegin...), sumText(c.crc)...), sumEnd...)
	return out, c
}

// take checks the next line and gives it without its sum, in the same memory.
// Records of earlier versions have no sums; one of these that was resumed has
// them from there on, over the earlier lines too.
func (c *chain) take(line []byte) ([]byte, error) {
	c.lines++
	body, said, has := cutSum(line)
	c.crc = crc32.Update(c.crc, castagnoli, body)
	switch {
	case has && said != c.crc:
		return nil, fmt.Errorf("its sum is %s, but what the file holds up to here has the sum %s: it was changed, or a line before it is missing or was moved", sumText(said), sumText(c.crc))
	case !has && (c.begun || c.known != nil && c.lines > c.known.Trials):
		return nil, fmt.Errorf(`it has no "sum", which every line of this run has`)
	case c.known != nil && c.lines == c.known.Trials && sumText(c.crc) != c.known.Last:
		return nil, fmt.Errorf("%s says that the sum up to here is %s, and it is %s: a line was changed, or is missing", RunFile, c.known.Last, sumText(c.crc))
	}
	if !has {
		return line, nil
	}
	c.begun = true
	line[len(body)] = '}' // where the comma stood
	return line[:len(body)+1], nil
}

// cutSum parts a line from its sum, if it has one.
func cutSum(line []byte) (body []byte, sum uint32, ok bool) {
	n := len(line) - sumSize
	if n < 0 || !bytes.HasPrefix(line[n:], []byte(sumBegin)) || !bytes.HasSuffix(line, []byte(sumEnd)) {
		return line, 0, false
	}
	for _, digit := range line[n+len(sumBegin) : len(line)-len(sumEnd)] {
		v := bytes.IndexByte([]byte("0123456789abcdef"), digit)
		if v < 0 {
			return line, 0, false
		}
		sum = sum<<4 | uint32(v)
	}
	return line[:n], sum, true
}

// remark says of a file that was read to its end what is odd: it is shorter
// than run.json knows it, or nothing guards it.
func (c *chain) remark() *Remark {
	switch {
	case c.known != nil && c.lines < c.known.Trials:
		return &Remark{Code: "lines-missing", Level: "warn",
			Text:   fmt.Sprintf("%s says that %d trials were recorded, and %s holds %d: the last ones are missing", RunFile, c.known.Trials, TrialsFile, c.lines),
			Advice: "if it was copied, copy it again; else continue it with --resume, which measures them again"}
	case c.lines > 0 && !c.begun:
		return &Remark{Code: "no-sums", Level: "info",
			Text: "the lines of " + TrialsFile + " have no sums, since an earlier version wrote them: a changed or missing one would go unnoticed"}
	}
	return nil
}
