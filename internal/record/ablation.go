package record

// Ablation says which environments of a run show what each mechanism of an engine
// costs: the same engine without it, and the engines that it calls.
type Ablation struct {
	Engine string `json:"engine"`
	// Base is the environment with everything.
	Base string `json:"base"`
	// Again are more environments that are the same as Base: by them the base is known
	// better, since all that is taken away alone is held against it, and it is seen
	// what chance makes of nothing.
	Again []string       `json:"again,omitempty"`
	Steps []AblationStep `json:"steps"`
	// Added are what the engine can also do: With is an environment that has it.
	Added []AblationStep `json:"added,omitempty"`
	// HeldOut are combinations that no step is estimated from, to be predicted.
	HeldOut []HeldOut `json:"held_out,omitempty"`
	// Below are the engines that it calls, each with as much taken away as it can be,
	// and last the floor.
	Below []Below `json:"below,omitempty"`
}

// AblationStep is a mechanism that is taken away.
type AblationStep struct {
	Mechanism string `json:"mechanism"`
	Title     string `json:"title"`
	Price     string `json:"price,omitempty"` // what its user gives up
	// With and Without are two environments that differ in the mechanism alone: the
	// base and another one, or, where that can't be, both changed by Given.
	With    string `json:"with,omitempty"`
	Without string `json:"without,omitempty"`
	Given   string `json:"given,omitempty"`
	// After is the environment without it and without all steps before it.
	After string `json:"after,omitempty"`
	// Missing says why it can't be taken away here.
	Missing string `json:"missing,omitempty"`
}

// HeldOut is an environment without several mechanisms, or with what is added.
type HeldOut struct {
	Env        string   `json:"env"`
	Mechanisms []string `json:"mechanisms"`
}

// Below is an engine below another one.
type Below struct {
	Engine string `json:"engine"`
	// Env is the engine without all that was taken away above it.
	Env string `json:"env"`
	// Steps are what can be taken away from it alone; they have no With and Without.
	Steps []AblationStep `json:"steps,omitempty"`
}
