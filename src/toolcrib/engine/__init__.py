"""The line: the one way from a call to its outcome. Decides nothing about permission, touches no operating system."""
