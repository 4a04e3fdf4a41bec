package problem

import (
	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// MostName bounds a name, in bytes.
const MostName = 512

// Pool returns the key of a pool in a request; the error names the field below field.
func Pool(pool *poolsv1.Pool, field string) (keys.Pool, error) {
	key := keys.PoolOf(pool)
	for _, part := range []struct{ name, value string }{{"service", key.Service}, {"peer", key.Peer}} {
		if len(part.value) > MostName {
			return keys.Pool{}, NotLegal(field+"."+part.name, part.value, "at most 512 bytes")
		}
	}
	switch {
	case key.Service == "":
		return keys.Pool{}, Empty(field+".service", "a service name")
	case key.Side == poolsv1.Side_SIDE_SERVER && key.Peer != "":
		return keys.Pool{}, Conflict(field+".peer", "is set for SIDE_SERVER", "empty")
	case key.Side == poolsv1.Side_SIDE_CONSUMER && key.Peer != "":
		return keys.Pool{}, Conflict(field+".peer", "is set for SIDE_CONSUMER", "empty")
	case key.Side == poolsv1.Side_SIDE_CLIENT && key.Peer == "":
		return keys.Pool{}, Conflict(field+".peer", "is empty for SIDE_CLIENT", "the name of a peer")
	case !key.Legal():
		return keys.Pool{}, NotLegal(field+".side", int32(key.Side), "SIDE_SERVER, SIDE_CLIENT, SIDE_CONSUMER")
	}
	return key, nil
}
