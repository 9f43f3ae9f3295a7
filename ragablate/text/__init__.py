"""Rules about plain text that assembler, reader and judges must agree on."""
