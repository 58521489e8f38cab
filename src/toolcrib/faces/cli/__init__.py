"""The command line: commands to calls, outcomes to text, JSON and exit codes."""
