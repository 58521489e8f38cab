"""Checkpoints: pre-images of what a call may change, and putting them back."""
