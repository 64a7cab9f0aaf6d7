"""Record the dependencies of a result: files, modules, environment variables."""
