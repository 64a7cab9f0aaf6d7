"""The command line. One file for each command: parse, call the session, print, exit."""
