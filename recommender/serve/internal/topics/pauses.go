package topics

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"google.golang.org/protobuf/proto"

	"sluice.dev/serve/internal/keys"

	poolsv1 "sluice.dev/api/pools/v1"
)

// NewestPause is the pool's newest pause or resume among the reports of its shard since a time. Nil: there is none.
func (w *Writer) NewestPause(ctx context.Context, shard int32, pool keys.Pool, since time.Time) (newest *poolsv1.Pause, err error) {
	topic := w.journal.Reports
	starts, err := kadm.NewClient(w.client).ListOffsetsAfterMilli(ctx, since.UnixMilli(), topic)
	if err == nil {
		err = starts.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("list offsets of %s: %w", topic, err)
	}
	about, err := detail(ctx, w.client, topic)
	if err != nil {
		return nil, err
	}
	first, _ := starts.Lookup(topic, shard)
	for at := first.Offset; ; {
		got, err := fetch(ctx, w.client, about, shard, at)
		if err != nil {
			return nil, fmt.Errorf("read %s, shard %d: %w", topic, shard, err)
		}
		for _, record := range got.records {
			report := &poolsv1.Report{}
			if string(record.Key) != pool.Record() || proto.Unmarshal(record.Value, report) != nil {
				continue
			}
			if pause := report.GetPause(); pause != nil {
				newest = pause
			}
		}
		if got.next <= at {
			return newest, nil
		}
		at = got.next
	}
}
