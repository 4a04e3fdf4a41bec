package dial

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// byFiles is TLS with the authority and the caller's certificate, if any, as the files have them at each connection: they
// are renewed while this runs.
func byFiles(authority, certificate, key string) (*tls.Config, error) {
	if _, err := trust(authority); err != nil {
		return nil, err
	}
	settings := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// Verification is below, by the file of that moment: the library would keep the one of the start.
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			trusted, err := trust(authority)
			if err != nil {
				return err
			}
			between := x509.NewCertPool()
			for _, each := range state.PeerCertificates[1:] {
				between.AddCert(each)
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
