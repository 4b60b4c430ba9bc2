package report

import (
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// State is a state of a machine that can make starts scatter less.
type State struct {
	Name  string `json:"name"`
	State string `json:"state"`           // one of the constants below
	Now   string `json:"now,omitempty"`   // what it is, as the kernel says it
	Tuned string `json:"tuned,omitempty"` // what it would be
	// NowMeans and TunedMeans are the same in words, where these are numbers.
	NowMeans   string `json:"now_means,omitempty"`
	TunedMeans string `json:"tuned_means,omitempty"`
	Reason     string `json:"reason,omitempty"` // why it can't be set
	Title      string `json:"title"`            // what the machine does when it is set
	Price      string `json:"price"`            // and what it does worse
}

// What can be said of a state.
const (
	StateSet         = "set" // without us
	StateSettable    = "can be set"
	StateUnavailable = "unavailable"
)

// States are those of a machine.
var States = kindOf("the states of this machine", statesDocument, format[[]State]{"json", asJSON[[]State]})

func statesDocument(d *document.Document, all []State, _ Options) {
	t := &document.Table{Columns: []document.Column{{Title: "state"}, {Title: "now"}, {Title: "tuned"}, {Title: ""}}}
	var meanings, missing document.List
	can := 0
	for _, s := range all {
		row := document.Row{Cells: []document.Cell{{Text: words.Clean(s.Name)}, {Text: meant(s.Now, s.NowMeans)}, {Text: meant(s.Tuned, s.TunedMeans)}, {Text: words.Clean(s.State)}}}
		if s.State == StateUnavailable {
			row.Tone = document.Dim
			missing.Items = append(missing.Items, document.Item{Tone: document.Dim, Text: document.Say(words.Clean(s.Name) + ": " + words.Prose(s.Reason) + ".")})
		}
		if s.State == StateSettable {
			can++
			meanings.Items = append(meanings.Items, document.Item{Text: document.Say(words.Clean(s.Name) + ": " + words.Prose(s.Title) + ". Its price: " + words.Prose(s.Price) + ".")})
		}
		t.Rows = append(t.Rows, row)
	}
	d.Heading(1, "What makes starts scatter on this machine, and can be set")
	d.Add(t)
	if can > 0 {
		d.Heading(2, "What each does")
		d.Add(meanings)
	}
	if len(missing.Items) > 0 {
		d.Heading(2, "What can't be set here")
		d.Add(missing)
	}
	if can == 0 {
		return
	}
	d.Para("`plimsoll tune --measure` finds out what each does to the starts of an engine; `plimsoll run --tuned` sets all of them while it runs.")
}

// meant is a value with what it means.
func meant(value, means string) string {
	if means == "" {
		return words.Clean(value)
	}
	return words.Clean(value + " (" + means + ")")
}
