package definitions

import (
	"strconv"
	"strings"

	"leveret/auth"
	"leveret/vhost"
)

// importUsers makes the users, or overwrites password, tags and limits of those that are there.
func (b *Broker) importUsers(f *File) error {
	for i := range f.Users {
		u := &f.Users[i]
		update := auth.UserUpdate{
			Name: u.Name, Password: u.Password, PasswordHash: u.PasswordHash, HashingAlgorithm: u.HashingAlgorithm, Tags: u.Tags,
			Permissions: u.Permissions,
		}
		// A hash is of no use with the wrong algorithm: the user could not log in, and nobody would be told why.
		if update.HashingAlgorithm == "" && before36(f.RabbitVersion) {
			update.HashingAlgorithm = auth.MD5
		}
		// No limits in the file leave those that are there: older versions did not write them.
		if len(u.Limits) > 0 {
			update.Limits = auth.Limits(u.Limits)
		}
		if _, err := b.Users.SetUser(update); err != nil {
			return err
		}
	}
	return nil
}

// before36 tells files of the versions that knew no other hash than MD5 and so did not name it. A file without a version is not old.
func before36(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	// What is no version is no old one.
	m, err := strconv.Atoi(major)
	n, err2 := strconv.Atoi(minor)
	return err == nil && err2 == nil && (m < 3 || m == 3 && n < 6)
}

// importVHosts makes the virtual hosts, or overwrites what is said of those that are there. What an entry leaves out stays.
func (b *Broker) importVHosts(f *File, caller string) error {
	for i := range f.VHosts {
		e := &f.VHosts[i]
		var m vhost.Metadata
		if v := b.Server.VHost(e.Name); v != nil {
			// What is there is the base, since an entry overwrites only what it says.
			m = v.Metadata()
		}
		e.metadata(&m)
		created, err := b.Server.CreateVHost(e.Name, m)
		if err != nil {
			return err
		}
		if len(e.Limits) > 0 {
			if err := b.Server.SetVHostLimits(e.Name, vhost.Limits(e.Limits)); err != nil {
				return err
			}
		}
		// Who makes a virtual host by the API can use it at once; the same holds for an import.
		if created && caller != "" {
			if err := b.Users.SetPermissions(caller, e.Name, auth.AllPermissions()); err != nil {
				return err
			}
		}
	}
	return nil
}

// importPermissions sets rows; rows that the file does not have stay. Users need not be in the file, but must be there.
func (b *Broker) importPermissions(f *File) error {
	for _, p := range f.Permissions {
		if b.Server.VHost(p.VHost) == nil {
			return refusedf("{no_such_vhost,<<\"%s\">>}", p.VHost)
		}
		if err := b.Users.SetPermissions(p.User, p.VHost, p.Permissions); err != nil {
			return err
		}
	}
	return nil
}

// importTopicPermissions does the same for routing keys of topic exchanges. The exchange need not be one, and counts once it
// is.
func (b *Broker) importTopicPermissions(f *File) error {
	for _, p := range f.TopicPermissions {
		if b.Server.VHost(p.VHost) == nil {
			return refusedf("{no_such_vhost,<<\"%s\">>}", p.VHost)
		}
		if err := b.Users.SetTopicPermissions(p.User, p.VHost, p.Exchange, p.TopicPermissions); err != nil {
			return err
		}
	}
	return nil
}
