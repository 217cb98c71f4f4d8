package management

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"leveret/definitions"
)

var definitionRoutes = []route{
	{path: "/definitions", group: "Definitions", operations: []operation{
		{http.MethodGet, administrator, (*call).exportAll, "everything that is defined, as a file; download=NAME names it", "", true},
		{http.MethodPost, administrator, (*call).importAll, "add what a file defines", "vhosts users permissions policies queues exchanges bindings ...", false},
	}},
	{path: "/all-configuration", group: "Definitions", operations: []operation{
		{http.MethodGet, administrator, (*call).exportAll, "the old name of definitions", "", true},
		{http.MethodPost, administrator, (*call).importAll, "the old name of definitions", "", false},
	}},
	{path: "/definitions/{vhost}", group: "Definitions", operations: []operation{
		{http.MethodGet, administrator, (*call).exportVHost, "what is defined in a virtual host", "", true},
		{http.MethodPost, administrator, (*call).importVHost, "add what a file defines to a virtual host", "queues exchanges bindings policies ...", false},
	}},
}

// exportAll writes all definitions. They hold password hashes, which is why only administrators have them.
func (c *call) exportAll() (reply, error) { return c.file(c.api.definitions.Export(), nil) }

// exportVHost writes what is in one virtual host, without its name, so that it can be read into another.
func (c *call) exportVHost() (reply, error) {
	return c.file(c.api.definitions.ExportVHost(c.path("vhost")))
}

// file sends definitions, unless the client has just these.
func (c *call) file(f *definitions.File, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return reply{}, err
	}
	// The tag lets tools that poll for changes get 304. Half of the hash is enough to tell files apart, and shorter in headers.
	sum := sha256.Sum256(text)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	headers := [][2]string{{"ETag", tag}}
	if name := c.query.Get("download"); name != "" {
		headers = append(headers, [2]string{"Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name})})
	}
	if match := c.request.Header.Get("If-None-Match"); match != "" && strings.Contains(match, tag) {
		return reply{status: http.StatusNotModified, headers: headers}, nil
	}
	return reply{status: http.StatusOK, text: text, kind: "application/json", headers: headers}, nil
}

// importAll adds what a file defines and changes what is there already; nothing is removed. An error leaves what came before it in the file.
func (c *call) importAll() (reply, error) {
	if err := c.roomToDeclare(); err != nil {
		return reply{}, err
	}
	raw, err := c.upload()
	if err != nil {
		return reply{}, err
	}
	caller := "" // an operator without an account needs no permissions
	if c.user.HasAccount() {
		caller = c.user.Name()
	}
	err = c.api.definitions.Import(raw, caller)
	if err == nil {
		c.audit("definitions.imported", "bytes", len(raw))
	}
	return done(err)
}

// importVHost is importAll for what is in one virtual host; names of virtual hosts in the file do not count.
func (c *call) importVHost() (reply, error) {
	if c.vhost == nil {
		return reply{}, missing("vhost_not_found")
	}
	if err := c.roomToDeclare(); err != nil {
		return reply{}, err
	}
	raw, err := c.upload()
	if err != nil {
		return reply{}, err
	}
	err = c.api.definitions.ImportVHost(c.path("vhost"), raw)
	if err == nil {
		c.audit("definitions.imported", "vhost", c.path("vhost"), "bytes", len(raw))
	}
	return done(err)
}

// upload reads a file of definitions: the body itself, or the field "file" of a form.
func (c *call) upload() ([]byte, error) {
	raw, err := c.rawBody()
	if err != nil {
		return nil, err
	}
	kind, parameters, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	switch {
	// The web page of RabbitMQ sends a form, command line tools JSON, some without saying so.
	case c.request.Header.Get("Content-Type") == "", err == nil && kind == "application/json":
		return raw, nil
	case err == nil && kind == "multipart/form-data":
		return formFile(raw, parameters["boundary"])
	}
	return nil, &failure{status: http.StatusUnsupportedMediaType}
}

// formFile finds the file in a form. It is in memory already, within the limit of bodies.
func formFile(raw []byte, boundary string) ([]byte, error) {
	form := multipart.NewReader(bytes.NewReader(raw), boundary)
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, badRequest("the form has no file")
		}
		if err != nil {
			return nil, badRequest("the form can't be read")
		}
		if part.FormName() == "file" {
			return io.ReadAll(part)
		}
	}
}
