package main

import (
	"fmt"

	"sluice.dev/actuators/internal/config"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
)

// onlyService returns the service of all targets. It returns "" where they have several; the actuator then watches all
// services.
func onlyService(c *config.Config) string {
	services := map[string]bool{}
	only := ""
	for i := range c.Targets {
		only = c.Targets[i].Pool.Service
		services[only] = true
	}
	for i := range c.Discover {
		only = c.Discover[i].Service()
		services[only] = true
	}
	if len(services) == 0 && len(c.Subsets) > 0 {
		return c.Subsets[0].Upstream // no pools: the smallest set of decisions that the API can select
	}
	if len(services) != 1 {
		return ""
	}
	return only
}

func openAll(configured []config.Target) ([]pools.Target, error) {
	targets := make([]pools.Target, len(configured))
	for i, t := range configured {
		var err error
		if targets[i], err = open(t); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// open makes the realizer of a target.
func open(t config.Target) (pools.Target, error) {
	side, err := pool.ParseSide(t.Pool.Side)
	if err != nil {
		return pools.Target{}, fmt.Errorf("open target %s: %w", t.Name, err)
	}
	realizer, err := t.Block.Open()
	if err != nil {
		return pools.Target{}, fmt.Errorf("open target %s: %w", t.Name, err)
	}
	quiet := make([]policy.Hours, len(t.QuietHours))
	for i, text := range t.QuietHours {
		if quiet[i], err = policy.ParseHours(text); err != nil {
			return pools.Target{}, fmt.Errorf("open target %s: %w", t.Name, err)
		}
	}
	return pools.Target{
		Name: t.Name, Instance: t.Instance, Settle: t.Settle, SLO: t.SLO, Realizer: realizer, RestoreOnExit: t.RestoreOnExit,
		Pool: pool.Key{Service: t.Pool.Service, Side: side, Peer: t.Pool.Peer},
		Rules: policy.Rules{
			Apply: t.Apply, Min: uint32(t.Min), Max: uint32(t.Max), MaxFactor: t.MaxFactor, Cooldown: t.Cooldown,
			PerHour: int(t.ChangesPerHour), Quiet: quiet,
		},
	}, nil
}
