package adapter

// OnlyLoopback says why nobody reaches a container whose payload saw no network
// interface but the loopback, whatever address the engine tells; "" where it saw
// another one, or could not look. A runtime with a network stack of its own
// (gVisor) may be told to leave the container's network alone.
func OnlyLoopback(inside map[string]string) string {
	if inside["net.names"] != "lo" {
		return ""
	}
	return "inside it there is no network interface but the loopback, whatever address the engine tells"
}
