package features

import (
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// keepers are the engines whose things lie in a daemon of the user's, with the
// kinds of which their adapters can take one away that a ledger names. The others
// have a store of the run's own, which goes with the run's folder.
var keepers = map[string][]string{
	"docker":     {engine.KindContainer, engine.KindImage},
	"containerd": {engine.KindContainer, engine.KindNamespace},
	"lxd":        {engine.KindContainer, engine.KindImage, engine.KindProject, engine.KindPool},
	"incus":      {engine.KindContainer, engine.KindImage, engine.KindProject, engine.KindPool},
}

// enter tells the run's ledger of something that is about to be made, and gives
// its name. It is struck out by the sweep after all attempts, which looks whether
// it is gone.
func (b *bench) enter(kind, name string) string {
	return b.enterAt(b.at(), kind, name)
}

func (b *bench) enterAt(at, kind, name string) string {
	if !slices.Contains(keepers[b.name], kind) {
		return name
	}
	t := engine.Thing{Kind: kind, Name: name, Engine: b.name, At: at}
	if slices.Contains(b.kit.Ledger.Left(), t) {
		return name
	}
	if err := b.kit.Ledger.Made(t); err != nil {
		panic(ended{value: record.FeatureUntried, why: "noting in the ledger what is to be made: " + err.Error()})
	}
	return name
}

// at is how the engine's adapter names its daemon.
func (b *bench) at() string {
	if b.name == "docker" {
		return "unix://" + b.where
	}
	return b.where
}
