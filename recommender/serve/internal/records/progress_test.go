package records

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sluice.dev/serve/internal/journaltest"
)

// metrics are the metrics by name, with the value of a label after it.
func (d *tables) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(d.progress)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := strings.TrimPrefix(family.GetName(), "sluice_records_")
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			if family.GetType() == dto.MetricType_COUNTER {
				values[name] = metric.GetCounter().GetValue()
			} else {
				values[name] = metric.GetGauge().GetValue()
			}
		}
	}
	return values
}

func TestHowFarTheTablesAreBehindIsToldAndWhatBecameOfRows(t *testing.T) {
	journal := journaltest.New(t, 1)
	decider := journal.Decider(t, 0)
	d := &tables{away: true, refused: func(row Row) bool { return row["revision"] == uint64(2) }}
	run(t, journal, d)
	decider.Publish(journaltest.Apply(cart, 1, 8))
	decider.Begin()
	decider.Put(journal.Decisions, cart.Record(), journaltest.Apply(cart, 2, 9))
	decider.End(false) // what was aborted takes offsets too
	decider.Begin()
	decider.PutBytes(journal.Decisions, cart.Record(), []byte("\xff"))
	decider.Heartbeat()
	decider.End(true)
	decider.Publish(journaltest.Apply(cart, 2, 9))
	decider.Publish(journaltest.Apply(cart, 3, 9))
	lag, age := "lag_records "+journal.Decisions, "oldest_waiting_seconds"
	eventually(t, "rows wait", func() bool {
		values := d.metrics(t)
		return values[lag] > 0 && values[age] > 0 && values["failures_total"] > 0
	})
	d.mu.Lock()
	d.away = false
	d.mu.Unlock()
	eventually(t, "none waits", func() bool {
		values := d.metrics(t)
		return values[lag] == 0 && values[age] == 0 && values["rows_total recommendations"] == 2
	})
	values := d.metrics(t)
	if values["rows_refused_total recommendations"] != 1 || values["left_out_total "+journal.Decisions] != 1 {
		t.Error(values)
	}
}
