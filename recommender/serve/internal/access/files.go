package access

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// Variables that name the files. Each is optional; the file is read again when it changes.
const (
	certVariable    = "SLUICE_TLS_CERT"      // PEM, with SLUICE_TLS_KEY
	keyVariable     = "SLUICE_TLS_KEY"       // PEM
	caVariable      = "SLUICE_TLS_CLIENT_CA" // PEM: the authorities of callers' certificates
	clientsVariable = "SLUICE_CLIENTS"       // NAME ROLE,... a line
	tokensVariable  = "SLUICE_TOKENS"        // TOKEN [NAME [ROLE,...]] a line
)

// insecureVariable lets other machines reach the server without TLS or without authentication: true, false.
const insecureVariable = "SLUICE_INSECURE"

// Access is the content of the files.
type Access struct {
	paths map[string]string
	// firstStamps is the state of the files at their first reading.
	firstStamps string
	current     atomic.Pointer[contents]
	insecure    bool
	// Refused, unless nil, hears of each call that Tap refuses.
	Refused func(method string, err error)
}

// contents are the files at their last valid reading.
type contents struct {
	authorities *authorities
	clients     clients
	tokens      tokens
	// tls is nil without a certificate.
	tls *tls.Config
}

// Open reads the files that the environment names. lookup is os.Getenv outside tests.
func Open(lookup func(string) string) (*Access, error) {
	a := &Access{paths: map[string]string{}}
	switch value := lookup(insecureVariable); value {
	case "", "false":
	case "true":
		a.insecure = true
	default:
		return nil, fmt.Errorf("%s %q is not legal; legal: true, false", insecureVariable, value)
	}
	for _, name := range []string{certVariable, keyVariable, caVariable, clientsVariable, tokensVariable} {
		if path := lookup(name); path != "" {
			a.paths[name] = path
		}
	}
	if (a.paths[certVariable] == "") != (a.paths[keyVariable] == "") {
		return nil, fmt.Errorf("%s and %s are legal together only", certVariable, keyVariable)
	}
	if a.paths[caVariable] != "" && a.paths[certVariable] == "" {
		return nil, fmt.Errorf("%s is legal with %s and %s only", caVariable, certVariable, keyVariable)
	}
	if a.paths[clientsVariable] != "" && a.paths[caVariable] == "" {
		return nil, fmt.Errorf("%s is legal with %s only", clientsVariable, caVariable)
	}
	a.firstStamps = a.stamps()
	now, err := a.read()
	if err != nil {
		return nil, err
	}
	a.current.Store(now)
	return a, nil
}

// MissingVariables returns the unset variables that callers from other machines need.
func (a *Access) MissingVariables() (names []string) {
	if a.paths[certVariable] == "" {
		names = append(names, certVariable, keyVariable)
	}
	if a.paths[tokensVariable] == "" && a.paths[caVariable] == "" {
		names = append(names, tokensVariable)
	}
	return names
}

// Authenticates is true if callers must authenticate.
func (a *Access) Authenticates() bool {
	return a.paths[tokensVariable] != "" || a.paths[caVariable] != ""
}

func (a *Access) String() string {
	text := "without TLS"
	if a.paths[certVariable] != "" {
		text = "with TLS"
	}
	if a.paths[caVariable] != "" {
		text += ", with client certificates"
	}
	if a.paths[tokensVariable] == "" {
		return text + ", without tokens"
	}
	return fmt.Sprintf("%s, %d tokens", text, len(a.current.Load().tokens))
}

// Follow reads the files again after each change, until ctx is done. It logs content that is not valid, and keeps the old.
func (a *Access) Follow(ctx context.Context, every time.Duration, logger *slog.Logger) {
	for lastStamps := a.firstStamps; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		stamps := a.stamps()
		if stamps == lastStamps {
			continue
		}
		lastStamps = stamps
		fresh, err := a.read()
		if err != nil {
			logger.Error("the new access files are not valid: access stays unchanged", "error", err)
			continue
		}
		a.current.Store(fresh)
		logger.Info("read the access files again", "access", a.String())
	}
}

func (a *Access) stamps() (text string) {
	for _, name := range []string{certVariable, keyVariable, caVariable, clientsVariable, tokensVariable} {
		if about, err := os.Stat(a.paths[name]); err == nil {
			text += fmt.Sprintln(name, about.ModTime().UnixNano(), about.Size())
		}
	}
	return text
}

func (a *Access) read() (*contents, error) {
	c := &contents{}
	files := map[string][]byte{}
	for name, path := range a.paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read %s=%s: %w", name, path, errors.Unwrap(err))
		}
		files[name] = content
	}
	var err error
	if content, set := files[caVariable]; set {
		if c.authorities, err = parseAuthorities(content); err != nil {
			return nil, fmt.Errorf("read %s: %w", caVariable, err)
		}
	}
	if content, set := files[tokensVariable]; set {
		if c.tokens, err = parseTokens(content); err != nil {
			return nil, fmt.Errorf("read %s: %w", tokensVariable, err)
		}
	}
	if content, set := files[clientsVariable]; set {
		if c.clients, err = parseClients(content); err != nil {
			return nil, fmt.Errorf("read %s: %w", clientsVariable, err)
		}
	}
	if _, set := files[certVariable]; set {
		pair, err := tls.X509KeyPair(files[certVariable], files[keyVariable])
		if err != nil {
			return nil, fmt.Errorf("read %s and %s: %w", certVariable, keyVariable, err)
		}
		c.tls = c.transport(pair)
	}
	return c, nil
}
