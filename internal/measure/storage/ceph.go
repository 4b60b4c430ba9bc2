package storage

// parseCephClient reads the counters of ceph-fuse: "client" has its questions of
// metadata, "objecter" its requests of the object servers.
func parseCephClient(b []byte) (map[string]int64, error) {
	p, err := parseCeph(b, "client")
	if err != nil {
		return nil, err
	}
	o := p["objecter"]
	meta := p["client"]["reply"] // one for each answer of a metadata server
	return map[string]int64{
		ClientMetadata: meta.n,
		ClientRequests: meta.n + o["op_reply"].n,
		ClientWritten:  o["op_send_bytes"].n,
	}, nil
}

// parseCephMDS reads the counters of a metadata server.
func parseCephMDS(b []byte) (map[string]int64, error) {
	p, err := parseCeph(b, "mds")
	if err != nil {
		return nil, err
	}
	s := p["mds_server"]
	return map[string]int64{
		MetadataRequests: p["mds"]["request"].n,
		MetadataWait:     p["mds"]["reply_latency"].ns(),
		// A file that is made is opened by the same request.
		MetadataOpens: s["req_open_latency"].n + s["req_create_latency"].n,
	}, nil
}

// parseCephOSD reads the counters of an object server: of what clients ask, to
// which metadata servers with their journals belong, and not of replication.
func parseCephOSD(b []byte) (map[string]int64, error) {
	p, err := parseCeph(b, "osd")
	if err != nil {
		return nil, err
	}
	o := p["osd"]
	return map[string]int64{
		DataRequests: o["op"].n,
		DataWait:     o["op_latency"].ns(),
		DataRead:     o["op_out_bytes"].n,
		DataWritten:  o["op_in_bytes"].n,
	}, nil
}
