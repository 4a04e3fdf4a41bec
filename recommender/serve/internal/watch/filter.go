// Package watch tells watchers the state, then what changes.
package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"sluice.dev/serve/internal/keys"
	"sluice.dev/serve/internal/problem"
	"sluice.dev/serve/internal/table"

	poolsv1 "sluice.dev/api/pools/v1"
)

// What one watch may name.
const (
	MostServices = 100
	MostPools    = 1000
)

// Filter is what a watcher wants to hear of.
type Filter struct {
	// ID tells filters apart; 0 is that of all pools.
	ID       uint64
	services []string
	pools    []keys.Pool
	// named are the services of both.
	named []string
}

// FilterOf is the filter of a request.
func FilterOf(request *poolsv1.WatchPoolSizesRequest) (*Filter, error) {
	if n := len(request.GetServices()); n > MostServices {
		return nil, problem.Conflict("services", fmt.Sprintf("has %d names", n), fmt.Sprintf("at most %d", MostServices))
	}
	if n := len(request.GetPools()); n > MostPools {
		return nil, problem.Conflict("pools", fmt.Sprintf("has %d pools", n), fmt.Sprintf("at most %d", MostPools))
	}
	f := &Filter{}
	if request.GetService() != "" {
		f.services = append(f.services, request.GetService())
	}
	for i, name := range request.GetServices() {
		if name == "" {
			return nil, problem.Empty(fmt.Sprintf("services[%d]", i), "a service name")
		}
		f.services = append(f.services, name)
	}
	for i, given := range request.GetPools() {
		pool, err := problem.Pool(given, fmt.Sprintf("pools[%d]", i))
		if err != nil {
			return nil, err
		}
		f.pools = append(f.pools, pool)
	}
	slices.Sort(f.services)
	slices.SortFunc(f.pools, keys.Pool.Compare)
	f.services, f.pools = slices.Compact(f.services), slices.Compact(f.pools)
	f.named = slices.Clone(f.services)
	for _, pool := range f.pools {
		f.named = append(f.named, pool.Service)
	}
	slices.Sort(f.named)
	f.named = slices.Compact(f.named)
	f.ID = f.id()
	return f, nil
}

// since calls take with what was written to a shard at offset or later, and perhaps others that the filter does not take.
func (f *Filter) since(shard *table.Shard, offset int64, take func(*table.Entry) bool) {
	if f.All() {
		shard.Since(offset, take)
	} else {
		shard.SinceOf(f.named, offset, take)
	}
}

func (f *Filter) id() uint64 {
	if f.All() {
		return 0
	}
	sum := sha256.New()
	for _, service := range f.services {
		fmt.Fprintf(sum, "%q\n", service)
	}
	for _, pool := range f.pools {
		fmt.Fprintf(sum, "%q\n", pool.Record())
	}
	return max(1, binary.BigEndian.Uint64(sum.Sum(nil)))
}

// All tells whether every pool is wanted.
func (f *Filter) All() bool { return len(f.services) == 0 && len(f.pools) == 0 }

// Takes tells whether a pool is wanted.
func (f *Filter) Takes(pool keys.Pool) bool {
	if f.All() {
		return true
	}
	if _, found := slices.BinarySearch(f.services, pool.Service); found {
		return true
	}
	_, found := slices.BinarySearchFunc(f.pools, pool, keys.Pool.Compare)
	return found
}
