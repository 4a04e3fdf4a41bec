package topics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"
)

// Place is the position of a record in its topic.
type Place struct {
	Shard  int32
	Offset int64
}

// Index has the place of the newest explanation under each key. The contents stay in the journal.
type Index struct {
	mu     sync.RWMutex
	places map[string]Place
}

// NewIndex is empty.
func NewIndex() *Index { return &Index{places: map[string]Place{}} }

func (x *Index) put(key string, at Place, deleted bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !deleted {
		x.places[key] = at
	} else if x.places[key].Shard == at.Shard { // else the key moved to another shard
		delete(x.places, key)
	}
}

// Place returns the place of the explanation under a key, if there is one.
func (x *Index) Place(key string) (Place, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at, ok := x.places[key]
	return at, ok
}

// Explanations fetches them from the journal, one at a time.
type Explanations struct {
	journal Journal
	client  *kgo.Client

	mu    sync.Mutex
	topic *kadm.TopicDetail
}

// ErrGone means that compaction removed the explanation after a newer one.
var ErrGone = errors.New("it no longer exists")

// NewExplanations has a client of its own: a broker answers the requests of one connection in turn, and a consumer's requests
// wait for records.
func NewExplanations(journal Journal) (*Explanations, error) {
	client, err := journal.Client(kgo.ClientID("sluice-server-explain"))
	if err != nil {
		return nil, fmt.Errorf("connect to %v: %w", journal.Brokers, err)
	}
	return &Explanations{journal: journal, client: client}, nil
}

// Close closes its connections.
func (e *Explanations) Close() { e.client.Close() }

// Fetch reads the explanation under a key, at a place, into a message.
func (e *Explanations) Fetch(ctx context.Context, key string, at Place, into proto.Message) error {
	value, err := e.value(ctx, key, at)
	if err == nil {
		err = proto.Unmarshal(value, into)
	}
	if err != nil {
		return fmt.Errorf("fetch the explanation %s: %w", key, err)
	}
	return nil
}

// checkExplanationKey returns an error for a key that is not an explanation's.
func checkExplanationKey(key string) (err error) {
	switch kind, _, _ := strings.Cut(key, "/"); kind {
	case "pair":
		_, err = keys.ParsePair(key)
	case "session":
		_, err = keys.ParseTuning(key)
	case "application":
		_, err = keys.ParseApplication(key)
	case keys.Critical: // nobody asks the server for it
		return nil
	default:
		_, err = keys.ParsePool(key)
	}
	return err
}

func (e *Explanations) value(ctx context.Context, key string, at Place) ([]byte, error) {
	about, err := e.leaders(ctx)
	if err != nil {
		return nil, err
	}
	got, err := fetch(ctx, e.client, *about, at.Shard, at.Offset)
	if err != nil {
		e.forgetLeaders() // the next request asks for the new leader
		return nil, err
	}
	for _, record := range got.records {
		if record.Offset == at.Offset && string(record.Key) == key && record.Value != nil {
			return record.Value, nil
		}
	}
	return nil, ErrGone
}

func (e *Explanations) leaders(ctx context.Context) (*kadm.TopicDetail, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.topic == nil {
		about, err := detail(ctx, e.client, e.journal.Explanations)
		if err != nil {
			return nil, err
		}
		if len(about.Partitions) != e.journal.Shards {
			return nil, fmt.Errorf("%s has %d partitions; configured are %d shards", e.journal.Explanations, len(about.Partitions), e.journal.Shards)
		}
		e.topic = &about
	}
	return e.topic, nil
}

func (e *Explanations) forgetLeaders() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.topic = nil
}
