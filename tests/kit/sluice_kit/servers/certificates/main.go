// Makes an authority and a certificate by it for 127.0.0.1 and localhost, of servers and clients, as PEM files in the
// working directory: ca.pem, certificate.pem, key.pem (PKCS#8).
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log"
	"math/big"
	"net"
	"os"
	"time"
)

func main() {
	ca, caKey := template("an authority of tests", 1), key()
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	write("ca.pem", "CERTIFICATE", signed(ca, ca, caKey, caKey))

	own, ownKey := template("localhost", 2), key()
	own.DNSNames, own.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	own.KeyUsage = x509.KeyUsageDigitalSignature
	own.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	write("certificate.pem", "CERTIFICATE", signed(own, ca, ownKey, caKey))
	secret, err := x509.MarshalPKCS8PrivateKey(ownKey)
	check(err)
	write("key.pem", "PRIVATE KEY", secret)
}

func template(name string, number int64) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(240 * time.Hour),
	}
}

func key() *ecdsa.PrivateKey {
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	return made
}

func signed(what, by *x509.Certificate, of, with *ecdsa.PrivateKey) []byte {
	made, err := x509.CreateCertificate(rand.Reader, what, by, &of.PublicKey, with)
	check(err)
	return made
}

func write(name, kind string, what []byte) {
	check(os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: what}), 0o600))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
