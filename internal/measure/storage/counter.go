package storage

import "plimsoll/internal/record"

// counter is one thing that is counted, by the same name on every file system.
type counter struct {
	ID    string // role and quantity, such as "data-written"
	Unit  string // count, bytes, ns
	Title string
	What  string
}

// The counters. Their names begin with whose they are: the client's (the machine
// that asks), the metadata server's, the data servers'.
const (
	ClientRead     = "client-read"
	ClientWritten  = "client-written"
	ClientRequests = "client-requests"
	ClientWait     = "client-wait"
	ClientOpens    = "client-opens"
	ClientMetadata = "client-metadata"

	MetadataRequests = "metadata-requests"
	MetadataWait     = "metadata-wait"
	MetadataOpens    = "metadata-opens"

	DataRead     = "data-read"
	DataWritten  = "data-written"
	DataRequests = "data-requests"
	DataWait     = "data-wait"
)

// counters lists what a source may count, in the order of a report.
var counters = []counter{
	{ClientRead, "bytes", "client read", "bytes that the client fetched from the file system's servers"},
	{ClientWritten, "bytes", "client written", "bytes that the client sent to the file system's servers"},
	{ClientRequests, "count", "client requests", "requests that the client sent to the file system's servers"},
	{ClientWait, "ns", "client wait", "how long the client's requests took until they were answered, added up"},
	{ClientOpens, "count", "client opens", "files that programs opened on the client"},
	{ClientMetadata, "count", "client metadata", "metadata requests that the client sent or its programs asked for"},
	{MetadataOpens, "count", "MDS opens", "opens of files that the metadata servers handled"},
	{MetadataRequests, "count", "MDS requests", "requests that the metadata servers handled"},
	{MetadataWait, "ns", "MDS wait", "time that requests spent at the metadata servers, added up"},
	{DataRead, "bytes", "servers read", "bytes that the data servers gave out"},
	{DataWritten, "bytes", "servers written", "bytes that the data servers took in"},
	{DataRequests, "count", "data requests", "requests that the data servers handled"},
	{DataWait, "ns", "data wait", "time that requests spent at the data servers, added up"},
}

// perRequest are quotients that a reader wants of two counters: the mean time
// of a request.
var perRequest = []struct{ id, wait, requests, title, what string }{
	{"client-request-wait", ClientWait, ClientRequests, "client wait/request", "mean time until a request of the client was answered"},
	{"metadata-request-wait", MetadataWait, MetadataRequests, "MDS wait/request", "mean time that a request spent at the metadata servers"},
	{"data-request-wait", DataWait, DataRequests, "data wait/request", "mean time that a request spent at the data servers"},
}

// Metrics are the counters and their quotients as metrics with a prefix before
// the id and the title, such as the name of who counted.
func Metrics(prefix, title string, kind record.Kind) []record.Metric {
	var out []record.Metric
	for _, c := range counters {
		out = append(out, record.Metric{ID: prefix + c.ID, Unit: c.Unit, Better: record.LowerIsBetter, Title: title + c.Title, What: c.What, Kind: kind})
	}
	for _, q := range perRequest {
		out = append(out, record.Metric{ID: prefix + q.id, Unit: "ns", Better: record.LowerIsBetter, Title: title + q.title, What: q.what, Kind: kind})
	}
	return out
}

// SumsPrefix stands before the ids of what all who count have counted together.
const SumsPrefix = "storage-"

// SumMetrics are the metrics of these sums, which a study can name before it is
// known who will count.
func SumMetrics() []record.Metric { return Metrics(SumsPrefix, "", record.Sampled) }

// Values adds the quotients to counted values and puts a prefix before each id.
func Values(prefix string, counted map[string]int64) map[string]float64 {
	out := map[string]float64{}
	for id, n := range counted {
		out[prefix+id] = float64(n)
	}
	for _, q := range perRequest {
		wait, ok := counted[q.wait]
		if n := counted[q.requests]; ok && n > 0 {
			out[prefix+q.id] = float64(wait) / float64(n)
		}
	}
	return out
}
