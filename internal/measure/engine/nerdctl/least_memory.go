package nerdctl

func (env *environment) LimitsMemory() bool { return true }
