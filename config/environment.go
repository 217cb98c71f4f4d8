package config

import "strings"

// containerVariables are those of RabbitMQ's container image, so that swapping the image in a compose file just works.
var containerVariables = map[string]string{
	"RABBITMQ_DEFAULT_USER":  "default_user",
	"RABBITMQ_DEFAULT_PASS":  secretKey,
	"RABBITMQ_DEFAULT_VHOST": "default_vhost",
	"RABBITMQ_NODENAME":      "node_name",
	"RABBITMQ_NODE_PORT":     "listeners.tcp.default",
}

// prefix is what our own variables start with.
const prefix = "LEVERET_"

// fromEnvironment turns variables into assignments, those of RabbitMQ's image and ours, which override them. Each setting goes by its key and
// by its flag, in capitals and with underscores: LEVERET_MAX_MESSAGE_SIZE, LEVERET_AMQP_ADDR.
//
// A variable of ours that is no setting is not an error but a warning: Kubernetes sets LEVERET_SERVICE_HOST and the like in every
// container that runs beside a service of that name.
func fromEnvironment(environ []string) (rabbitMQs, ours []assignment, warnings []string) {
	for _, variable := range environ {
		// A value may hold further ones: passwords do.
		name, value, _ := strings.Cut(variable, "=")
		if key := containerVariables[name]; key != "" {
			rabbitMQs = append(rabbitMQs, assignment{key: key, value: value, origin: name})
		}
		bare, found := strings.CutPrefix(name, prefix)
		if !found || otherVariables[bare] {
			continue
		}
		if keys := keysOfVariable(bare, value); keys != nil {
			for _, a := range keys {
				a.origin = name
				ours = append(ours, a)
			}
		} else {
			warnings = append(warnings, name+": no setting goes by this name")
		}
	}
	return rabbitMQs, ours, warnings
}

// otherVariables are read by other commands than serve, or name the file.
var otherVariables = map[string]bool{"CONFIG": true, "URL": true, "USER": true, "PASSWORD": true}

// keysOfVariable finds the setting that a variable means, nil if there is none. A family that has a flag takes a list with commas under
// the flag's name.
func keysOfVariable(bare, value string) []assignment {
	for _, s := range settings {
		// The flag's name first: it is the shorter one, and lists go by it.
		if s.flag != "" && bare == variable(s.flag) {
			if s.family() {
				return numbered(s.key, strings.Split(value, ","))
			}
			return []assignment{{key: s.key, value: value}}
		}
		if bare == variable(s.key) && !s.family() {
			return []assignment{{key: s.key, value: value}}
		}
		if member, found := strings.CutPrefix(bare, variable(s.key)); found && s.family() && member != "" {
			return []assignment{{key: s.key + strings.ToLower(member), value: value}}
		}
	}
	return nil
}

// variable is the variable's name, without its prefix, of a key or a flag.
func variable(name string) string {
	return strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))
}
