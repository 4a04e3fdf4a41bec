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
	pool *x509.CertPool
	all  []*x509.Certificate
}

// parseAuthorities reads PEM with one certificate or more.
func parseAuthorities(content []byte) (*authorities, error) {
	found := &authorities{pool: x509.NewCertPool()}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found.pool.AddCert(certificate)
		found.all = append(found.all, certificate)
	}
	if len(found.all) == 0 {
		return nil, errors.New("it holds no certificate; legal: PEM")
	}
	return found, nil
}

// trust is true while a certificate still counts that was verified when its connection began. Connections last for days, in
// which it may expire, or its authority may be removed from the file.
func (a *authorities) trust(chains [][]*x509.Certificate, now time.Time) bool {
	if a == nil {
		return false
	}
	return slices.ContainsFunc(chains, func(chain []*x509.Certificate) bool {
		expired := slices.ContainsFunc(chain, func(each *x509.Certificate) bool { return now.After(each.NotAfter) })
		return !expired && slices.ContainsFunc(a.all, chain[len(chain)-1].Equal)
	})
}
