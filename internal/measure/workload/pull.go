package workload

import (
	"time"

	"plimsoll/internal/record"
)

// Pull is what an engine does instead of starting a container.
type Pull struct {
	Image string
	Cache string // CacheCold, CacheShared or CacheWarm
}

// What the engine's store holds when the pull begins.
const (
	CacheCold   = "cold"   // no layer of the image
	CacheShared = "shared" // another image with the same base
	CacheWarm   = "warm"   // the image: what a second pull costs
)

// The ids of the metrics of a pull, beside those of its parts, which are
// called PullPart and the part's name.
const (
	MetricPull        = "pull"
	PullPart          = "pull-"
	MetricTransferred = "transferred"
	MetricRequests    = "registry-requests"
	SizeCompressed    = "size-compressed"
	SizeUnpacked      = "size-unpacked"
	SizeDisk          = "size-disk"
	SizeShared        = "size-shared"
	SizeUnique        = "size-unique"
	SizeConverted     = "size-converted"
	SizeSaved         = "size-saved"
	SizePrinted       = "size-printed"
)

// pullMetrics are in the order in which a report shows them.
var pullMetrics = []record.Metric{
	{ID: MetricPull, Unit: "ns", Better: record.LowerIsBetter, Title: "pull",
		What: "from the request until a container can be started from the image"},
	{ID: PullPart + "resolve", Unit: "ns", Better: record.LowerIsBetter, Title: "resolve",
		What: "until the reference has become a digest"},
	{ID: PullPart + "transfer", Unit: "ns", Better: record.LowerIsBetter, Title: "transfer",
		What: "from then until all bytes are here"},
	{ID: PullPart + "verify", Unit: "ns", Better: record.LowerIsBetter, Title: "verify",
		What: "the comparison of the bytes with their digests, where it is a part of its own"},
	{ID: PullPart + "unpack", Unit: "ns", Better: record.LowerIsBetter, Title: "unpack",
		What: "until the layers are unpacked"},
	{ID: PullPart + "convert", Unit: "ns", Better: record.LowerIsBetter, Title: "convert",
		What: "until the engine's own format is made (SIF, SquashFS)"},
	{ID: MetricTransferred, Unit: "bytes", Better: record.LowerIsBetter, Title: "transferred",
		What: "the bodies that left the registry, by its own count"},
	{ID: MetricRequests, Unit: "requests", Better: record.LowerIsBetter, Title: "requests",
		What: "the requests that the registry saw"},
	{ID: SizeCompressed, Unit: "bytes", Better: record.LowerIsBetter, Title: "compressed",
		What: "configuration and layers as the manifest in the registry gives them"},
	{ID: SizeUnpacked, Unit: "bytes", Better: record.LowerIsBetter, Title: "unpacked",
		What: "apparent size of the unpacked files"},
	{ID: SizeDisk, Unit: "bytes", Better: record.LowerIsBetter, Title: "on disk",
		What: "allocated on disk for all that the engine keeps of the image"},
	{ID: SizeShared, Unit: "bytes", Better: record.LowerIsBetter, Title: "shared",
		What: "the part of that which other images use too"},
	{ID: SizeUnique, Unit: "bytes", Better: record.LowerIsBetter, Title: "unique",
		What: "the part of that which this image alone uses"},
	{ID: SizeConverted, Unit: "bytes", Better: record.LowerIsBetter, Title: "converted",
		What: "the archive made of it (SIF, SquashFS)"},
	{ID: SizeSaved, Unit: "bytes", Better: record.LowerIsBetter, Title: "saved",
		What: "the archive that the engine's own command packs of it (docker save, podman save, ctr images export, ch-convert)"},
	{ID: SizePrinted, Unit: "bytes", Better: record.LowerIsBetter, Title: "printed",
		What: "the size that the engine itself prints, which is another thing in every engine"},
}

func pullWorkload() Workload {
	return Workload{
		Name: "pull", Group: lifeCycle, // without a title, so that a report names the parameters
		What: "pulls an image from a registry on loopback: cold, with its base already there (shared), or a second time (warm)",
		Parameters: map[string][]string{
			"image": {"busybox", "payload", "debian", "ubuntu-base", "toolbox", "alpine", "ubuntu", "centos"},
			"cache": {CacheCold, CacheShared, CacheWarm},
		},
		Metrics: pullMetrics,
		takes:   func(_ map[string]string, each time.Duration) time.Duration { return each + 5*time.Second },
		pull:    true,
	}
}
