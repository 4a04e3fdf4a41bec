package topics

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// skipTime bounds the search for the next record of a shard.
const skipTime = 30 * time.Second

// pass is one reading of the journal from its start.
type pass struct {
	*Reader
	client      *kgo.Client
	description *description
	reading     Reading
	// at has the offset after the last record read, by topic and shard.
	at        map[string][]int64
	complete  bool
	checkedAt time.Time
}

func (p *pass) run(ctx context.Context) error {
	p.checkedAt = p.now()
	for {
		p.loop.Turn()
		fetched, err := p.poll(ctx)
		if err != nil {
			return err
		}
		if !p.complete {
			if err := p.checkComplete(ctx, fetched == 0); err != nil {
				return err
			}
		}
		if p.now().Sub(p.checkedAt) > checkInterval {
			if err := p.checkTopic(ctx); err != nil {
				return err
			}
		}
	}
}

// checkTopic checks that the topic was not replaced, and asks for its end.
func (p *pass) checkTopic(ctx context.Context) error {
	p.checkedAt = p.now()
	if err := p.checkTopicID(ctx, p.client, p.description.topic); err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ends, err := p.journal.ends(within, p.client, p.journal.Decisions)
	if err != nil {
		return nil // no broker answers: not known
	}
	behind := int64(0)
	for shard, end := range ends[p.journal.Decisions] {
		behind += max(0, end-p.at[p.journal.Decisions][shard])
	}
	p.lag.Store(behind)
	return nil
}

// poll processes the records that arrived, and returns their number.
func (p *pass) poll(ctx context.Context) (n int, err error) {
	wait := checkInterval
	if !p.complete {
		wait = idleAfter
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	fetches := p.client.PollFetches(within)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	for _, failure := range fetches.Errors() {
		if fatal(failure.Err) {
			return 0, fmt.Errorf("read %s, shard %d: %w", failure.Topic, failure.Partition, failure.Err)
		}
	}
	read := p.now()
	fetches.EachRecord(func(record *kgo.Record) {
		p.take(record, read)
		n++
	})
	return n, nil
}

func (p *pass) take(record *kgo.Record, read time.Time) {
	p.at[record.Topic][record.Partition] = record.Offset + 1
	if record.Attrs.IsControl() {
		return
	}
	if record.Topic == p.journal.Decisions {
		err := p.reading.Tables.Take(record.Partition, record.Offset, record.Key, record.Value, record.Timestamp, read)
		if err != nil {
			p.logger.Error("a record was left out", "topic", record.Topic, "error", err)
		}
		return
	}
	key := string(record.Key)
	if err := checkExplanationKey(key); err != nil {
		p.logger.Error("a record was left out", "topic", record.Topic, "error", err)
		return
	}
	p.reading.Explanations.put(key, Place{record.Partition, record.Offset}, record.Value == nil)
}

// checkComplete makes the reading ready once it has all records that existed at its start. While no record arrives, the
// rest of the journal may be offsets without records, for example after compaction; checkComplete skips them.
func (p *pass) checkComplete(ctx context.Context, nothing bool) error {
	missing := int64(0)
	for topic, ends := range p.description.ends {
		for shard, end := range ends {
			at := p.at[topic][shard]
			if at < end && nothing {
				p.loop.Turn()
				within, cancel := context.WithTimeout(ctx, skipTime)
				next, err := skip(within, p.client, p.journal, topic, int32(shard), at, end)
				cancel()
				if err != nil {
					return err
				}
				p.at[topic][shard] = next
				at = next
			}
			missing += max(0, end-at)
		}
	}
	if missing > 0 {
		p.setProblem(fmt.Sprintf("the server is reading the journal: %d offsets to go", missing))
		return nil
	}
	p.complete = true
	p.setProblem("")
	p.logger.Info("read the journal to its end", "shards", p.journal.Shards, "left_out", p.reading.Tables.LeftOut())
	p.ready(p.reading)
	return nil
}
