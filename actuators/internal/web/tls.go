package web

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"sync"
	"syscall"
)

// transports returns the transport for the TLS files, and makes a new one when a file changed. Files are replaced one after
// another: until the new ones fit together, the old transport stays in use.
type transports struct {
	config Config

	mu    sync.Mutex
	made  *http.Transport
	files string
}

func (t *transports) current() (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	files := t.stamp()
	if t.made != nil && files == t.files {
		return t.made, nil
	}
	settings, err := t.settings()
	switch {
	case err != nil && t.made == nil:
		return nil, err
	case err != nil:
		return t.made, nil
	}
	if t.made != nil {
		t.made.CloseIdleConnections()
	}
	t.made, t.files = http.DefaultTransport.(*http.Transport).Clone(), files
	t.made.TLSClientConfig = settings
	t.made.DialContext = dial
	return t.made, nil
}

// stamp changes when a file changes: by time, size and inode, also behind a link whose target changed.
func (t *transports) stamp() (stamp string) {
	for _, path := range []string{t.config.CAFile, t.config.CertFile, t.config.KeyFile} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprint(info.ModTime().UnixNano(), info.Size(), info.Sys().(*syscall.Stat_t).Ino, " ")
		}
	}
	return stamp
}

func (t *transports) settings() (*tls.Config, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := t.config.CAFile; path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca_file: %q: holds no certificate: want a PEM file", path)
		}
	}
	if t.config.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.config.CertFile, t.config.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("cert_file: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return settings, nil
}
