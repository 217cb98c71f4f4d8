package server

import (
	"leveret/amqp"
	"leveret/vhost"
)

// The deletion of a virtual host survives a crash at any point. First its record says that it is being deleted; from then on nobody can open
// it, and a start goes on with what is left. Then, each step durable before the next:
//
//	its connections end, and with them their exclusive queues
//	its queues close with their messages, its definitions leave the store
//	the users' permissions in it go: a new virtual host of the name must not inherit them
//	its record goes, and the name is free

// DeleteVHost deletes a virtual host with all that is in it, and ends its connections (320). It returns when that is done. Errors are
// [*VHostRefusal] (there is none, or it is protected) and the store's; any goroutine but a connection's reader may call it.
func (s *Server) DeleteVHost(name string) error {
	v, done, err := s.beginDeletion(name)
	if err != nil {
		return err
	}
	if v == nil { // somebody else is at it
		select {
		case <-done:
		case <-s.stop:
		}
		return nil
	}
	return s.finishDeletion(v, done)
}

// beginDeletion notes that a virtual host is to go and hides it. Without an error, v is nil if that had happened before; done is closed at
// the end.
func (s *Server) beginDeletion(name string) (v *vhost.VHost, done chan struct{}, err error) {
	r := &s.registry
	r.changing.Lock()
	defer r.changing.Unlock()
	if done := r.deleting[name]; done != nil {
		return nil, done, nil
	}
	if v = s.VHost(name); v == nil {
		return nil, nil, noVHost()
	}
	if v.Metadata().IsProtected() {
		return nil, nil, refuse(ErrVHostProtected, "Refusing to delete virtual host '%s' because it is protected from deletion", name)
	}
	if err := s.saveVHost(name, &vhostRecord{Metadata: v.Metadata(), Limits: v.Limits(), Deleting: true}); err != nil {
		return nil, nil, err
	}
	if r.deleting == nil {
		r.deleting = make(map[string]chan struct{})
	}
	done = make(chan struct{})
	r.deleting[name] = done
	r.retired.leave(v)
	s.vhosts.Delete(name)
	return v, done, nil
}

// finishDeletion does what comes after. If the broker stops meanwhile, the rest is for its next start.
func (s *Server) finishDeletion(v *vhost.VHost, done chan struct{}) error {
	empty := s.admission.emptied(v.Name())
	for _, c := range s.snapshot() {
		if at := c.entered.Load(); at != nil && at.vhost == v {
			c.kill(amqp.VHostDeleted(v.Name()))
		}
	}
	select {
	case <-empty:
	case <-s.stop:
		return amqp.NodeStopping()
	}
	err := v.Destroy()
	s.registry.retired.keep(v)
	if err == nil {
		err = s.forgetVHost(v.Name())
	}
	r := &s.registry
	r.changing.Lock()
	defer r.changing.Unlock()
	if err != nil { // the name stays taken: what is left of it is still in the store
		s.log.Error("virtual host is not deleted completely, the next start goes on with it", "vhost", v.Name(), "error", err)
		return err
	}
	delete(r.deleting, v.Name())
	close(done)
	s.log.Info("virtual host deleted", "vhost", v.Name())
	s.tellVHost("vhost.deleted", v.Name())
	s.parametersChanged()
	return nil
}

// forgetVHost removes what the broker, and not the virtual host itself, keeps of it.
func (s *Server) forgetVHost(name string) error {
	if err := s.users.ForgetVHost(name); err != nil {
		return err
	}
	return s.saveVHost(name, nil)
}
