package definitions_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"leveret/auth"
	"leveret/exchange"
	"leveret/queue"
	"leveret/vhost"
)

// sample reads a file of testdata.
func sample(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// queueOf finds a queue.
func (r *rig) queueOf(host, name string) *queue.Queue {
	r.t.Helper()
	q, err := r.Server.VHost(host).Queue(name, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return q
}

func (r *rig) queueType(host, name string) string {
	r.t.Helper()
	kind, _ := r.queueOf(host, name).Options().Arguments.Get("x-queue-type")
	text, _ := kind.(string)
	return text
}

func (r *rig) canLogIn(name, password string) bool {
	_, err := r.Users.Login(name, password, auth.Client{Address: netip.MustParseAddr("127.0.0.1")})
	return err == nil
}

// A file of version 3 has tags in one text, the metadata beside the name, queues without a type, and what only mirrored queues knew.
func TestFileOfVersion3(t *testing.T) {
	r := newRig(t)
	r.load(sample(t, "v3.json"))
	if !r.canLogIn("app", "test12") || r.canLogIn("nobody", "") {
		t.Error("passwords are not those of the file")
	}
	account, _ := r.Users.Account("app")
	if strings.Join(account.Tags, "+") != "monitoring+policymaker" || account.Permissions["shop"].Configure != "^app-" ||
		account.TopicPermissions["shop"]["amq.topic"].Read != ".*" {
		t.Errorf("account %+v", account)
	}
	v := r.Server.VHost("shop")
	if m := v.Metadata(); m.Description != "orders and stock" || strings.Join(m.Tags, "+") != "one+two" || m.DefaultQueueType != "" {
		t.Errorf("metadata %+v", m)
	}
	if l := v.Limits(); l[vhost.MaxConnections] != 100 || l[vhost.MaxQueues] != 50 {
		t.Errorf("limits %v", l)
	}
	for name, kind := range map[string]string{"orders": "classic", "old": "classic", "plain": "classic", "majority": "quorum"} {
		if got := r.queueType("shop", name); got != kind {
			t.Errorf("%s is %q, want %q", name, got, kind)
		}
	}
	if !r.queueOf("shop", "plain").Durable() {
		t.Error("a queue that is not said to be transient is")
	}
	if v.HasQueue("amq.gen-left") || !strings.Contains(r.log.String(), "amq.gen-left") {
		t.Error("a queue with a reserved name is made, or skipped in silence")
	}
	if x := v.Exchange([]byte("inner")); x == nil || !x.Options().Internal || !x.Options().Durable {
		t.Error("the internal exchange is not there as it was")
	}
	if got := bindings(v); got != 3 {
		t.Errorf("%d bindings, want 3", got)
	}
	if p := v.PolicyFor(r.queueOf("shop", "orders")); p.Policy != "ttl" {
		t.Errorf("policy %q applies to the queue", p.Policy)
	}
	if p := r.Server.VHost("/").OperatorPolicies(); len(p) != 1 || p[0].Name != "cap" {
		t.Errorf("operator policies %v", p)
	}
}

// bindings counts those of the exchanges that have names.
func bindings(v *vhost.VHost) (n int) {
	v.Exchanges(func(x *exchange.Exchange) bool {
		if x.Name() != "" {
			n += x.Len()
		}
		return true
	})
	return n
}

func TestFileOfVersion4(t *testing.T) {
	r := newRig(t)
	r.load(sample(t, "v4.json"))
	account, _ := r.Users.Account("app")
	if account.Limits[auth.MaxConnections] != 5 {
		t.Errorf("limits of the user %v", account.Limits)
	}
	if other, _ := r.Users.Account("other"); other.Permissions["shop"].Write != "^x$" || !strings.HasPrefix(other.PasswordHash, "$2a$") {
		t.Errorf("account %+v", other)
	}
	v := r.Server.VHost("shop")
	if m := v.Metadata(); !m.IsProtected() || m.DefaultQueueType != "quorum" {
		t.Errorf("metadata %+v", m)
	}
	for name, kind := range map[string]string{"q": "quorum", "default": "quorum", "short-lived": "classic"} {
		if got := r.queueType("shop", name); got != kind {
			t.Errorf("%s is %q, want %q", name, got, kind)
		}
	}
	if _, ok := v.Parameter("shovel", "move"); !ok {
		t.Error("the shovel's parameter is lost")
	}
	before := r.export()
	r.load(sample(t, "v4.json")) // once more makes no difference
	if after := r.export(); after != before {
		t.Errorf("a second import changes\n%s\nto\n%s", before, after)
	}
}

// What is there stays as it is, even if the file says otherwise; what can be overwritten is.
func TestImportMerges(t *testing.T) {
	r := newRig(t)
	r.load(`{"queues": [{"name": "q", "vhost": "/", "arguments": {"x-max-length": 1}}],
		"exchanges": [{"name": "x", "vhost": "/", "type": "fanout"}],
		"vhosts": [{"name": "v", "description": "old", "tags": ["t"]}],
		"users": [{"name": "u", "password": "old password", "tags": "a"}],
		"permissions": [{"user": "u", "vhost": "/", "configure": "a", "write": "a", "read": "a"}],
		"policies": [{"vhost": "/", "name": "p", "pattern": "a", "definition": {"max-length": 1}}]}`)
	r.load(`{"queues": [{"name": "q", "vhost": "/", "durable": false, "arguments": {"x-max-length": 2}}],
		"exchanges": [{"name": "x", "vhost": "/", "type": "topic"}],
		"vhosts": [{"name": "v", "description": "new"}],
		"users": [{"name": "u", "password": "new password", "tags": "b"}],
		"policies": [{"vhost": "/", "name": "p", "pattern": "b", "definition": {"max-length": 2}}]}`)
	if n, _ := r.queueOf("/", "q").Options().Arguments.Get("x-max-length"); n != int64(1) {
		t.Errorf("the queue has changed: x-max-length %v", n)
	}
	if kind := r.Server.VHost("/").Exchange([]byte("x")).Options().Type; kind != "fanout" {
		t.Errorf("the exchange has become %s", kind)
	}
	if m := r.Server.VHost("v").Metadata(); m.Description != "new" || len(m.Tags) != 1 {
		t.Errorf("metadata %+v", m)
	}
	u, _ := r.Users.Account("u")
	if u.Tags[0] != "b" || u.Permissions["/"].Write != "a" || !r.canLogIn("u", "new password") {
		t.Errorf("account %+v", u)
	}
	if p := r.Server.VHost("/").Policies(); p[0].Pattern != "b" {
		t.Errorf("policies %v", p)
	}
}

// Whoever imports over HTTP may do everything in the virtual hosts that this makes, and gets no more rights in others.
func TestImportGivesTheCallerTheNewVHosts(t *testing.T) {
	r := newRig(t)
	r.load(`{"vhosts": [{"name": "old"}]}`)
	if err := r.Import([]byte(`{"vhosts": [{"name": "old"}, {"name": "new"}]}`), "guest"); err != nil {
		t.Fatal(err)
	}
	guest, _ := r.Users.Account("guest")
	if _, ok := guest.Permissions["old"]; ok || guest.Permissions["new"] != auth.AllPermissions() {
		t.Errorf("permissions %v", guest.Permissions)
	}
}

// Files from before version 3.6 name no hash, and mean MD5.
func TestHashesOfOldFiles(t *testing.T) {
	// The digest of the bytes 01020304 and "secret".
	const hash = "AQIDBDgk9ci8Lfh6CKE9Y0AUfmU="
	for version, md5 := range map[string]bool{"3.5.8": true, "2.8.7": true, "3.6.0": false, "4.3.6": false, "": false} {
		f, err := auth.New(auth.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t)
		r.Users = f
		err = r.Import([]byte(`{"rabbit_version": "`+version+`", "users": [{"name": "u", "password_hash": "`+hash+`", "tags": ""}]}`), "")
		if (err == nil) != md5 {
			t.Errorf("version %q: %v", version, err)
		}
		if md5 && !r.canLogIn("u", "secret") {
			t.Errorf("version %q: the password does not fit", version)
		}
	}
}

// Parameters of the whole broker are kept whatever they are; its name is one of them.
func TestGlobalParameters(t *testing.T) {
	r := newRig(t)
	r.load(`{"global_parameters": [{"name": "cluster_name", "value": "east"}, {"name": "mine", "value": {"a": [1, null, 1.5, "x"]}}]}`)
	f := r.Export()
	if f.OriginalCluster != "east" || f.Explanation != "Definitions of cluster 'east'" {
		t.Errorf("the cluster is %q, %q", f.OriginalCluster, f.Explanation)
	}
	for _, p := range f.GlobalParameters {
		if p.Name == "mine" && string(p.Value) != `{"a":[1,null,1.5,"x"]}` {
			t.Errorf("value %s", p.Value)
		}
	}
	if len(f.GlobalParameters) != 2 {
		t.Errorf("%d parameters", len(f.GlobalParameters))
	}
}
