package table

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Key identifies the subject of a record of one kind.
type Key[K any] interface {
	comparable
	// Compare is the order of lists.
	Compare(K) int
	// Record is the key in the journal.
	Record() string
	// Group is the name under which records are looked up together.
	Group() string
}

// Kind has the functions of one kind of records.
type Kind[K Key[K], V any] struct {
	parse func(record string) (K, error)
	// read returns a record's value in a shard, and the key that the value itself has.
	read func(value []byte, shard int32) (V, K, error)
	// deleted is true if the record deletes a publication.
	deleted func(V) bool
	// tombstone is the deleted publication for a record without a value.
	tombstone func(K, V) V
	// revision never falls; 0 if the kind has none.
	revision func(V) uint64
}

// Pools are the sizes of pools, Candidates the possible ones, Subsets the connection subsets, and Containers the containers of each service.
type (
	Pools      = Table[keys.Pool, *poolsv1.PoolSize]
	Pool       = Entry[keys.Pool, *poolsv1.PoolSize]
	Candidates = Table[keys.Pool, *poolsv1.Candidate]
	Subsets    = Table[keys.Subset, *subsetsv1.Subset]
	Subset     = Entry[keys.Subset, *subsetsv1.Subset]
	Containers = Table[keys.CalledService, *subsetsv1.ServiceContainers]
)

// PoolKind, CandidateKind, SubsetKind and ContainersKind are kinds of records of sluice_decisions.
var (
	PoolKind = Kind[keys.Pool, *poolsv1.PoolSize]{
		parse: keys.ParsePool,
		read: func(value []byte, shard int32) (*poolsv1.PoolSize, keys.Pool, error) {
			size := &poolsv1.PoolSize{}
			err := proto.Unmarshal(value, size)
			size.Shard, size.ValidUntil, size.LeaseLeft = uint32(shard), nil, nil
			return size, keys.PoolOf(size.GetPool()), err
		},
		deleted: func(size *poolsv1.PoolSize) bool { return size.GetState() == poolsv1.State_STATE_DELETED },
		tombstone: func(pool keys.Pool, before *poolsv1.PoolSize) *poolsv1.PoolSize {
			return &poolsv1.PoolSize{Pool: pool.Proto(), State: poolsv1.State_STATE_DELETED, Revision: before.GetRevision()}
		},
		revision: (*poolsv1.PoolSize).GetRevision,
	}
	CandidateKind = Kind[keys.Pool, *poolsv1.Candidate]{
		parse: keys.ParseCandidate,
		read: func(value []byte, _ int32) (*poolsv1.Candidate, keys.Pool, error) {
			candidate := &poolsv1.Candidate{}
			err := proto.Unmarshal(value, candidate)
			return candidate, keys.PoolOf(candidate.GetPool()), err
		},
		deleted: func(*poolsv1.Candidate) bool { return false },
		tombstone: func(pool keys.Pool, _ *poolsv1.Candidate) *poolsv1.Candidate {
			return &poolsv1.Candidate{Pool: pool.Proto()}
		},
		revision: func(*poolsv1.Candidate) uint64 { return 0 },
	}
	SubsetKind = Kind[keys.Subset, *subsetsv1.Subset]{
		parse: keys.ParseSubset,
		read: func(value []byte, shard int32) (*subsetsv1.Subset, keys.Subset, error) {
			subset := &subsetsv1.Subset{}
			err := proto.Unmarshal(value, subset)
			subset.Shard = uint32(shard)
			return subset, keys.SubsetOf(subset.GetKey()), err
		},
		deleted: func(subset *subsetsv1.Subset) bool { return subset.GetState() == subsetsv1.State_STATE_DELETED },
		tombstone: func(key keys.Subset, before *subsetsv1.Subset) *subsetsv1.Subset {
			return &subsetsv1.Subset{Key: key.Proto(), State: subsetsv1.State_STATE_DELETED, Revision: before.GetRevision()}
		},
		revision: (*subsetsv1.Subset).GetRevision,
	}
	ContainersKind = Kind[keys.CalledService, *subsetsv1.ServiceContainers]{
		parse: keys.ParseCalledService,
		read: func(value []byte, _ int32) (*subsetsv1.ServiceContainers, keys.CalledService, error) {
			all := &subsetsv1.ServiceContainers{}
			err := proto.Unmarshal(value, all)
			return all, keys.CalledService(all.GetService()), err
		},
		deleted: func(all *subsetsv1.ServiceContainers) bool { return len(all.GetContainers()) == 0 },
		tombstone: func(service keys.CalledService, _ *subsetsv1.ServiceContainers) *subsetsv1.ServiceContainers {
			return &subsetsv1.ServiceContainers{Service: string(service)}
		},
		revision: func(*subsetsv1.ServiceContainers) uint64 { return 0 },
	}
)

// decode returns the value of a record and its key.
func (k Kind[K, V]) decode(record string, value []byte, shard int32) (key K, publication V, err error) {
	if key, err = k.parse(record); err != nil || value == nil {
		return key, publication, err
	}
	publication, ownKey, err := k.read(value, shard)
	if err != nil {
		return key, publication, fmt.Errorf("the value of %s: %w", record, err)
	}
	if ownKey != key {
		return key, publication, fmt.Errorf("under the key %s: a record of %v", record, ownKey)
	}
	return key, publication, nil
}
