package main

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/dial"
	"sluice.dev/actuators/internal/membership"
	"sluice.dev/actuators/internal/tests/recommendertest"
	poolsv1 "sluice.dev/api/pools/v1"
)

// two is a source of two containers that never change.
type two struct{}

func (two) Read(context.Context) (membership.List, error) {
	return membership.List{Containers: []membership.Container{
		{Instance: "cart-0", Address: "10.0.0.1:8080", Host: "n1", Zone: "z1"}, {Instance: "cart-1", Drained: true},
	}}, nil
}

func (two) Changed() <-chan struct{} { return nil }

// A recommender that comes back gets each list anew, long before a renewal is due, also where it had taken it.
func TestAReturnedRecommenderGetsTheContainersAgain(t *testing.T) {
	server := recommendertest.Start(t)
	connection, err := dial.Open(server.Address, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	c := &config.Config{Recommender: config.Recommender{Timeout: time.Second}}
	log := slog.New(slog.DiscardHandler)
	notify := membership.Notifier(notifier(c, poolsv1.NewPoolSizeServiceClient(connection)))
	all := members{membership.NewReporter("cart", "actuator", time.Hour, two{}, notify, log)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); all.run(ctx, connection) }()
	defer func() { cancel(); <-done }()

	taken := func(n uint64) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); all.stats()[0].Taken < n; time.Sleep(5 * time.Millisecond) {
			if connection.Connect(); time.Now().After(deadline) { // the watch of decisions connects outside this test
				t.Fatalf("%+v, want %d taken", all.stats()[0], n)
			}
		}
	}
	taken(1)
	server.Stop()
	server.Listen(t)
	taken(2)
	events := server.Scalings()
	last := events[len(events)-1]
	if containers := last.GetContainers(); last.GetService() != "cart" || last.GetSource() != "actuator" || last.At != nil || len(containers) != 2 ||
		containers[0].GetAddress() != "10.0.0.1:8080" || containers[0].GetHost() != "n1" || containers[0].GetZone() != "z1" || !containers[1].GetDrained() {
		t.Errorf("%v", last)
	}
	if got := all.stats()[0]; got.Live != 1 || got.Drained != 1 || got.Service != "cart" {
		t.Errorf("%+v", got)
	}
}
