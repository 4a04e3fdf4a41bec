package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"sluice.dev/actuators/internal/discover"
	"sluice.dev/actuators/internal/loop"
	"sluice.dev/actuators/internal/subsets"
)

// claim is who has a target, as its Lease says.
type claim struct {
	holder string
	// lasts is how long it is the holder's without being renewed.
	lasts time.Duration
	// renewed is when, by the holder's clock: only that it changes counts.
	renewed string
}

// free tells whether `me` may take the target. unchanged is for how long, by the clock here, the Lease was seen as it is: the
// times in it are of another clock.
func (c claim) free(me string, unchanged time.Duration) bool {
	return c.holder == "" || c.holder == me || unchanged >= c.lasts
}

// A claim is renewed at half of its time. At three quarters its holder writes no more, and who waits takes it at the end.
func renewAfter(lasts time.Duration) time.Duration { return lasts / 2 }
func safeFor(lasts time.Duration) time.Duration    { return lasts * 3 / 4 }

// claimed is what a Lease is of: a target, or a subset of a caller.
type claimed struct {
	// name is that of this process's configuration; lease is the same for every process that could write it, however they name it.
	name, lease string
	object      discover.Object
	apply       bool
}

// ofTarget is by pool and instance.
func ofTarget(t loop.Target) claimed {
	return claimed{t.Name, leaseName(t.Pool.String() + " " + t.Instance), t.Object, t.Rules.Apply}
}

// ofSubset is by caller and callee. Its name has a space, which no target's has.
func ofSubset(t subsets.Target) claimed {
	key := t.Key
	lease := leaseName(strings.Join([]string{"subset", key.GetUpstream(), key.GetInstance(), key.GetDownstream()}, " "))
	return claimed{subsetEntry(t.Name), lease, t.Object, t.Rules.Apply}
}

func subsetEntry(name string) string { return "subset " + name }

var unnameable = regexp.MustCompile(`[^a-z0-9.-]+|\.\.+`)

// leaseName is a legal name of what is claimed.
//
//	cart/server cart-7f9c   sluice.cart.server.cart-7f9c.0d5e4c1a
//
// The last part keeps apart what is not a legal name and is shortened or replaced.
func leaseName(whole string) string {
	sum := sha256.Sum256([]byte(whole))
	plain := strings.NewReplacer("/", ".", " ", ".").Replace(strings.ToLower(whole))
	plain = unnameable.ReplaceAllString(plain, "-")
	plain = strings.NewReplacer(".-", ".", "-.", ".").Replace(plain)
	return "sluice." + strings.Trim(plain[:min(len(plain), 200)], ".-") + "." + hex.EncodeToString(sum[:4])
}
