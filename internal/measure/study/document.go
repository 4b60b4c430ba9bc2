package study

import "plimsoll/internal/common/yamlfile"

// A document is a study as it stands in one file. These types are the format:
// the reader is driven by them, and the JSON Schema is generated from them.
// The tag key is the key in the file; jsonschema holds the limits, which the
// reader applies too, and jsonschema_description what an editor shows.
type document struct {
	Format       yamlfile.Count  `key:"plimsoll" jsonschema:"required,minimum=1,maximum=1" jsonschema_description:"Version of the format: 1."`
	Name         yamlfile.Name   `key:"name" jsonschema:"required" jsonschema_description:"The study's name: lower-case letters, digits, '.', '_', '-'."`
	Title        yamlfile.Text   `key:"title" jsonschema_description:"A headline."`
	Description  yamlfile.Text   `key:"description" jsonschema_description:"What the study asks, in a few sentences."`
	Extends      yamlfile.Text   `key:"extends" jsonschema_description:"A bundled study, or a file in this study's folder, whose keys hold where this study does not give its own."`
	Protocol     protocol        `key:"protocol" jsonschema_description:"How the trials are run."`
	Common       yamlfile.Axes   `key:"common" jsonschema_description:"One level of a factor for every environment that does not name that factor itself, wherever the engine knows the level."`
	Workloads    []workload      `key:"workloads" jsonschema:"minItems=1" jsonschema_description:"What runs inside."`
	Parts        []part          `key:"parts" jsonschema:"minItems=1" jsonschema_description:"Instead of workloads and environments: several matrices, which make one plan."`
	Baselines    []yamlfile.Name `key:"baselines" jsonschema_description:"The baselines to add: native and floor always are, host is unless this list leaves it out."`
	Environments []environment   `key:"environments" jsonschema:"minItems=1" jsonschema_description:"Where it runs: each entry is every combination of its engines and levels."`
	Exclude      []exclusion     `key:"exclude" jsonschema_description:"Combinations that make no sense, each with the reason. They are shown, not run."`
	Published    publishedMatrix `key:"published" jsonschema_description:"What a paper says of the same matrix, to compare with the plan's own count."`
	Claims       claims          `key:"claims" jsonschema_description:"The sentences that the study tests: a list, or the file that holds it."`
	Metrics      []yamlfile.Name `key:"metrics" jsonschema_description:"The metrics that a report shows first."`
	Sort         yamlfile.Name   `key:"sort" jsonschema_description:"The metric that a report sorts by."`
	Tables       []paperTable    `key:"tables" jsonschema:"minItems=1" jsonschema_description:"Published tables, and which of the study's numbers stand next to theirs."`

	Scales yamlfile.Keyed[scale] `key:"scales" jsonschema_description:"Other sizes of the study, each by its name: plimsoll run STUDY --scale NAME. Without, the study is as it stands."`
}

// A part is a matrix of its own.
type part struct {
	at           yamlfile.Pos
	Name         yamlfile.Name  `key:"name" jsonschema:"required" jsonschema_description:"The part's name."`
	Title        yamlfile.Text  `key:"title" jsonschema_description:"A headline."`
	Workloads    []workload     `key:"workloads" jsonschema:"required,minItems=1" jsonschema_description:"What runs inside."`
	Environments []environment  `key:"environments" jsonschema:"required,minItems=1" jsonschema_description:"Where it runs: each entry is every combination of its engines and levels."`
	Limits       limits         `key:"limits" jsonschema_description:"Limits that replace the protocol's in this part, key by key."`
	Blocks       yamlfile.Count `key:"blocks" jsonschema:"minimum=1,maximum=100000" jsonschema_description:"In how many counted blocks, the first ones, the part's trials occur. Default: in all of the protocol's."`
	Warmup       yamlfile.Flag  `key:"warmup" jsonschema_description:"Whether the part's trials occur in the blocks to warm up. Default: true."`

	skipped string // why the scale leaves it out
}

// A scale is laid over a study.
type scale struct {
	Title    yamlfile.Text              `key:"title" jsonschema_description:"A headline."`
	Protocol protocol                   `key:"protocol" jsonschema_description:"Keys that replace the protocol's."`
	Parts    yamlfile.Keyed[scaledPart] `key:"parts" jsonschema_description:"Keys that replace a part's, by the part's name."`
	// For a study without parts.
	Workloads    []workload    `key:"workloads" jsonschema:"minItems=1" jsonschema_description:"What runs inside instead, where the study has no parts."`
	Environments []environment `key:"environments" jsonschema:"minItems=1" jsonschema_description:"Where it runs instead, where the study has no parts."`
}

type scaledPart struct {
	Skip         yamlfile.Text  `key:"skip" jsonschema_description:"Why this scale leaves the part out."`
	Blocks       yamlfile.Count `key:"blocks" jsonschema:"minimum=1,maximum=100000" jsonschema_description:"In how many counted blocks the part's trials occur."`
	Warmup       yamlfile.Flag  `key:"warmup" jsonschema_description:"Whether they occur in the blocks to warm up."`
	Workloads    []workload     `key:"workloads" jsonschema:"minItems=1" jsonschema_description:"What runs inside instead."`
	Environments []environment  `key:"environments" jsonschema:"minItems=1" jsonschema_description:"Where it runs instead."`
	Limits       limits         `key:"limits" jsonschema_description:"Limits that replace the part's, or the protocol's, key by key. A list makes the limit a factor."`
}

// A paperTable sets a published table beside the study's numbers.
type paperTable struct {
	at       yamlfile.Pos
	Table    yamlfile.Text                 `key:"table" jsonschema:"required" jsonschema_description:"The table's name in the paper."`
	Source   yamlfile.Text                 `key:"source" jsonschema_description:"The paper's key. Default: the name of the study in whose file this stands."`
	Title    yamlfile.Text                 `key:"title" jsonschema_description:"What the table holds."`
	Stat     yamlfile.Name                 `key:"statistic" jsonschema:"enum=mean,enum=mean-z,enum=geometric-mean,enum=mean-without-largest,enum=median" jsonschema_description:"By which estimator the table's numbers were made, and ours are compared with them once more. Default: the source's."`
	Baseline yamlfile.Text                 `key:"baseline" jsonschema_description:"The published engine, with its variant, that a percentage is taken against where the paper gives none."`
	Engines  yamlfile.Keyed[yamlfile.Axes] `key:"engines" jsonschema:"required" jsonschema_description:"Each published engine, with its variant as in singularity/sif: the levels (or engine) of the environments that stand for it."`
	Images   yamlfile.Keyed[yamlfile.Axes] `key:"images" jsonschema_description:"Each published image: the image that stands for it; of several the first that ran."`
	Rows     yamlfile.Keyed[paperRow]      `key:"rows" jsonschema_description:"Each published workload and metric, as in sqlite/1-thread/time: the study's."`
	Ratios   []paperPair                   `key:"ratios" jsonschema:"minItems=1" jsonschema_description:"Pairs of published engines whose ratio is compared with ours."`
	Without  yamlfile.Keyed[yamlfile.Text] `key:"without" jsonschema_description:"Published engines, images and rows without a counterpart here, and why."`
}

// paperPair has patterns: a star is the same on both sides.
type paperPair struct {
	Of yamlfile.Text `key:"of" jsonschema:"required" jsonschema_description:"A published engine, with its variant; a star stands for any part (docker/*/btrfs)."`
	To yamlfile.Text `key:"to" jsonschema:"required" jsonschema_description:"What it is divided by; a star stands for what the star in the same place of the order stands for in of."`
}

type paperRow struct {
	Workload workload      `key:"workload" jsonschema:"required" jsonschema_description:"A workload by its name, or with the parameters that it must have."`
	Metric   yamlfile.Name `key:"metric" jsonschema:"required" jsonschema_description:"A metric of that workload."`
	As       yamlfile.Name `key:"as" jsonschema:"enum=overhead,enum=difference" jsonschema_description:"What the paper gives instead of the value: the loss against native in per cent (overhead), or the gain (difference)."`
	Note     yamlfile.Text `key:"note" jsonschema_description:"In what the study's number is another thing."`
	// In a row whose size lies in the image, that is another one than the table's.
	Images yamlfile.Keyed[yamlfile.Axes] `key:"images" jsonschema_description:"Each published image of this row: the image that stands for it, instead of the table's."`
}

type protocol struct {
	Blocks     yamlfile.Count    `key:"blocks" jsonschema:"minimum=1,maximum=100000,default=10" jsonschema_description:"Blocks that count. Each holds every trial of the plan in random order."`
	Until      until             `key:"until" jsonschema_description:"End when every ratio is known to this half-width, such as 2%, looked at after 10, 20, 40 … blocks; an environment whose ratios are leaves earlier. Takes the place of blocks. Or claims: after the blocks, further ones are measured for the study's claims that are not decided, which are looked at after once, twice and four times the blocks."`
	TimeBudget yamlfile.Duration `key:"time-budget" jsonschema_description:"As many whole blocks as fit into this time, from 1s to 720h, such as 10m. Takes the place of blocks."`
	MaxBlocks  yamlfile.Count    `key:"max-blocks" jsonschema:"minimum=1,maximum=100000,default=80" jsonschema_description:"At most this many blocks, with until or time-budget. Default: 80, or 1000 with time-budget alone, or four times the blocks with until: claims."`
	ClaimTime  yamlfile.Duration `key:"claim-time" jsonschema_description:"With until: claims, how long the further blocks may take, from 1s to 720h, such as 5m. Default: as long as they take."`
	Warmup     yamlfile.Count    `key:"warmup" jsonschema:"minimum=0,maximum=1000,default=1" jsonschema_description:"Blocks before those, marked as warm-up."`
	PerBlock   yamlfile.Count    `key:"per-block" jsonschema:"minimum=1,maximum=1000,default=1" jsonschema_description:"Trials of each cell in a block."`
	Pause      yamlfile.Duration `key:"pause" jsonschema_description:"Pause before each trial, at most 1h, such as 500ms. Default: 0s."`
	Seed       yamlfile.Count    `key:"seed" jsonschema:"minimum=0,maximum=9007199254740991,default=0" jsonschema_description:"Seed of the order; 0 draws one, which the record keeps."`
	Order      yamlfile.Name     `key:"order" jsonschema:"enum=random,enum=sequential,default=random" jsonschema_description:"Order of the trials in a block. Sequential is for demonstrations only: its intervals lie."`
	Cache      yamlfile.Name     `key:"cache" jsonschema:"enum=warm,enum=cold,default=warm" jsonschema_description:"State of the page cache before each trial."`
	TrialLimit yamlfile.Duration `key:"trial-limit" jsonschema_description:"Time limit of one trial, from 1ms to 24h. Default: 30s."`
	Delta      yamlfile.Percent  `key:"delta" jsonschema_description:"The smallest difference that matters, such as 1%, which is the default."`
	Limits     limits            `key:"limits" jsonschema_description:"Limits on every container alike. A list makes the limit a factor: each environment is measured with each of them."`
	Small      yamlfile.Flag     `key:"small" jsonschema_description:"Every workload runs at its small levels, but for the parameters that the study names. Default: false."`
	Tuned      yamlfile.Flag     `key:"tuned" jsonschema_description:"The machine is in the states that make starts scatter least (plimsoll tune) while the run lasts, and as before afterwards. Default: false."`
	Collect    rate              `key:"collect" jsonschema_description:"How often the machine is sampled during a trial, from 1Hz to 100Hz, or off, or auto, which is the default: 10Hz for workloads from files, nothing while a life cycle is timed."`
}

type limits struct {
	CPUs   yamlfile.Several[yamlfile.Amount] `key:"cpus" jsonschema_description:"CPUs, such as 1 or 0.5, or none for no limit, or a list of them. Default: 1."`
	Memory yamlfile.Several[yamlfile.Size]   `key:"memory" jsonschema_description:"Memory, such as 512MiB or 1GiB, or none for no limit, or a list of them. Default: 1GiB."`
}

type workload struct {
	at         yamlfile.Pos
	Name       nameOrFile        `key:"name" jsonschema_description:"A workload of the catalogue, or others: all that the list does not name."`
	File       filePath          `key:"file" jsonschema_description:"The file of a workload, in this study's folder or below it."`
	Parameters yamlfile.Settings `key:"parameters" jsonschema_description:"Parameters and their values: every combination is a workload of its own."`
}

type environment struct {
	at     yamlfile.Pos
	Engine yamlfile.Words `key:"engine" jsonschema:"required" jsonschema_description:"One engine, or a list; others stands for all that the environments do not name."`
	As     yamlfile.Words `key:"as" jsonschema_description:"Names under which each environment is entered once more, for A/A comparisons: [a, b]."`
	Ablate yamlfile.Words `key:"ablate" jsonschema_description:"Mechanisms of the engine that are taken away, singly, one after the other and in combinations, to show what each costs; all stands for all that it has, additions for what it can also do and does not by itself. Each factor then has one level."`
	Levels yamlfile.Axes  `key:",rest"`
}

type exclusion struct {
	at      yamlfile.Pos
	When    yamlfile.Axes `key:"when" jsonschema:"required" jsonschema_description:"Levels by factor (or by engine or workload). All must hold."`
	Because yamlfile.Text `key:"because" jsonschema:"required" jsonschema_description:"The reason, as a sentence."`
	Source  yamlfile.Text `key:"source" jsonschema_description:"Where that is documented: an http or https address."`
}

type publishedMatrix struct {
	at           yamlfile.Pos
	Source       yamlfile.Text  `key:"source" jsonschema:"required" jsonschema_description:"Where it is published: an http or https address."`
	Combinations yamlfile.Count `key:"combinations" jsonschema:"required,minimum=1,maximum=200000" jsonschema_description:"How many combinations the published matrix has."`
	Valid        yamlfile.Count `key:"valid" jsonschema:"required,minimum=0,maximum=200000" jsonschema_description:"How many of them are valid, as published."`
	Part         yamlfile.Name  `key:"part" jsonschema_description:"The part that is the published matrix. Default: all."`
	Difference   yamlfile.Text  `key:"difference" jsonschema_description:"Why the plan's count differs, where it does."`
}

func (w *workload) Place(at yamlfile.Pos)        { w.at = at }
func (e *environment) Place(at yamlfile.Pos)     { e.at = at }
func (e *exclusion) Place(at yamlfile.Pos)       { e.at = at }
func (e *publishedMatrix) Place(at yamlfile.Pos) { e.at = at }
func (e *part) Place(at yamlfile.Pos)            { e.at = at }
func (e *paperTable) Place(at yamlfile.Pos)      { e.at = at }
