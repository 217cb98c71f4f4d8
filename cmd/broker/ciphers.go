package main

import (
	"crypto/tls"
	"fmt"
	"strings"
)

// cipherIDs finds the suites of TLS 1.2 that settings name, by IANA's name or by OpenSSL's. What the standard library does not call safe is
// left out and returned as unknown: a list that came from another broker names many of those.
func cipherIDs(names []string) (ids []uint16, unknown []string, err error) {
	known := map[string]uint16{}
	// The safe ones alone. Insecure ones could be named, but nobody who knows what they are would.
	for _, suite := range tls.CipherSuites() {
		known[suite.Name] = suite.ID
		known[openSSLName(suite.Name)] = suite.ID
	}
	for _, name := range names {
		if id, ok := known[name]; ok {
			ids = append(ids, id)
		} else {
			unknown = append(unknown, name)
		}
	}
	// To go on with the defaults would be the opposite of what was asked for.
	if len(names) > 0 && len(ids) == 0 {
		return nil, nil, fmt.Errorf("TLS ciphers: none of %s is safe and known", strings.Join(names, ", "))
	}
	return ids, unknown, nil
}

// openSSLName turns TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 into ECDHE-RSA-AES128-GCM-SHA256. The names of TLS 1.3 are the same in both.
func openSSLName(name string) string {
	exchange, cipher, found := strings.Cut(strings.TrimPrefix(name, "TLS_"), "_WITH_")
	if !found {
		return name
	}
	cipher = strings.NewReplacer("AES_", "AES", "_CBC", "", "CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305").Replace(cipher)
	return strings.ReplaceAll(exchange+"-"+cipher, "_", "-")
}

// versionRange is the oldest and the newest version of TLS among those named; both that are safe if none is. Older ones are returned as
// unknown.
func versionRange(names []string) (oldest, newest uint16, unknown []string) {
	for _, name := range names {
		version := map[string]uint16{"tlsv1.2": tls.VersionTLS12, "tlsv1.3": tls.VersionTLS13}[name]
		if version == 0 {
			unknown = append(unknown, name)
			continue
		}
		if oldest == 0 {
			oldest, newest = version, version
		}
		oldest, newest = min(oldest, version), max(newest, version)
	}
	if oldest == 0 {
		return tls.VersionTLS12, tls.VersionTLS13, unknown
	}
	return oldest, newest, unknown
}
