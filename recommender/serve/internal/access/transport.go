package access

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Transport is TLS with the present content of the files at each handshake; plain without a certificate.
func (a *Access) Transport() credentials.TransportCredentials {
	if a.paths[certVariable] == "" {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return a.current.Load().tls, nil },
	})
}

// Certificate is the server's own, from its file's present content; nil without one.
func (a *Access) Certificate() *tls.Certificate {
	if current := a.current.Load(); current.tls != nil {
		return &current.tls.Certificates[0]
	}
	return nil
}

// transport is the TLS configuration that all connections under these contents share: one for each connection would cost
// memory.
func (c *contents) transport(certificate tls.Certificate) *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}, Certificates: []tls.Certificate{certificate},
	}
	if c.authorities != nil {
		config.ClientCAs = c.authorities.pool
		// A caller with a token needs no certificate; without tokens every caller needs one.
		config.ClientAuth = tls.VerifyClientCertIfGiven
		if c.tokens == nil {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	return config
}

// name is the name of a certificate: its first DNS name or URI, else its common name.
func name(certificate *x509.Certificate) string {
	switch {
	case len(certificate.DNSNames) > 0:
		return certificate.DNSNames[0]
	case len(certificate.URIs) > 0:
		return certificate.URIs[0].String()
	default:
		return certificate.Subject.CommonName
	}
}

// CheckAddress returns an error if other machines can reach address without TLS or without authentication, unless
// SLUICE_INSECURE is true.
func (a *Access) CheckAddress(address string) error {
	missing := a.MissingVariables()
	if len(missing) == 0 || Loopback(address) || a.insecure {
		return nil
	}
	return fmt.Errorf("listen on %q: set %v; without TLS and tokens only a loopback address is legal, as 127.0.0.1:50051; "+
		"%s=true makes every address legal, where a mesh or a network policy protects it", address, missing, insecureVariable)
}

// Insecure returns the unset variables without which other machines reach address; none: they do not, or need TLS and identity.
func (a *Access) Insecure(address string) []string {
	if Loopback(address) {
		return nil
	}
	return a.MissingVariables()
}

// Loopback is true if only this machine reaches an address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
