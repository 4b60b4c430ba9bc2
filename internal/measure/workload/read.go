package workload

import (
	"slices"

	"plimsoll/internal/common/yamlfile"
)

// format is the format of a workload's file.
var format = yamlfile.Format{Noun: "workload", Plural: "workloads", Key: "plimsoll-workload", Version: 1}

// Read reads a workload from the text of its file; path is for messages, and
// its last piece must be the workload's name and .yaml. The error is a
// *yamlfile.Errors with everything that is wrong.
func Read(path string, data []byte) (Workload, error) { return read(path, data, true) }

// read is Read; tried: every combination of levels is tried, which takes most of the time.
func read(path string, data []byte, tried bool) (Workload, error) {
	p := &yamlfile.Problems{}
	d := &yamlfile.Decoder{Path: path, Problems: p}
	f := &document{}
	root := format.Decode(d, data, f, "the workload")
	if root == nil {
		return Workload{}, p.Err()
	}
	c := check(f, path, p, d.At(root))
	if tried {
		c.levels(d.At(root))
	}
	if p.Any() {
		return Workload{}, p.Err()
	}
	return f.workload(path, data), nil
}

// workload makes the catalogue's entry.
func (f *document) workload(path string, data []byte) Workload {
	w := Workload{
		Name: f.Name.Text, Title: f.Title.Text, What: f.What.Text, Group: f.Group.Text, Image: f.Image.Text,
		Parameters: map[string][]string{}, Numbers: map[string]Number{}, About: map[string]string{}, Small: map[string]string{},
		Detached: f.Needs.Detached.On, Needs: f.needs(nil), Path: path, Source: string(data), file: f,
	}
	for _, p := range f.Parameters {
		w.Parameters[p.name.Text] = texts(p.Levels.List)
		if p.Number.at.Given() {
			w.Numbers[p.name.Text] = Number{p.Number.Min.N, p.Number.Max.N}
		}
		w.About[p.name.Text] = p.What.Text
	}
	for _, a := range f.Small {
		w.Small[a.Key.Text] = a.Levels.List[0].Text
	}
	seen := map[string]bool{}
	for i := range f.Metrics {
		if m := &f.Metrics[i]; !seen[m.ID.Text] {
			seen[m.ID.Text] = true
			w.Metrics = append(w.Metrics, m.metric())
		}
	}
	w.Metrics = append(w.Metrics, standard...)
	if f.Launch.at.Given() {
		w.Metrics = append(w.Metrics, rankMetrics...)
	}
	if slices.Contains(w.Parameters[startedByParameter], startedByExec) {
		w.Metrics = append(w.Metrics, commandMetrics...)
	}
	return w
}
