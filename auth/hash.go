package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
)

// Hashing names a password digest as definitions files do.
type Hashing string

// The known digests. A stored hash is base64(salt, digest(salt, password)) with four bytes of salt.
const (
	SHA256 Hashing = "rabbit_password_hashing_sha256"
	SHA512 Hashing = "rabbit_password_hashing_sha512"
)

const saltSize = 4

// digest returns nil for an unknown algorithm.
func (h Hashing) digest(salt []byte, password string) []byte {
	salted := append(salt[:len(salt):len(salt)], password...)
	switch h {
	case SHA256:
		sum := sha256.Sum256(salted)
		return sum[:]
	case SHA512:
		sum := sha512.Sum512(salted)
		return sum[:]
	}
	return nil
}

// check tells what is wrong with a stored hash, before it is taken into the directory.
func (h Hashing) check(stored string) error {
	raw, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidHash, err)
	}
	want := len(h.digest(make([]byte, saltSize), ""))
	if want == 0 {
		return fmt.Errorf("%w: unknown algorithm %q", ErrInvalidHash, h)
	}
	if len(raw) != saltSize+want {
		return fmt.Errorf("%w: %d bytes, %s has %d", ErrInvalidHash, len(raw), h, saltSize+want)
	}
	return nil
}

// verify compares in constant time. An empty password never fits, nor does an account without a hash.
func (h Hashing) verify(stored, password string) bool {
	raw, err := base64.StdEncoding.DecodeString(stored)
	if err != nil || len(raw) < saltSize || password == "" {
		return false
	}
	digest := h.digest(raw[:saltSize], password)
	return digest != nil && subtle.ConstantTimeCompare(digest, raw[saltSize:]) == 1
}

// HashPassword makes the stored form of a password with a fresh random salt. It fails for an unknown algorithm and for an empty password,
// which nobody could log in with.
func HashPassword(h Hashing, password string) (string, error) {
	if password == "" {
		return "", ErrBlankPassword
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails, see crypto/rand
	digest := h.digest(salt, password)
	if digest == nil {
		return "", fmt.Errorf("%w: unknown algorithm %q", ErrInvalidHash, h)
	}
	return base64.StdEncoding.EncodeToString(append(salt, digest...)), nil
}
