package auth

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// Hashing names a password digest as definitions files do.
type Hashing string

// The known digests. But for bcrypt, whose hashes carry all that is needed, a stored hash is base64(salt, digest(salt, password)) with four bytes
// of salt. MD5 is for files of very old brokers only.
const (
	SHA256 Hashing = "rabbit_password_hashing_sha256"
	SHA512 Hashing = "rabbit_password_hashing_sha512"
	MD5    Hashing = "rabbit_password_hashing_md5"
	Bcrypt Hashing = "rabbit_password_hashing_bcrypt"
)

const saltSize = 4

// maxBcryptCost bounds what one login may cost: each step doubles it, and at 14 it is about a second.
const maxBcryptCost = 14

// isBcrypt tells bcrypt's own form, which no base64 text can have.
func isBcrypt(stored string) bool { return strings.HasPrefix(stored, "$2") }

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
	case MD5:
		sum := md5.Sum(salted)
		return sum[:]
	}
	return nil
}

// check tells what is wrong with a stored hash, before it is taken into the directory.
func (h Hashing) check(stored string) error {
	if isBcrypt(stored) {
		cost, err := bcrypt.Cost([]byte(stored))
		if err == nil && cost > maxBcryptCost {
			err = fmt.Errorf("cost %d is over %d", cost, maxBcryptCost)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidHash, err)
		}
		return nil
	}
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
	if password == "" {
		return false
	}
	if isBcrypt(stored) {
		return bcrypt.CompareHashAndPassword([]byte(stored), []byte(password)) == nil
	}
	raw, err := base64.StdEncoding.DecodeString(stored)
	if err != nil || len(raw) < saltSize {
		return false
	}
	digest := h.digest(raw[:saltSize], password)
	return digest != nil && subtle.ConstantTimeCompare(digest, raw[saltSize:]) == 1
}

// HashPassword makes the stored form of a password with a fresh random salt. It fails for an algorithm that is not for new hashes, and for an
// empty password, which nobody could log in with.
func HashPassword(h Hashing, password string) (string, error) {
	if password == "" {
		return "", ErrBlankPassword
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails, see crypto/rand
	digest := h.digest(salt, password)
	if digest == nil || h == MD5 {
		return "", fmt.Errorf("%w: unknown algorithm %q", ErrInvalidHash, h)
	}
	return base64.StdEncoding.EncodeToString(append(salt, digest...)), nil
}
