package auth

import (
	"errors"
	"fmt"
	"regexp"
)

// MinPasswordLength admits passwords of at least that many bytes.
func MinPasswordLength(least int) func(password string) error {
	return func(password string) error {
		if len(password) < least {
			return fmt.Errorf("minimum required password length: %d", least)
		}
		return nil
	}
}

// PasswordPattern admits passwords in which the expression is found.
func PasswordPattern(expression string) (func(password string) error, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	return func(password string) error {
		if !re.MatchString(password) {
			return errors.New("provided password does not match the validator regular expression")
		}
		return nil
	}, nil
}
