"""Everything that depends on MkDocs or Material."""
