"""Import and examine targets in the project's interpreter, in a process of its own."""
