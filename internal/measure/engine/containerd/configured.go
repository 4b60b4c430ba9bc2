package containerd

func (env *environment) Configured() error {
	if env.d.own == nil {
		return nil
	}
	return env.d.given.Holds(env.d.own.PID)
}
