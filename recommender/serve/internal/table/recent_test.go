package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// writer writes a shard of a table as the journal's reader would.
type writer struct {
	t      testing.TB
	table  *Tables
	offset int64
}

func (w *writer) take(key string, message proto.Message) {
	value, err := proto.Marshal(message)
	if err == nil {
		err = w.table.Take(0, w.offset, []byte(key), value, time.Now(), time.Now())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.offset++
}

func (w *writer) publish(sizes ...*poolsv1.PoolSize) {
	for _, size := range sizes {
		w.take(keys.PoolOf(size.GetPool()).Record(), size)
	}
	w.take(keys.Shard(0), &poolsv1.ShardHeartbeat{Shards: 1, Lease: durationpb.New(time.Minute)})
}

func size(service string, revision uint64) *poolsv1.PoolSize {
	return &poolsv1.PoolSize{Pool: &poolsv1.Pool{Service: service, Side: poolsv1.Side_SIDE_SERVER}, Revision: revision}
}

// For any records and any position of a watcher, the watcher gets the same with the index as without it.
func TestWhatIsFreshOfAServiceIsWhatAllOfItSays(t *testing.T) {
	const services = 5
	w := &writer{t: t, table: NewTables(Topic{}, 1, time.Hour, time.Now)}
	random := rand.New(rand.NewPCG(1, 2))
	cursors, views := []int64{0}, []*View[keys.Pool, *poolsv1.PoolSize]{w.table.Pools.View()}
	for n := range uint64(300) {
		var sizes []*poolsv1.PoolSize
		for range random.IntN(4) {
			sizes = append(sizes, size(fmt.Sprint(random.IntN(services)), n+1))
		}
		w.publish(sizes...)
		views = append(views, w.table.Pools.View())
		cursors = append(cursors, views[n+1].Shards[0].Position)
		shard := views[len(views)-1-random.IntN(min(3, len(views)))].Shards[0] // some are slow to look
		for _, cursor := range cursors[max(0, len(cursors)-4):] {
			wanted := []string{fmt.Sprint(random.IntN(services)), fmt.Sprint(services + random.IntN(2))}
			collect := func(into *[]int64) func(*Pool) bool {
				return func(e *Pool) bool {
					if slices.Contains(wanted, e.Key.Service) {
						*into = append(*into, e.Offset)
					}
					return true
				}
			}
			var plain, indexed []int64
			shard.Since(cursor, collect(&plain))
			shard.SinceOf(wanted, cursor, collect(&indexed))
			if !slices.Equal(plain, indexed) {
				t.Fatalf("publication %d, cursor %d: %v, want %v", n, cursor, indexed, plain)
			}
		}
	}
}

// All 10,000 pools are written again when a decider takes over a shard; each of 10,000 watchers selects one of them.
func BenchmarkOneOf10000Services(b *testing.B) {
	w := &writer{t: b, table: NewTables(Topic{}, 1, time.Hour, time.Now)}
	var sizes []*poolsv1.PoolSize
	for n := range 10_000 {
		sizes = append(sizes, size(fmt.Sprint("service-", n), 1))
	}
	w.publish(sizes...)
	shard, take := w.table.Pools.View().Shards[0], func(*Pool) bool { return true }
	for n := 0; b.Loop(); n++ {
		shard.SinceOf([]string{fmt.Sprint("service-", n%10_000)}, 0, take)
	}
}
