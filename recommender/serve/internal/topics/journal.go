// Package topics reads and writes the topics of the journal (collector/topics.yaml).
package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sluice.dev/serve/internal/table"
)

// Journal names the brokers and topics of the journal, and the number of its shards.
type Journal struct {
	Brokers                                    []string
	Shards                                     int
	Decisions, Explanations, Observed, Reports string
	// Options are for every client: TLS and the like.
	Options []kgo.Opt
}

// Client connects at its first use; more overrides the options of every client.
func (l Journal) Client(more ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(slices.Concat([]kgo.Opt{kgo.SeedBrokers(l.Brokers...)}, l.Options, more)...)
}

// JournalOf is the journal whose topics are named as in collector/topics.yaml, with prefix instead of sluice_.
func JournalOf(brokers []string, shards int, prefix string) Journal {
	return Journal{
		Brokers: brokers, Shards: shards, Decisions: prefix + "decisions", Explanations: prefix + "explanations",
		Observed: prefix + "observed", Reports: prefix + "reports",
	}
}

func (l Journal) names() []string {
	return []string{l.Decisions, l.Explanations, l.Observed, l.Reports}
}

// description is the brokers' description of the journal.
type description struct {
	topic     table.Topic
	retention time.Duration
	ends      map[string][]int64
}

// describe checks that every topic exists with the configured number of partitions. It never changes a topic.
func (l Journal) describe(ctx context.Context, client *kgo.Client) (*description, error) {
	admin := kadm.NewClient(client)
	topics, err := admin.ListTopics(ctx, l.names()...)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	for _, name := range l.names() {
		detail := topics[name]
		if detail.Err != nil || !topics.Has(name) {
			return nil, fmt.Errorf("read %s: %w", name, cmp.Or(detail.Err, errors.New("it does not exist")))
		}
		if len(detail.Partitions) != l.Shards {
			return nil, fmt.Errorf("read %s: it has %d partitions; configured are %d shards", name, len(detail.Partitions), l.Shards)
		}
	}
	s := &description{topic: table.Topic(topics[l.Decisions].ID)}
	if s.retention, err = l.retention(ctx, admin); err != nil {
		return nil, err
	}
	s.ends, err = l.ends(ctx, client, l.Decisions, l.Explanations)
	return s, err
}

// ends are the offsets after the last committed records, by topic and shard.
func (l Journal) ends(ctx context.Context, client *kgo.Client, names ...string) (map[string][]int64, error) {
	listed, err := kadm.NewClient(client).ListCommittedOffsets(ctx, names...)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("read the end of the journal: %w", err)
	}
	ends := map[string][]int64{}
	for _, name := range names {
		ends[name] = make([]int64, l.Shards)
	}
	listed.Each(func(o kadm.ListedOffset) {
		if int(o.Partition) < l.Shards {
			ends[o.Topic][o.Partition] = o.Offset
		}
	})
	return ends, nil
}

// retention is delete.retention.ms of the decisions: a removal can be read for as long.
func (l Journal) retention(ctx context.Context, admin *kadm.Client) (time.Duration, error) {
	configs, err := admin.DescribeTopicConfigs(ctx, l.Decisions)
	if err != nil {
		return 0, fmt.Errorf("read the configuration of %s: %w", l.Decisions, err)
	}
	config, err := configs.On(l.Decisions, nil)
	if err == nil {
		err = config.Err
	}
	if err != nil {
		return 0, fmt.Errorf("read the configuration of %s: %w", l.Decisions, err)
	}
	for _, entry := range config.Configs {
		if entry.Key == "delete.retention.ms" && entry.Value != nil {
			ms, err := strconv.ParseInt(*entry.Value, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the configuration of %s: delete.retention.ms is %q", l.Decisions, *entry.Value)
			}
			return time.Duration(ms) * time.Millisecond, nil
		}
	}
	return 24 * time.Hour, nil // Kafka's own default
}
