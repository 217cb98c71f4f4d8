package admin

import (
	"errors"
	"net/url"
	"strings"

	"leveret/ctl"
)

// named makes of an answer that only says that something is not there, or may not be touched, one that says what. The API's own words are
// RabbitMQ's, and clients match on them; people want to know which name they got wrong.
func named(err error) error {
	var refused *ctl.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	if text := lacking(refused.Reason, pathParts(refused.Path)); text != "" {
		refused.Reason = text
	}
	return err
}

// pathParts are the names in a path of the API.
// The query is no part of it, and names are as people wrote them.
func pathParts(path string) []string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, part := range parts {
		if name, err := url.PathUnescape(part); err == nil {
			parts[i] = name
		}
	}
	return parts
}

// lacking is what a reason means for a path, nothing if the reason says enough.
func lacking(reason string, parts []string) string {
	if len(parts) < 2 {
		return ""
	}
	// /kind/vhost/name, or /kind/name: what stands second depends on the kind.
	kind, name, last := parts[0], parts[1], parts[len(parts)-1]
	switch {
	case reason == "exchange_not_found" && len(parts) > 2:
		return "there is no exchange '" + parts[2] + "' in virtual host '" + name + "'"
	// The reasons are RabbitMQ's, of which each knows a kind of thing and no name.
	case reason == "vhost_not_found":
		return "there is no virtual host '" + name + "'"
	case reason == "vhost_or_user_not_found":
		return "there is no virtual host '" + name + "', or no user '" + last + "'"
	case reason == "Access refused.":
		return "access to '" + last + "' is refused"
	case !strings.HasPrefix(reason, "not found: "):
		return ""
	case kind == "connections" || kind == "channels":
		return "there is no " + strings.TrimSuffix(kind, "s") + " '" + name + "'"
	case len(parts) == 2: // a list of a virtual host
		return "there is no " + vhostOrOther(kind) + " '" + name + "'"
	}
	return ""
}

// vhostOrOther is what the second part of a path of two names.
func vhostOrOther(kind string) string {
	switch kind {
	case "users", "nodes", "user-limits", "global-parameters":
		return strings.TrimSuffix(strings.ReplaceAll(kind, "-", " "), "s")
	}
	return "virtual host"
}
