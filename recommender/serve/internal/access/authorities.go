package access

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"time"
)

// authorities sign callers' certificates.
type authorities struct {
	pool         *x509.CertPool
	certificates []*x509.Certificate
}

// parseAuthorities reads PEM with one certificate or more.
func parseAuthorities(content []byte) (*authorities, error) {
	parsed := &authorities{pool: x509.NewCertPool()}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		parsed.pool.AddCert(certificate)
		parsed.certificates = append(parsed.certificates, certificate)
	}
	if len(parsed.certificates) == 0 {
		return nil, errors.New("it holds no certificate; legal: PEM")
	}
	return parsed, nil
}

// trust is true while a certificate that was verified at the start of its connection is still valid. Connections last for
// days: the certificate may expire, or the file may lose its authority.
func (a *authorities) trust(chains [][]*x509.Certificate, now time.Time) bool {
	if a == nil {
		return false
	}
	return slices.ContainsFunc(chains, func(chain []*x509.Certificate) bool {
		expired := slices.ContainsFunc(chain, func(certificate *x509.Certificate) bool { return now.After(certificate.NotAfter) })
		return !expired && slices.ContainsFunc(a.certificates, chain[len(chain)-1].Equal)
	})
}
