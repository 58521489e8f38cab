"""What may happen without a person's yes: rules, modes and grants to one ruling. Never waits, reads no clock."""
