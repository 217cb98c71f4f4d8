package auth

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CertificateField names the part of a client's certificate that is the name of its user.
type CertificateField string

// The fields that EXTERNAL can go by, under the names of RabbitMQ's setting ssl_cert_login_from.
const (
	FromDistinguishedName CertificateField = "distinguished_name"
	FromCommonName        CertificateField = "common_name"
	FromAlternativeName   CertificateField = "subject_alternative_name"
)

// CertificateName says how a user's name is taken out of a certificate. The zero value takes the distinguished name.
type CertificateName struct {
	From CertificateField
	// AlternativeType and AlternativeIndex pick one of the alternative names: dns (also if empty), ip, email or uri, counted from 0.
	AlternativeType  string
	AlternativeIndex int
}

var errNoCertificateName = errors.New("it has no such name")

// of returns the name, or says why there is none.
func (n CertificateName) of(c *x509.Certificate) (string, error) {
	name := ""
	switch n.From {
	case "", FromDistinguishedName:
		name = DistinguishedName(c.RawSubject)
	case FromCommonName:
		name = strings.Join(commonNames(c.RawSubject), ",")
	case FromAlternativeName:
		names := alternativeNames(c, n.AlternativeType)
		if n.AlternativeIndex < len(names) {
			name = names[n.AlternativeIndex]
		}
	default:
		return "", fmt.Errorf("unknown field %q", n.From)
	}
	if name == "" {
		return "", errNoCertificateName
	}
	return name, nil
}

func alternativeNames(c *x509.Certificate, kind string) []string {
	var names []string
	switch kind {
	case "", "dns":
		names = c.DNSNames
	case "email":
		names = c.EmailAddresses
	case "ip":
		for _, ip := range c.IPAddresses {
			names = append(names, ip.String())
		}
	case "uri":
		for _, uri := range c.URIs {
			names = append(names, uri.String())
		}
	}
	return names
}

// attributeNames are the short names of what distinguished names are made of, by object identifier.
var attributeNames = map[string]string{
	"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "SERIALNUMBER", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
	"2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "TITLE", "2.5.4.42": "GIVENNAME", "2.5.4.43": "INITIALS", "2.5.4.44": "GENERATIONQUALIFIER",
	"2.5.4.65": "PSEUDONYM", "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "EMAILADDRESS",
}

// DistinguishedName writes a name out of a certificate (its RawSubject or RawIssuer) as RabbitMQ does, which users are named after: the last
// part first with commas between them, as in RFC 4514. What is no name gives an empty text.
func DistinguishedName(raw []byte) string {
	var sequence pkix.RDNSequence
	if rest, err := asn1.Unmarshal(raw, &sequence); err != nil || len(rest) > 0 {
		return ""
	}
	var parts []string
	for _, set := range slices.Backward(sequence) {
		var attributes []string
		for _, a := range set {
			attributes = append(attributes, attributeName(a.Type)+"="+escapeName(fmt.Sprint(a.Value)))
		}
		parts = append(parts, strings.Join(attributes, "+"))
	}
	return strings.Join(parts, ",")
}

func attributeName(id asn1.ObjectIdentifier) string {
	if name, ok := attributeNames[id.String()]; ok {
		return name
	}
	return id.String()
}

// escapeName quotes what would be read as punctuation, and everything that is not printable ASCII, byte by byte.
func escapeName(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case c < ' ' || c >= '~':
			fmt.Fprintf(&b, `\%02X`, c)
			continue
		case strings.IndexByte(`"+,;<>\`, c) >= 0,
			i == 0 && (c == ' ' || c == '#'),
			i == len(value)-1 && c == ' ':
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// commonNames are the subject's common names in their order; a certificate may have several.
func commonNames(raw []byte) []string {
	var sequence pkix.RDNSequence
	if _, err := asn1.Unmarshal(raw, &sequence); err != nil {
		return nil
	}
	var names []string
	for _, set := range sequence {
		for _, a := range set {
			if attributeName(a.Type) == "CN" {
				names = append(names, fmt.Sprint(a.Value))
			}
		}
	}
	return names
}
