package server_test

import (
	"math"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/keys"

	"google.golang.org/protobuf/proto"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// counted is an xDS counter, over all its labels or for one value of one.
func (r *running) counted(t *testing.T, name, value string) (sum float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.hub.Counts())
	families, err := registry.Gather()
	must(t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			taken := value == ""
			for _, label := range metric.GetLabel() {
				taken = taken || label.GetValue() == value
			}
			if family.GetName() == name && taken {
				sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func about(t *testing.T, got map[string]float64, want map[string]float64) {
	t.Helper()
	for name, share := range got {
		if want[name] == 0 && share > 0 || math.Abs(share-want[name]) > 0.05 {
			t.Fatalf("shares %v, want %v", got, want)
		}
	}
}

// A published client of gRPC is connected to its subset alone, by the weights. It follows a change without a failed call. It
// continues while the server is away, and the server's successor does not send its resources again.
func TestAStockClientOfGRPCFollowsItsSubset(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	of := backends(t, "b-1", "b-2", "b-3", "b-4")
	all := containers("b", of, "b-1", "b-2", "b-3", "b-4")
	d.Connect([]*subsetsv1.ServiceContainers{all}, weighted(1, of, map[string]uint32{"b-1": 3, "b-2": 1}))
	r := start(t, journal, options{}).ready(t)
	client := calling(t, r.address)
	client.callMore(t, 50)
	about(t, client.shares(t, of, 2000), map[string]float64{"b-1": 0.75, "b-2": 0.25})

	d.Connect(nil, weighted(2, of, map[string]uint32{"b-2": 1, "b-3": 1}))
	eventually(t, "b-3 is called, and b-1 no more", func() bool {
		shares := client.shares(t, of, 200)
		return shares["b-3"] > 0 && shares["b-1"] == 0
	})
	about(t, client.shares(t, of, 2000), map[string]float64{"b-2": 0.5, "b-3": 0.5})
	eventually(t, "the deliveries are told", func() bool { return len(journal.Read(t, journal.Reports)) == 2 })
	for i, record := range journal.Read(t, journal.Reports) {
		report := &subsetsv1.SubsetReport{}
		must(t, proto.Unmarshal(record.Value, report))
		delivery := report.GetDelivery()
		if keys.SubsetOf(delivery.GetKey()) != a1b || delivery.GetRevision() != uint64(i+1) || delivery.GetClient() != "a~a-1" ||
			delivery.GetOutcome() != subsetsv1.DeliveryOutcome_DELIVERY_OUTCOME_APPLIED {
			t.Error(report)
		}
	}

	r.stop()
	client.callMore(t, 500)
	again := start(t, journal, options{address: r.address}).ready(t)
	eventually(t, "the client is there again", func() bool { return again.counted(t, "sluice_xds_streams", "") == 1 })
	client.callMore(t, 500)
	if sent := again.counted(t, "sluice_xds_responses_total", ""); sent != 0 {
		t.Errorf("it was sent %v again", sent)
	}
	d.Connect(nil, weighted(3, of, map[string]uint32{"b-4": 1}))
	eventually(t, "b-4 alone is called", func() bool { return client.shares(t, of, 100)["b-4"] == 1 })
	client.callMore(t, 100)
}

func TestAClientWithoutASubsetIsConnectedToEverybody(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	of := backends(t, "b-1", "b-2", "b-3")
	all := containers("b", of, "b-1", "b-2", "b-3")
	all.Containers[2].Drained = true
	d.Connect([]*subsetsv1.ServiceContainers{all})
	client := calling(t, start(t, journal, options{}).ready(t).address)
	client.callMore(t, 50)
	about(t, client.shares(t, of, 1000), map[string]float64{"b-1": 0.5, "b-2": 0.5})

	d.Begin()
	d.Put(journal.Decisions, keys.CalledService("b").Record(), nil) // nobody knows the service any more: who has somebody keeps them
	d.Heartbeat()
	d.End(true)
	client.callMore(t, 1000)
	about(t, client.shares(t, of, 1000), map[string]float64{"b-1": 0.5, "b-2": 0.5})
}
