package holds

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// firstPause and lastPause bound the wait before the log is read anew after a failure.
	firstPause, lastPause = 500 * time.Millisecond, 10 * time.Second
	// looked is how often the brokers are asked whether the topic still is the one that is read.
	looked = 4 * time.Second
	// asking bounds what the brokers are asked at the start, and looking what they are asked between two looks at the log.
	asking, looking = 10 * time.Second, 2 * time.Second
)

// Run reads the log until ctx is done. A log that cannot be read is read anew, from where it begins; nobody is answered
// meanwhile.
func (h *Holds) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := h.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		h.logger.Error("holds are read anew", "error", err)
		h.mu.Lock()
		h.whole, h.problem = false, err.Error()
		h.mu.Unlock()
		if time.Since(began) > time.Minute {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause = min(2*pause, lastPause)
	}
}

// follow reads from where the log begins: by offsets, since a time of this host says nothing of the brokers'.
func (h *Holds) follow(ctx context.Context) error {
	topic, start, end, err := h.ask(ctx)
	if err != nil {
		return err
	}
	client, err := h.log.Client(
		kgo.ClientID("sluice-server-holds"),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{h.log.Holds: {0: kgo.NewOffset().At(start)}}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(time.Second),
		kgo.MetadataMinAge(time.Second),
	)
	if err != nil {
		return fmt.Errorf("read %s: %w", h.log.Holds, err)
	}
	defer client.Close()
	h.mu.Lock()
	h.fold, h.whole = NewFold(uint64(start)), false
	h.mu.Unlock()
	last := time.Now()
	for {
		if err := h.poll(ctx, client, end); err != nil {
			return err
		}
		if time.Since(last) > looked {
			last = time.Now()
			if err := h.same(ctx, topic); err != nil {
				return err
			}
		}
	}
}

// poll takes what came. The log is whole from `end` on.
func (h *Holds) poll(ctx context.Context, client *kgo.Client, end int64) error {
	h.mu.Lock()
	if !h.whole && h.fold.Position() >= uint64(end) {
		h.whole, h.problem = true, ""
		h.logger.Info("holds are read", "targets", h.fold.Kept())
	}
	h.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, looked)
	defer cancel()
	fetches := client.PollFetches(within)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, each := range fetches.Errors() {
		if !errors.Is(each.Err, context.DeadlineExceeded) && !errors.Is(each.Err, context.Canceled) {
			return fmt.Errorf("read %s: %w", each.Topic, each.Err)
		}
	}
	fetches.EachRecord(h.take)
	return nil
}

// ask is the topic's id, where it begins and where it ends now.
func (h *Holds) ask(ctx context.Context) (topic kadm.TopicID, start, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	admin := kadm.NewClient(h.writer)
	if topic, err = h.id(ctx, admin); err != nil {
		return topic, 0, 0, err
	}
	if err := h.stamped(ctx, admin); err != nil {
		return topic, 0, 0, err
	}
	starts, err := admin.ListStartOffsets(ctx, h.log.Holds)
	if err != nil {
		return topic, 0, 0, fmt.Errorf("ask where %s begins: %w", h.log.Holds, err)
	}
	ends, err := admin.ListEndOffsets(ctx, h.log.Holds)
	if err != nil {
		return topic, 0, 0, fmt.Errorf("ask where %s ends: %w", h.log.Holds, err)
	}
	from, _ := starts.Lookup(h.log.Holds, 0)
	to, _ := ends.Lookup(h.log.Holds, 0)
	if err := errors.Join(from.Err, to.Err); err != nil {
		return topic, 0, 0, fmt.Errorf("ask where %s begins and ends: %w", h.log.Holds, err)
	}
	return topic, from.Offset, to.Offset, nil
}

func (h *Holds) id(ctx context.Context, admin *kadm.Client) (kadm.TopicID, error) {
	found, err := admin.ListTopics(ctx, h.log.Holds)
	if err != nil {
		return kadm.TopicID{}, fmt.Errorf("ask for %s: %w", h.log.Holds, err)
	}
	detail := found[h.log.Holds]
	switch {
	case !found.Has(h.log.Holds):
		return kadm.TopicID{}, fmt.Errorf("read %s: it is not there; collector/topics.yaml has it", h.log.Holds)
	case detail.Err != nil:
		return kadm.TopicID{}, fmt.Errorf("read %s: %w", h.log.Holds, detail.Err)
	}
	return detail.ID, nil
}

// stamped: records have to have the brokers' time. Those of servers are of several clocks.
func (h *Holds) stamped(ctx context.Context, admin *kadm.Client) error {
	configs, err := admin.DescribeTopicConfigs(ctx, h.log.Holds)
	if err != nil {
		return fmt.Errorf("ask for the configuration of %s: %w", h.log.Holds, err)
	}
	config, err := configs.On(h.log.Holds, nil)
	if err = errors.Join(err, config.Err); err != nil {
		return fmt.Errorf("ask for the configuration of %s: %w", h.log.Holds, err)
	}
	for _, each := range config.Configs {
		if each.Key == "message.timestamp.type" && each.MaybeValue() == "LogAppendTime" {
			return nil
		}
	}
	return fmt.Errorf("read %s: its message.timestamp.type is not LogAppendTime; collector/topics.yaml has its configuration", h.log.Holds)
}

// same asks whether the topic is still the one that is read.
func (h *Holds) same(ctx context.Context, topic kadm.TopicID) error {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	now, err := h.id(ctx, kadm.NewClient(h.writer))
	if err == nil && now != topic {
		return fmt.Errorf("read %s: it was replaced by another of its name", h.log.Holds)
	}
	return nil // where no broker answers, nobody knows, and nothing is written either
}
