package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/pools"
	"sluice.dev/actuators/internal/subsets"
)

// claim is the ownership of a target, as its Lease shows it.
type claim struct {
	holder string
	// lasts is how long the claim holds without a renewal.
	lasts time.Duration
	// renewed is the time of the last renewal by the holder's clock: only its changes count.
	renewed string
}

// free is true when `me` may take the target. unchanged is for how long, by the local clock, the Lease did not change: its
// own times are from another clock.
func (c claim) free(me string, unchanged time.Duration) bool {
	return c.holder == "" || c.holder == me || unchanged >= c.lasts
}

// A holder renews its claim at half of its time, and stops writing at three quarters. A waiting actuator takes it over at the
// end.
func renewAfter(lasts time.Duration) time.Duration { return lasts / 2 }
func safeFor(lasts time.Duration) time.Duration    { return lasts * 3 / 4 }

// claimed is the target, or the caller's subset, of a Lease.
type claimed struct {
	// name is the target's in this process's configuration. lease is the same for every process that could write the target,
	// whatever name it has there.
	name, lease string
	object      discover.Object
	apply       bool
}

// ofTarget names the Lease by pool and instance.
func ofTarget(t pools.Target) claimed {
	return claimed{t.Name, leaseName(t.Pool.String() + " " + t.Instance), t.Object, t.Rules.Apply}
}

// ofSubset names the Lease by caller and callee. The name has a space, which no target's name has.
func ofSubset(t subsets.Target) claimed {
	key := t.Key
	lease := leaseName(strings.Join([]string{"subset", key.GetUpstream(), key.GetInstance(), key.GetDownstream()}, " "))
	return claimed{subsetEntry(t.Name), lease, t.Object, t.Rules.Apply}
}

func subsetEntry(name string) string { return "subset " + name }

var unnameable = regexp.MustCompile(`[^a-z0-9.-]+|\.\.+`)

// leaseName returns a legal Lease name.
//
//	cart/server cart-7f9c   sluice.cart.server.cart-7f9c.0d5e4c1a
//
// The last part tells names apart that become equal when they are shortened or characters are replaced.
func leaseName(whole string) string { return "sluice." + objectName(whole) }

func objectName(whole string) string {
	sum := sha256.Sum256([]byte(whole))
	plain := strings.NewReplacer("/", ".", " ", ".").Replace(strings.ToLower(whole))
	plain = unnameable.ReplaceAllString(plain, "-")
	plain = strings.NewReplacer(".-", ".", "-.", ".").Replace(plain)
	return strings.Trim(plain[:min(len(plain), 200)], ".-") + "." + hex.EncodeToString(sum[:4])
}
