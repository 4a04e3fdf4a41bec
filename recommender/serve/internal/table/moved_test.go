package table

import (
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// A pool moved from shard 0 to shard 1. A starting server reads the two in any order, and has the pool in shard 1.
func TestAPoolThatMovedIsWhereItWentInWhicheverOrderShardsAreRead(t *testing.T) {
	cart := size("cart", 0)
	pool := keys.PoolOf(cart.GetPool())
	for _, changed := range []uint64{3, 5} { // not since it moved; and since
		histories := [][]uint64{{1, 2, 3, 0}, {3, changed}} // revisions; 0: no value
		random := rand.New(rand.NewPCG(1, changed))
		for range 200 {
			table := NewTables(Topic{}, 2, time.Hour, time.Now)
			at := []int{0, 0}
			offsets := []int64{0, 0}
			take := func(shard int32, key string, value []byte) {
				if err := table.Take(shard, offsets[shard], []byte(key), value, time.Now(), time.Now()); err != nil {
					t.Fatal(err)
				}
				offsets[shard]++
			}
			for at[0] < 4 || at[1] < 2 {
				shard := random.Int32N(2)
				if at[shard] == len(histories[shard]) {
					continue
				}
				var value []byte
				if revision := histories[shard][at[shard]]; revision > 0 {
					value, _ = proto.Marshal(size("cart", revision))
				}
				at[shard]++
				take(shard, pool.Record(), value)
				beat, _ := proto.Marshal(&poolsv1.ShardHeartbeat{Shard: uint32(shard), Shards: 2, Lease: durationpb.New(time.Minute)})
				take(shard, keys.Shard(shard), beat)
			}
			e, _ := table.Pools.Get(pool)
			if e == nil || e.Shard != 1 || e.Publication.GetRevision() != changed {
				t.Fatalf("revision %d: %+v", changed, e)
			}
		}
	}
}
