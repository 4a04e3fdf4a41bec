package kube

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/pools/policy"
	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/subsets"
	poolsv1 "sluice.dev/api/pools/v1"
	subsetsv1 "sluice.dev/api/subsets/v1"
)

var threads = pools.Target{
	Name: "cart.a", Instance: "cart-a", Pool: pool.Key{Service: "cart", Side: poolsv1.Side_SIDE_SERVER},
	Object: discover.Object{Namespace: "shop", Name: "cart-a", UID: "1"}, Rules: policy.Rules{Apply: true},
}

// writes are the calls to the API server, except readings.
func writes(client *fake.FakeDynamicClient) string {
	var all []string
	for _, action := range client.Actions() {
		if verb := action.GetVerb(); verb != "get" {
			all = append(all, verb)
		}
	}
	return strings.Join(all, " ")
}

func twoLedgers() (client *fake.FakeDynamicClient, a, b *Ledger) {
	client = fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{leases: "LeaseList"})
	cluster := New(Config{Lease: 2 * time.Minute}, client, slog.New(slog.DiscardHandler))
	return client, cluster.Ledger("a@host"), cluster.Ledger("b@host")
}

func TestOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, a, b := twoLedgers()
		ctx := t.Context()
		if err := a.Claim(ctx, threads); err != nil {
			t.Fatal(err)
		}
		other := threads
		other.Name = "web.0" // another actuator's name for it
		for range 60 {
			if err := b.Claim(ctx, other); err == nil || !strings.Contains(err.Error(), "a@host owns the target") {
				t.Fatalf("claimed by two: %v", err)
			}
			if err := a.Claim(ctx, threads); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		if got := writes(client); got != "create update" { // one renewal a minute
			t.Errorf("writes of two minutes: %s", got)
		}
		// a is gone: b waits for as long as the lease lasts since its renewal, and then gets it.
		waited := time.Duration(0)
		for ; b.Claim(ctx, other) != nil; waited += 2 * time.Second {
			time.Sleep(2 * time.Second)
		}
		if waited < time.Minute || waited > 130*time.Second {
			t.Errorf("taken over after %s", waited)
		}
		if err := a.Claim(ctx, threads); err == nil {
			t.Error("a, which slept, writes on")
		}
	})
}

// A subset is claimed as a target is, by the same code.
func TestASubsetHasOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, a, b := twoLedgers()
		ctx := t.Context()
		subset := subsets.Target{
			Name: "front-cart", Key: &subsetsv1.SubsetKey{Upstream: "front", Instance: "front-a", Downstream: "cart"},
			Object: threads.Object, Rules: subsets.Rules{Apply: true},
		}
		a.RecordSubset(subsets.Status{Name: "front-cart", Upstream: "front", Instance: "front-a", Downstream: "cart", Wanted: "10.0.0.1:80 1"})
		if err := a.ClaimSubset(ctx, subset); err != nil {
			t.Fatal(err)
		}
		other := subset
		other.Name = "subset-0" // another actuator's name for it
		if err := b.ClaimSubset(ctx, other); err == nil || !strings.Contains(err.Error(), "a@host owns the target") {
			t.Fatalf("claimed by two: %v", err)
		}
		if err := b.Claim(ctx, threads); err != nil {
			t.Errorf("the pod's pool is another thing: %v", err)
		}
		lease, err := client.Resource(leases).Namespace("shop").Get(ctx, ofSubset(subset).lease, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		annotations := lease.GetAnnotations()
		if !strings.HasPrefix(lease.GetName(), "sluice.subset.front.front-a.cart.") || annotations[subsetAnnotation] != "front > cart" || annotations[recommendedAnnotation] != "10.0.0.1:80 1" {
			t.Errorf("lease %s with %v", lease.GetName(), annotations)
		}
		a.Release(ctx)
		time.Sleep(pause)
		if err := b.ClaimSubset(ctx, other); err != nil {
			t.Error(err)
		}
	})
}

func TestGivenUpIsTakenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := twoLedgers()
		if err := a.Claim(t.Context(), threads); err != nil {
			t.Fatal(err)
		}
		a.Release(t.Context())
		if err := b.Claim(t.Context(), threads); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutTheServerAClaimEndsBeforeAnotherBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := twoLedgers()
		if err := a.Claim(t.Context(), threads); err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		a.client = gonePast{a.client, gone}
		held := time.Duration(0)
		for ; a.Claim(t.Context(), threads) == nil; held += time.Second {
			time.Sleep(time.Second)
		}
		if held != 90*time.Second {
			t.Errorf("wrote on for %s without a server, want three quarters of the lease", held)
		}
	})
}

func TestWhoOnlyLooksClaimsNothing(t *testing.T) {
	client, a, b := twoLedgers()
	looks := threads
	looks.Rules.Apply = false
	a.Begin(looks)
	if err := a.Claim(t.Context(), looks); err != nil { // writes its notes
		t.Fatal(err)
	}
	if err := b.Claim(t.Context(), threads); err != nil {
		t.Error(err)
	}
	if got := writes(client); got != "create update" {
		t.Errorf("writes: %s", got)
	}
}

func TestLeaseName(t *testing.T) {
	other := threads
	other.Pool = pool.Key{Service: "Cart_Service", Side: poolsv1.Side_SIDE_CLIENT, Peer: "10.0.0.1:5432"}
	other.Instance = strings.Repeat("x", 300)
	for _, c := range []struct {
		target pools.Target
		begins string
	}{{threads, "sluice.cart.server.cart-a."}, {other, "sluice.cart-service.client.10.0.0.1-5432.xxx"}} {
		name := ofTarget(c.target).lease
		if !strings.HasPrefix(name, c.begins) || len(name) > 253 {
			t.Errorf("%s, want %s...", name, c.begins)
		}
	}
	again := threads
	again.Instance = "Cart-a"
	if ofTarget(again).lease == ofTarget(threads).lease {
		t.Error("two instances with one lease")
	}
}
