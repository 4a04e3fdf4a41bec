package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"sluice.dev/actuators/internal/loop"
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

var unnameable = regexp.MustCompile(`[^a-z0-9.-]+|\.\.+`)

// leaseName is the same for every process that could write the target, however they name it: of its pool and instance.
//
//	cart/server of cart-7f9c   sluice.cart.server.cart-7f9c.0d5e4c1a
//
// The last part keeps apart what is not a legal name and is shortened or replaced.
func leaseName(t loop.Target) string {
	whole := t.Pool.String() + " " + t.Instance
	sum := sha256.Sum256([]byte(whole))
	plain := strings.NewReplacer("/", ".", " ", ".").Replace(strings.ToLower(whole))
	plain = unnameable.ReplaceAllString(plain, "-")
	plain = strings.NewReplacer(".-", ".", "-.", ".").Replace(plain)
	return "sluice." + strings.Trim(plain[:min(len(plain), 200)], ".-") + "." + hex.EncodeToString(sum[:4])
}
