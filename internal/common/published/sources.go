package published

import (
	"slices"

	"plimsoll/internal/record"
)

// Source is a study whose values are here.
type Source struct {
	Key     string
	Authors []string
	Title   string
	Venue   string
	Year    int
	DOI     string // empty where there is none
	// Statistic is the estimator of its numbers, where a table names no other.
	Statistic record.Statistic
}

var sources = []Source{
	{Key: "baresi2024", Authors: []string{"Baresi", "Quattrocchi", "Rasi"},
		Title: "A qualitative and quantitative analysis of container engines",
		Venue: "Journal of Systems and Software 210", Year: 2024, DOI: "10.1016/j.jss.2024.111965", Statistic: record.StatZMean},
	{Key: "everarts2020", Authors: []string{"Everarts de Velp", "Rivière", "Sadre"},
		Title: "Understanding the performance of container execution environments",
		Venue: "WOC '20", Year: 2020, DOI: "10.1145/3429885.3429967", Statistic: record.StatWithoutLargest},
	{Key: "abraham2020", Authors: []string{"Abraham", "Paul", "Khan", "Butt"},
		Title: "On the Use of Containers in High Performance Computing Environments",
		Venue: "IEEE CLOUD 2020", Year: 2020, Statistic: record.StatMean},
	{Key: "silva2024", Authors: []string{"Silva", "Rafael", "Fonte"},
		Title: "Toward Optimal Virtualization: An Updated Comparative Analysis of Docker and LXD Container Technologies",
		Venue: "Computers 13, 94", Year: 2024, DOI: "10.3390/computers13040094", Statistic: record.StatGeometricMean},
	{Key: "arleskog2023", Authors: []string{"Ärleskog", "Ekström"},
		Title: "Benchmarking Container Engines with a Networking Perspective",
		Venue: "Linnaeus University", Year: 2023, Statistic: record.StatMean},
	{Key: khan2026Key, Authors: []string{"Khan"},
		Title: "Decomposing Docker Container Startup Performance: A Three-Tier Measurement Study on Heterogeneous Infrastructure",
		Venue: "arXiv 2602.15214", Year: 2026, DOI: "10.48550/arXiv.2602.15214", Statistic: record.StatMean},
	{Key: "gerdes2024", Authors: []string{"Gerdes"},
		Title: "Benchmarking what actually drive our containers",
		Venue: "web article", Year: 2024, Statistic: record.StatMean},
	{Key: "sock2018", Authors: []string{"Oakes", "Yang", "Zhou", "Houck", "Harter", "Arpaci-Dusseau", "Arpaci-Dusseau"},
		Title: "SOCK: Rapid Task Provisioning with Serverless-Optimized Containers",
		Venue: "USENIX ATC 2018", Year: 2018, Statistic: record.StatMean},
}

// Sources lists the studies.
func Sources() []Source { return slices.Clone(sources) }

// SourceOf finds a study by its key.
func SourceOf(key string) (Source, bool) {
	i := slices.IndexFunc(sources, func(s Source) bool { return s.Key == key })
	if i < 0 {
		return Source{}, false
	}
	return sources[i], true
}

// URL is the address of the study's DOI, or empty.
func (s Source) URL() string {
	if s.DOI == "" {
		return ""
	}
	return "https://doi.org/" + s.DOI
}
