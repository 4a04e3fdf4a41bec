package access

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// FuzzLists: every caller of a list that is taken has a role and a name, and none is known by an empty token.
func FuzzLists(f *testing.F) {
	for _, content := range []string{
		"", "# nobody", token + " ann read,report\n" + token + "0", token + "\r\n", "\x00" + token, "ann read\nbob operate",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", token + " ann read,,", "\ufeff" + token,
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		callers, err := parseTokens(content)
		if _, open := callers[sha256.Sum256(nil)]; open || err == nil && len(callers) == 0 {
			t.Errorf("%q lets in whoever sends no token", content)
		}
		known, _ := parseClients(content)
		for _, caller := range known {
			check(t, caller)
		}
		for _, caller := range callers {
			check(t, caller)
		}
		_, _ = parseAuthorities(content)
	})
}

func check(t *testing.T, caller Caller) {
	t.Helper()
	if caller.Roles == noRole || caller.Roles&^allRoles != 0 || caller.Name == "" || strings.ContainsAny(caller.Name, " \n") {
		t.Errorf("%q has %v", caller.Name, caller.Roles)
	}
}
