package dial

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// byFiles returns TLS settings that read the authority and the client certificate, if any, from their files at each
// connection, because these are renewed at runtime.
func byFiles(authority, certificate, key string) (*tls.Config, error) {
	if _, err := trust(authority); err != nil {
		return nil, err
	}
	settings := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// The code below verifies, with the file's content at that time: the library would keep the content of the start.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			trusted, err := trust(authority)
			if err != nil {
				return err
			}
			between := x509.NewCertPool()
			for _, intermediate := range state.PeerCertificates[1:] {
				between.AddCert(intermediate)
			}
			_, err = state.PeerCertificates[0].Verify(x509.VerifyOptions{
				DNSName: state.ServerName, Roots: trusted, Intermediates: between,
			})
			return err
		},
	}
	if certificate == "" && key == "" {
		return settings, nil
	}
	if _, err := tls.LoadX509KeyPair(certificate, key); err != nil {
		return nil, fmt.Errorf("%s=%s, %s=%s: %w", ClientCertificate, certificate, ClientKey, key, err)
	}
	settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		return &pair, err
	}
	return settings, nil
}

func trust(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		trusted := x509.NewCertPool()
		if trusted.AppendCertsFromPEM(text) {
			return trusted, nil
		}
		err = errors.New("holds no certificate: want a PEM file")
	}
	return nil, fmt.Errorf("%s=%s: %w", Authority, path, err)
}
