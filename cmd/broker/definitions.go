package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"leveret/auth"
	"leveret/config"
	"leveret/definitions"
	"leveret/server"
	"leveret/store"

	"github.com/spf13/cobra"
)

// definitionsFiles are the files that a path means: itself, or for a folder all files in it, by name. Hidden ones do not count: that is how
// Kubernetes keeps what it mounts.
func definitionsFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		// ConfigMaps are folders of links.
		file := filepath.Join(path, e.Name())
		info, err := os.Stat(file) // of what a link leads to
		if err != nil {
			return nil, err
		}
		if !info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, file)
		}
	}
	return files, nil
}

// definitionsSource is one file of definitions that was read.
type definitionsSource struct {
	name string
	text []byte
}

// readDefinitions reads what the settings name.
func readDefinitions(c config.Config) ([]definitionsSource, error) {
	if c.DefinitionsFrom == config.HTTPSBackend {
		text, err := fetchDefinitions(c)
		return []definitionsSource{{withoutPassword(c.DefinitionsURL), text}}, err
	}
	files, err := definitionsFiles(c.Definitions)
	if err != nil {
		return nil, err
	}
	var sources []definitionsSource
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sources = append(sources, definitionsSource{file, text})
	}
	return sources, nil
}

// sourceNames are what the log calls them by.
// URLs among them are without passwords.
func sourceNames(sources []definitionsSource) (names []string) {
	for _, s := range sources {
		names = append(names, s.name)
	}
	return names
}

// Where the store keeps the hash of the definitions that were imported last.
const (
	importedBucket = "imported definitions"
	importedKey    = "hash"
)

// importDefinitions imports what the settings name, before anybody can connect. An error of it ends the start: a broker that lacks half of what
// it should have is worse than none.
func (n *node) importDefinitions() error {
	if !n.config.ImportsDefinitions() {
		return nil
	}
	sources, err := readDefinitions(n.config)
	if err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	sum := sha256.New()
	for _, s := range sources {
		// The length goes in too, or two files could be cut elsewhere and have the same hash.
		fmt.Fprintf(sum, "%d\n", len(s.text))
		sum.Write(s.text)
	}
	hash := hex.EncodeToString(sum.Sum(nil))
	if n.config.SkipUnchanged && n.importedHash() == hash {
		n.log.Info("definitions are those of the last start and are not imported again", "from", strings.Join(sourceNames(sources), " "))
		return nil
	}
	b := definitions.Broker{Server: n.server, Users: n.users, Log: n.log}
	for _, s := range sources {
		// Before it is done, so that the log tells which file a failure is about.
		n.log.Info("importing definitions", "from", s.name)
		if err := b.Import(s.text, ""); err != nil {
			return fmt.Errorf("definitions %s: %w", s.name, err)
		}
	}
	// Last of all: an import that was interrupted is done again at the next start.
	return n.store.Commit(store.Change{Bucket: importedBucket, Key: importedKey, Value: []byte(hash)})
}

// importedHash is the hash of the last import, empty if there was none, or if it can't be read: then it is done again.
func (n *node) importedHash() (hash string) {
	err := n.store.Load(importedBucket, func(_ string, value []byte) error {
		hash = string(value)
		return nil
	})
	if err != nil {
		n.log.Warn("it is not known which definitions were imported last", "error", err)
	}
	return hash
}

// newDefinitionsCheckCommand makes `broker definitions check`. It needs no broker: the file goes into one that is in memory and has no listener.
func newDefinitionsCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Tell whether definitions files could be imported",
		Long: "Tell whether definitions files could be imported, one after the other, into a broker that has nothing but the virtual host /.\n\n" +
			"Nothing is changed, and no broker has to run. What an import would skip is told too.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return checkDefinitions(cmd.OutOrStdout(), args) },
	}
}

// checkDefinitions imports files into a broker that is thrown away, and tells what it would make of each.
func checkDefinitions(out io.Writer, files []string) (err error) {
	// Warnings of the import, such as of what it skips, are part of the answer.
	log := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	users, err := auth.New(auth.Options{})
	if err != nil {
		return err
	}
	s, err := server.New(server.DefaultOptions(), server.Dependencies{Store: store.NewMemory(), Users: users, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(context.Background())) }() // it has no clients to wait for
	b := definitions.Broker{Server: s, Users: users, Log: log}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := b.Import(text, ""); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		// Once more, for the counts; an import has shown that it can be parsed.
		f, err := definitions.Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		fmt.Fprintf(out, "%s: %d users, %d virtual hosts, %d policies, %d parameters, %d queues, %d exchanges, %d bindings\n", file,
			len(f.Users), len(f.VHosts), len(f.Policies), len(f.Parameters), len(f.Queues), len(f.Exchanges), len(f.Bindings))
	}
	return nil
}
