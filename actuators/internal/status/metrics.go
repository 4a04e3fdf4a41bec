package status

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
)

type metrics struct {
	registry   *prometheus.Registry
	actions    *prometheus.CounterVec
	nacks      *prometheus.CounterVec
	readErrors *prometheus.CounterVec
	expired    *prometheus.CounterVec
	rolledBack *prometheus.CounterVec
	size       *prometheus.GaugeVec
	wanted     *prometheus.GaugeVec
	busy       *prometheus.GaugeVec
	waiting    *prometheus.GaugeVec
	reloads    *prometheus.CounterVec
	refused    prometheus.Gauge
}

// newMetrics registers all metrics of the actuator.
func newMetrics(b *Board) *metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "sluice", Subsystem: "actuator", Name: name, Help: help}, labels)
	}
	gauges := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "sluice", Subsystem: "actuator", Name: name, Help: help}, []string{"target"})
	}
	m := &metrics{
		registry:   prometheus.NewRegistry(),
		actions:    counters("actions_total", "Passes over a target by outcome: OBSERVED, APPLIED, FAILED, REFUSED.", "target", "outcome"),
		nacks:      counters("nacks_total", "Recommendations that did not come into force: FAILED and REFUSED together.", "target"),
		readErrors: counters("read_errors_total", "Readings of a target that failed.", "target"),
		expired:    counters("expired_total", "Passes with a decision to APPLY whose lease was over.", "target"),
		rolledBack: counters("rolled_back_total", "Sizes that were written back: by a decision with the basis REVERT, or after an interrupted write.", "target"),
		size:       gauges("pool_size", "Size in force at the last reading, in threads or connections; +Inf without a limit."),
		wanted:     gauges("pool_target_size", "Size recommended, in threads or connections; absent without a target."),
		busy:       gauges("pool_busy", "Threads or connections in use at the last reading; absent where the target does not report it."),
		waiting:    gauges("pool_waiting", "Callers that wait for one at the last reading; absent where the target does not report it."),
		reloads:    counters("reloads_total", "Readings of the configuration file since the start by outcome: taken, partly, refused.", "outcome"),
		refused: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "sluice", Subsystem: "actuator", Name: "configuration_refused",
			Help: "1 while the newest content of the configuration file is refused and an earlier one is in use."}),
	}
	for _, outcome := range []Reload{Taken, Partly, Refused} {
		m.reloads.WithLabelValues(string(outcome))
	}
	m.registry.MustRegister(m.reloads, m.refused, m.actions, m.nacks, m.readErrors, m.expired, m.rolledBack, m.size, m.wanted, m.busy, m.waiting,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerOthers(b)
	return m
}

// Describe sends a descriptor of each metric of the process.
func (b *Board) Describe(to chan<- *prometheus.Desc) { b.metrics.registry.Describe(to) }

// begin starts the counters of a target at 0, so that its first NACK is an increase. Gauges have no value before the first
// reading.
func (m *metrics) begin(target string) {
	for _, outcome := range pool.Outcomes() {
		m.actions.WithLabelValues(target, string(outcome))
	}
	m.nacks.WithLabelValues(target)
	m.readErrors.WithLabelValues(target)
	m.expired.WithLabelValues(target)
	m.rolledBack.WithLabelValues(target)
}

// end removes a target's metrics: instances come and go, and their metrics would accumulate.
func (m *metrics) end(target string) {
	label := prometheus.Labels{"target": target}
	for _, counters := range []*prometheus.CounterVec{m.actions, m.nacks, m.readErrors, m.expired, m.rolledBack} {
		counters.DeletePartialMatch(label)
	}
	for _, gauges := range []*prometheus.GaugeVec{m.size, m.wanted, m.busy, m.waiting} {
		gauges.DeletePartialMatch(label)
	}
}

// registerOthers registers metrics that read the watch and the report queue at each scrape.
func (m *metrics) registerOthers(b *Board) {
	gauge := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Namespace: "sluice", Subsystem: "actuator", Name: name, Help: help}, value))
	}
	counter := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Namespace: "sluice", Subsystem: "actuator", Name: name, Help: help}, value))
	}
	gauge("recommender_reachable", "1 while decisions are received, else 0.", func() float64 {
		if b.source().Reachable() {
			return 1
		}
		return 0
	})
	gauge("recommender_last_success_age_seconds", "Time since decisions were last received or confirmed; NaN before the first.", func() float64 {
		at := b.source().ReceivedAt
		if at.IsZero() {
			return math.NaN()
		}
		return time.Since(at).Seconds()
	})
	gauge("reports_queued", "Reports that wait for the recommender.", func() float64 { return float64(b.reports().Queued) })
	counter("reports_sent_total", "Reports that the recommender took.", func() float64 { return float64(b.reports().Sent) })
	counter("reports_dropped_total", "Reports dropped from a full queue, the oldest first.", func() float64 { return float64(b.reports().Dropped) })
	counter("scaling_told_total", "Scaling events that the recommender took.", func() (taken float64) {
		for _, s := range b.scaling() {
			taken += float64(s.Taken)
		}
		return taken
	})
	m.registry.MustRegister(subsetMetrics{b}, containerMetrics{b})
	counter("annotations_refused_total", "Annotations of pods that were refused; an Event of the pod names each.", func() float64 {
		if b.Refusals == nil {
			return 0
		}
		return float64(b.Refusals())
	})
	counter("reports_rejected_total", "Reports that the recommender refused for good.", func() float64 { return float64(b.reports().Rejected) })
}

func (m *metrics) record(p pools.Pass) {
	if p.Answer.GetTarget() > 0 {
		m.wanted.WithLabelValues(p.Target).Set(float64(p.Answer.GetTarget()))
	} else {
		m.wanted.DeleteLabelValues(p.Target)
	}
	show(m.busy, p.Target, p.Use.Busy)
	show(m.waiting, p.Target, p.Use.Waiting)
	if p.ReadErr != nil {
		m.readErrors.WithLabelValues(p.Target).Inc()
		m.size.DeleteLabelValues(p.Target)
		return
	}
	m.actions.WithLabelValues(p.Target, string(p.Outcome())).Inc()
	if p.Failed() {
		m.nacks.WithLabelValues(p.Target).Inc()
	}
	if p.Decision.Code == policy.LeaseOver {
		m.expired.WithLabelValues(p.Target).Inc()
	}
	if p.RolledBack() {
		m.rolledBack.WithLabelValues(p.Target).Inc()
	}
	switch {
	case p.Report.GetUnbounded():
		m.size.WithLabelValues(p.Target).Set(math.Inf(1))
	case p.Report.ReadBack != nil:
		m.size.WithLabelValues(p.Target).Set(float64(p.Report.GetReadBack()))
	default:
		m.size.DeleteLabelValues(p.Target)
	}
}

// show removes a gauge's value where value is nil.
func show(gauge *prometheus.GaugeVec, target string, value *uint32) {
	if value == nil {
		gauge.DeleteLabelValues(target)
		return
	}
	gauge.WithLabelValues(target).Set(float64(*value))
}
