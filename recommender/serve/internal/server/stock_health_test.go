package server_test

import (
	"testing"

	"sluice.dev/serve/internal/journaltest"
	"sluice.dev/serve/internal/xds"

	subsetsv1 "sluice.dev/api/subsets/v1"
)

// Also where Envoys get localities of zones, a published client of gRPC calls by the weights of endpoints: 3 of z1 to 1 of z1 and
// 1 of z2.
func TestAStockClientOfGRPCKeepsItsWeightsWhereLocalitiesAreZones(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	of := backends(t, "b-1", "b-2", "b-3")
	all := containers("b", of, "b-1", "b-2", "b-3")
	subset := weighted(1, of, map[string]uint32{"b-1": 3, "b-2": 1, "b-3": 1})
	for i, zone := range []string{"z1", "z1", "z2"} {
		all.Containers[i].Zone, subset.Endpoints[i].Zone = zone, zone
	}
	d.Connect([]*subsetsv1.ServiceContainers{all}, subset)
	r := start(t, journal, options{xds: xds.Settings{Localities: xds.ZoneLocalities}}).ready(t)
	client := calling(t, r.address)
	client.callMore(t, 50)
	about(t, client.shares(t, of, 2000), map[string]float64{"b-1": 0.6, "b-2": 0.2, "b-3": 0.2})
}

// A container that its source says is not ready gets no calls while another one is ready, and its calls when all are not.
func TestAStockClientOfGRPCLeavesWhatIsNotReady(t *testing.T) {
	journal := journaltest.New(t, 1)
	d := journal.Decider(t, 0)
	of := backends(t, "b-1", "b-2", "b-3")
	all := containers("b", of, "b-1", "b-2", "b-3")
	all.Containers[0].NotReady = true
	d.Connect([]*subsetsv1.ServiceContainers{all}, weighted(1, of, map[string]uint32{"b-1": 1, "b-2": 1}))
	client := calling(t, start(t, journal, options{}).ready(t).address)
	client.callMore(t, 50)
	about(t, client.shares(t, of, 1000), map[string]float64{"b-2": 1})

	for _, container := range all.GetContainers() {
		container.NotReady = true
	}
	d.Connect([]*subsetsv1.ServiceContainers{all})
	eventually(t, "b-1 is called again", func() bool { return client.shares(t, of, 200)["b-1"] > 0 })
	about(t, client.shares(t, of, 1000), map[string]float64{"b-1": 0.5, "b-2": 0.5})
}
