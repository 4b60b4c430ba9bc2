package engine

// Named is an engine under another name, so that several of its make can be in
// one study.
func Named(e Engine, name string) Engine { return named{e, name} }

type named struct {
	Engine
	name string
}

func (n named) Info() Info {
	i := n.Engine.Info()
	i.Name = n.name
	return i
}
