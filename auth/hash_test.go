package auth_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"leveret/auth"
)

// The hash of "test12" with the salt 908DC60A is the example that RabbitMQ's own documentation gives.
const test12Hash = "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR"

func TestKnownHashLogsIn(t *testing.T) {
	a := newAuth(t, auth.Account{Name: "u", PasswordHash: test12Hash})
	if _, err := login(a, "u", "test12"); err != nil {
		t.Errorf("right password: %v", err)
	}
	if _, err := login(a, "u", "test13"); err == nil {
		t.Error("a wrong password was let in")
	}
}

func TestHashPasswordRoundTrip(t *testing.T) {
	for _, algorithm := range []auth.Hashing{auth.SHA256, auth.SHA512} {
		t.Run(string(algorithm), func(t *testing.T) {
			hash, err := auth.HashPassword(algorithm, "pässword")
			if err != nil {
				t.Fatal(err)
			}
			again, err := auth.HashPassword(algorithm, "pässword")
			if err != nil || hash == again {
				t.Errorf("two hashes of one password are the same (%v): no salt", err)
			}
			a := newAuth(t, auth.Account{Name: "u", PasswordHash: hash, HashingAlgorithm: algorithm})
			if _, err := login(a, "u", "pässword"); err != nil {
				t.Error(err)
			}
			if _, err := login(a, "u", "password"); err == nil {
				t.Error("a wrong password was let in")
			}
		})
	}
}

func TestHashPasswordRefuses(t *testing.T) {
	if _, err := auth.HashPassword(auth.SHA256, ""); !errors.Is(err, auth.ErrBlankPassword) {
		t.Errorf("blank password: %v", err)
	}
	if _, err := auth.HashPassword("rot13", "x"); !errors.Is(err, auth.ErrInvalidHash) {
		t.Errorf("unknown algorithm: %v", err)
	}
}

func TestStoredHashIsChecked(t *testing.T) {
	tests := []struct {
		name      string
		algorithm auth.Hashing
		hash      string
		ok        bool
	}{
		{"none: no password login", auth.SHA256, "", true},
		{"known", auth.SHA256, test12Hash, true},
		{"default algorithm", "", test12Hash, true},
		{"digest of another size", auth.SHA512, test12Hash, false},
		{"unknown algorithm", "rot13", test12Hash, false},
		{"not base64", auth.SHA256, "***", false},
		{"cut short", auth.SHA256, test12Hash[:20], false},
		{"salt alone", auth.SHA256, base64.StdEncoding.EncodeToString([]byte("salt")), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuth(t)
			err := a.PutUser(auth.Account{Name: "u", PasswordHash: tt.hash, HashingAlgorithm: tt.algorithm})
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, auth.ErrInvalidHash) {
				t.Errorf("PutUser: %v, want ok %v", err, tt.ok)
			}
		})
	}
}

func FuzzStoredHash(f *testing.F) {
	f.Add("rabbit_password_hashing_sha256", test12Hash, "test12")
	f.Add("rabbit_password_hashing_sha512", "AAAA", "")
	f.Fuzz(func(t *testing.T, algorithm, hash, password string) {
		a := newAuth(t)
		account := auth.Account{Name: "u", PasswordHash: hash, HashingAlgorithm: auth.Hashing(algorithm)}
		if a.PutUser(account) != nil {
			return
		}
		if _, err := login(a, "u", password); err == nil && (hash == "" || password == "") {
			t.Errorf("let in with hash %q and password %q", hash, password)
		}
	})
}
