package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const minToken = 16

// tokens are callers by the hash of their token: the time of comparing hashes reveals nothing of a token itself.
type tokens map[[sha256.Size]byte]Caller

// parseTokens reads one token a line: TOKEN [NAME [ROLE,...]]. A token alone has all roles; the start of its hash
// is its name. Lines that begin with # are comments.
func parseTokens(content []byte) (tokens, error) {
	callers, names := tokens{}, map[string]bool{}
	for n, line := range lines(content) {
		fields := strings.Fields(line)
		if len(fields) > 3 {
			return nil, fmt.Errorf("line %d has %d words; legal: TOKEN [NAME [ROLE,...]]", n+1, len(fields))
		}
		if len(fields[0]) < minToken {
			return nil, fmt.Errorf("line %d holds a token of under %d characters; legal: %d or more", n+1, minToken, minToken)
		}
		if !ascii(line) {
			return nil, fmt.Errorf("line %d has characters outside ASCII", n+1)
		}
		hash := sha256.Sum256([]byte(fields[0]))
		caller := Caller{"token-" + hex.EncodeToString(hash[:4]), allRoles}
		if err := setNameAndRoles(&caller, fields[1:]); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if _, repeated := callers[hash]; repeated || names[caller.Name] {
			return nil, fmt.Errorf("line %d repeats a token or a name", n+1)
		}
		callers[hash], names[caller.Name] = caller, true
	}
	if len(callers) == 0 {
		return nil, fmt.Errorf("it is empty; legal: a line a token, TOKEN [NAME [ROLE,...]]")
	}
	return callers, nil
}

// clients are callers by the name in their certificate.
type clients map[string]Caller

// parseClients reads one certificate a line: NAME ROLE,...
func parseClients(content []byte) (clients, error) {
	callers := clients{}
	for n, line := range lines(content) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d has %d words; legal: NAME ROLE,...", n+1, len(fields))
		}
		caller := Caller{}
		if err := setNameAndRoles(&caller, fields); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if _, repeated := callers[caller.Name]; repeated {
			return nil, fmt.Errorf("line %d repeats a name", n+1)
		}
		callers[caller.Name] = caller
	}
	return callers, nil
}

func setNameAndRoles(caller *Caller, fields []string) (err error) {
	if len(fields) > 0 {
		caller.Name = fields[0]
	}
	if len(fields) > 1 {
		caller.Roles, err = parseRoles(fields[1])
	}
	return err
}

// lines yields the lines with content, by their number from 0.
func lines(content []byte) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for n, line := range strings.Split(string(content), "\n") {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !yield(n, line) {
				return
			}
		}
	}
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] > 126 {
			return false
		}
	}
	return true
}
