package server

import (
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"leveret/auth"
)

// TLSStatus is what a TLS connection agreed on, in the words of RabbitMQ's HTTP API. The client's certificate is in it whether it was verified
// or not; its texts are empty without one.
type TLSStatus struct {
	Protocol    string // tlsv1.2, tlsv1.3
	KeyExchange string // ecdhe_rsa, ...; any with TLS 1.3
	Cipher      string // aes_128_gcm, ...
	Hash        string // aead, or the digest of an older cipher

	PeerSubject, PeerIssuer string // distinguished names, the last part first
	PeerValidity            string // from - until, RFC 3339
	PeerSerialNumber        string // hexadecimal
}

// tlsStatus returns nil for a plain connection. The answer never changes; any goroutine may ask.
func (c *connection) tlsStatus() *TLSStatus {
	if c.tls == nil {
		return nil
	}
	st := &TLSStatus{Protocol: protocolName(c.tls.Version)}
	st.KeyExchange, st.Cipher, st.Hash = cipherParts(tls.CipherSuiteName(c.tls.CipherSuite))
	if len(c.tls.PeerCertificates) > 0 {
		peer := c.tls.PeerCertificates[0]
		st.PeerSubject, st.PeerIssuer = auth.DistinguishedName(peer.RawSubject), auth.DistinguishedName(peer.RawIssuer)
		st.PeerValidity = peer.NotBefore.UTC().Format(time.RFC3339) + " - " + peer.NotAfter.UTC().Format(time.RFC3339)
		st.PeerSerialNumber = fmt.Sprintf("%X", peer.SerialNumber)
	}
	return st
}

// protocolName turns "TLS 1.3" into "tlsv1.3".
func protocolName(version uint16) string {
	return strings.Replace(strings.ToLower(tls.VersionName(version)), " ", "v", 1)
}

// cipherParts takes a suite's name apart: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, or TLS_AES_128_GCM_SHA256 of TLS 1.3, which leaves the key
// exchange open. Ciphers that authenticate by themselves have no digest; the one in their name is for keys.
func cipherParts(suite string) (exchange, cipher, hash string) {
	suite = strings.TrimPrefix(strings.ToLower(suite), "tls_")
	exchange, cipher, found := strings.Cut(suite, "_with_")
	if !found {
		exchange, cipher = "any", suite
	}
	if i := strings.LastIndexByte(cipher, '_'); i >= 0 {
		cipher, hash = cipher[:i], cipher[i+1:]
	}
	if strings.HasSuffix(cipher, "_gcm") || strings.HasSuffix(cipher, "_poly1305") {
		hash = "aead"
	}
	return exchange, cipher, hash
}
