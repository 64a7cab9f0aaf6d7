"""What may a user type? One file for each command: parse, call the session, print, exit."""
