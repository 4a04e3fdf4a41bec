package topics

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// fetchResult is the result of one request for a partition from an offset on: committed records, and the offset after them and
// after following offsets without records.
type fetchResult struct {
	records []*kgo.Record
	next    int64
}

const mostFetched = 2 << 20

// fetch asks the leader once, without waiting for more records.
func fetch(ctx context.Context, client *kgo.Client, detail kadm.TopicDetail, shard int32, offset int64) (*fetchResult, error) {
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.Partition, partition.FetchOffset, partition.PartitionMaxBytes = shard, offset, mostFetched
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = detail.Topic, detail.ID
	topic.Partitions = append(topic.Partitions, partition)
	request := kmsg.NewPtrFetchRequest()
	request.MaxBytes, request.MinBytes, request.IsolationLevel = mostFetched, 0, 1
	request.SessionEpoch = -1
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, client.Broker(int(detail.Partitions[shard].Leader)))
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
		return nil, err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("the broker's response has %d topics; expected one", len(response.Topics))
	}
	from := &response.Topics[0].Partitions[0]
	options := kgo.ProcessFetchPartitionOpts{
		KeepControlRecords: true, Offset: offset, IsolationLevel: kgo.ReadCommitted(), Topic: detail.Topic, Partition: shard,
	}
	read, next := kgo.ProcessFetchPartition(options, from, kgo.DefaultDecompressor(), nil)
	if read.Err != nil {
		return nil, read.Err
	}
	return &fetchResult{read.Records, next}, nil
}

// detail is the brokers' description of a topic: its id, and the leaders of its partitions.
func detail(ctx context.Context, client *kgo.Client, name string) (kadm.TopicDetail, error) {
	topics, err := kadm.NewClient(client).ListTopics(ctx, name)
	if err != nil {
		return kadm.TopicDetail{}, fmt.Errorf("describe %s: %w", name, err)
	}
	about, ok := topics[name]
	if !ok || about.Err != nil {
		return kadm.TopicDetail{}, fmt.Errorf("describe %s: %w", name, about.Err)
	}
	return about, nil
}

// skip returns the first offset from at on that has a record, or end; only offsets without records lie between.
func skip(ctx context.Context, client *kgo.Client, journal Journal, topic string, shard int32, at, end int64) (int64, error) {
	about, err := detail(ctx, client, topic)
	if err != nil {
		return at, err
	}
	for at < end {
		got, err := fetch(ctx, client, about, shard, at)
		if err != nil {
			return at, fmt.Errorf("read %s, shard %d: %w", topic, shard, err)
		}
		if len(got.records) > 0 {
			return at, nil // the client will receive it
		}
		if got.next <= at {
			return end, nil // there are no records: the rest was compacted, or deleted
		}
		at = got.next
	}
	return at, nil
}
