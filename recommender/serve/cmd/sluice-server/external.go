package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"sluice.dev/serve/internal/access"
	"sluice.dev/serve/internal/calls"
	"sluice.dev/serve/internal/external"
)

// externalListener is the listener for Kubernetes' external metrics; without an address there is none. callers has the authority
// of the API server's certificate; nil: every process on this machine may connect.
type externalListener struct {
	address string
	callers *x509.CertPool
}

func externalListenerOf(lookup func(string) string, a *access.Access) (e externalListener, err error) {
	if e.address = lookup("SLUICE_EXTERNAL_METRICS"); e.address == "" {
		return e, nil
	}
	if address(e.address) != nil {
		return e, fmt.Errorf("SLUICE_EXTERNAL_METRICS %q is not legal; legal: HOST:PORT", e.address)
	}
	if a.Certificate() == nil {
		return e, errors.New("SLUICE_EXTERNAL_METRICS is legal with SLUICE_TLS_CERT and SLUICE_TLS_KEY only: the API server connects by TLS")
	}
	path := lookup("SLUICE_EXTERNAL_METRICS_CA")
	if path == "" {
		if !access.Loopback(e.address) {
			return e, fmt.Errorf("SLUICE_EXTERNAL_METRICS %q: set SLUICE_EXTERNAL_METRICS_CA; without it only a loopback address is legal", e.address)
		}
		return e, nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return e, fmt.Errorf("read SLUICE_EXTERNAL_METRICS_CA=%s: %w", path, errors.Unwrap(err))
	}
	if e.callers = x509.NewCertPool(); !e.callers.AppendCertsFromPEM(content) {
		return e, fmt.Errorf("read SLUICE_EXTERNAL_METRICS_CA=%s: no certificate in it", path)
	}
	return e, nil
}

// serve listens until stop is called.
func (e externalListener) serve(service *calls.Service, a *access.Access, logger *slog.Logger) (stop func(), err error) {
	if e.address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", e.address)
	if err != nil {
		return nil, fmt.Errorf("listen on SLUICE_EXTERNAL_METRICS=%s: %w", e.address, err)
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return a.Certificate(), nil },
	}
	if e.callers != nil {
		config.ClientCAs, config.ClientAuth = e.callers, tls.RequireAndVerifyClientCert
	}
	server := &http.Server{
		Handler: external.Handler(service.Tables), TLSConfig: config, ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	go server.ServeTLS(listener, "", "") //nolint:errcheck // it ends when the server is closed
	return func() { server.Close() }, nil
}
