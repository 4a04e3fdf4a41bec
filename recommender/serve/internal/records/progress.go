package records

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sluice.dev/serve/internal/topics"
)

// scrapePatience bounds how long a scrape waits for the journal.
const scrapePatience = 2 * time.Second

// Progress counts how far the tables are behind the journal, and the rows written and refused.
type Progress struct {
	admin *kadm.Client
	group string
	now   func() time.Time
	// oldest is the time, in Unix ms, of the oldest record of the journal that is not in the tables; 0: all are.
	oldest atomic.Int64

	lag, age               *prometheus.Desc
	rows, refused, leftOut *prometheus.CounterVec
	failures               prometheus.Counter
}

// NewProgress queries the journal with a client of its own at each scrape.
func NewProgress(journal topics.Journal, now func() time.Time) (*Progress, error) {
	client, err := journal.Client(kgo.ClientID(Group + "-lag"))
	if err != nil {
		return nil, err
	}
	name := func(suffix string) string { return prometheus.BuildFQName("sluice", "records", suffix) }
	counter := func(suffix, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name(suffix), Help: help}, []string{label})
	}
	return &Progress{
		admin: kadm.NewClient(client), group: consumerGroup(journal), now: now,
		lag:      prometheus.NewDesc(name("lag_records"), "Offsets between the last record in the tables and the end of the journal, of all processes.", []string{"topic"}, nil),
		age:      prometheus.NewDesc(name("oldest_waiting_seconds"), "Age of the oldest record read that is not in the tables; 0 while none waits.", nil, nil),
		rows:     counter("rows_total", "Rows written.", "table"),
		refused:  counter("rows_refused_total", "Rows that ClickHouse refused; they are left out.", "table"),
		leftOut:  counter("left_out_total", "Records of the journal without a usable value; they are left out.", "topic"),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: name("failures_total"), Help: "Failed writes; they are tried again."}),
	}, nil
}

// Close closes its connections.
func (p *Progress) Close() { p.admin.Close() }

// Describe implements prometheus.Collector.
func (p *Progress) Describe(to chan<- *prometheus.Desc) {
	to <- p.lag
	to <- p.age
	for _, collector := range []prometheus.Collector{p.rows, p.refused, p.leftOut, p.failures} {
		collector.Describe(to)
	}
}

// Collect implements prometheus.Collector. Without the journal the lag is not known.
func (p *Progress) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapePatience)
	defer cancel()
	if groups, err := p.admin.Lag(ctx, p.group); err == nil && groups.Error() == nil {
		for topic, lag := range groups[p.group].Lag.TotalByTopic() {
			to <- prometheus.MustNewConstMetric(p.lag, prometheus.GaugeValue, float64(lag.Lag), topic)
		}
	}
	age := 0.0
	if oldest := p.oldest.Load(); oldest > 0 {
		age = max(0, p.now().Sub(time.UnixMilli(oldest)).Seconds())
	}
	to <- prometheus.MustNewConstMetric(p.age, prometheus.GaugeValue, age)
	for _, collector := range []prometheus.Collector{p.rows, p.refused, p.leftOut, p.failures} {
		collector.Collect(to)
	}
}

// setWaiting sets the records that wait for the tables; none: all are written.
func (p *Progress) setWaiting(records []*kgo.Record) {
	oldest := int64(0)
	for _, record := range records {
		if at := record.Timestamp.UnixMilli(); oldest == 0 || at < oldest {
			oldest = at
		}
	}
	p.oldest.Store(oldest)
}
