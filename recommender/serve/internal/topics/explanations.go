package topics

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// Place is where a record is in its topic.
type Place struct {
	Shard  int32
	Offset int64
}

// Index says where the newest explanation of each pool is: contents stay in the log.
type Index struct {
	mu     sync.RWMutex
	places map[keys.Pool]Place
}

// NewIndex is empty.
func NewIndex() *Index { return &Index{places: map[keys.Pool]Place{}} }

func (x *Index) put(pool keys.Pool, at Place, gone bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !gone {
		x.places[pool] = at
	} else if x.places[pool].Shard == at.Shard { // else it has moved away, and goes on there
		delete(x.places, pool)
	}
}

// Of is where a pool's explanation is, if there is one.
func (x *Index) Of(pool keys.Pool) (Place, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.places[pool]
	return at, ok
}

// Explanations fetches them from the log, one at a time.
type Explanations struct {
	log    Log
	client *kgo.Client

	mu    sync.Mutex
	about *kadm.TopicDetail
}

// ErrGone: a newer one took its place, and compaction has taken it away.
var ErrGone = errors.New("it is not there any more")

// NewExplanations has a client of its own: a broker answers the requests of one connection in turn, and those of a
// consumer wait for records to come.
func NewExplanations(log Log) (*Explanations, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(log.Brokers...), kgo.ClientID("sluice-server-explain"))
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", log.Brokers, err)
	}
	return &Explanations{log: log, client: client}, nil
}

// Close closes its connections.
func (e *Explanations) Close() { e.client.Close() }

// Fetch is the explanation at a place.
func (e *Explanations) Fetch(ctx context.Context, pool keys.Pool, at Place) (*poolsv1.Explanation, error) {
	value, err := e.value(ctx, pool, at)
	if err != nil {
		return nil, fmt.Errorf("fetch the explanation of %s: %w", pool, err)
	}
	explanation := &poolsv1.Explanation{}
	if err := proto.Unmarshal(value, explanation); err != nil {
		return nil, fmt.Errorf("fetch the explanation of %s: %w", pool, err)
	}
	return explanation, nil
}

func (e *Explanations) value(ctx context.Context, pool keys.Pool, at Place) ([]byte, error) {
	about, err := e.leaders(ctx)
	if err != nil {
		return nil, err
	}
	got, err := fetch(ctx, e.client, *about, at.Shard, at.Offset)
	if err != nil {
		e.forget() // whoever asks next learns who leads it now
		return nil, err
	}
	for _, record := range got.records {
		if record.Offset == at.Offset && string(record.Key) == pool.Record() && record.Value != nil {
			return record.Value, nil
		}
	}
	return nil, ErrGone
}

func (e *Explanations) leaders(ctx context.Context) (*kadm.TopicDetail, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.about == nil {
		about, err := detail(ctx, e.client, e.log.Explanations)
		if err != nil {
			return nil, err
		}
		if len(about.Partitions) != e.log.Shards {
			return nil, fmt.Errorf("%s has %d partitions; configured are %d shards", e.log.Explanations, len(about.Partitions), e.log.Shards)
		}
		e.about = &about
	}
	return e.about, nil
}

func (e *Explanations) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.about = nil
}
