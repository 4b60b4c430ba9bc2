package oci

func (e *environment) LimitsMemory() bool { return true }
