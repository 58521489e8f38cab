"""The store: tape, jobs, approvals, grants, blobs and artifacts in one directory outside the workspace."""
